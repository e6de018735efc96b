//! Ports of programs for one device to several processes (`processes=many`).

use crate::ports::{in_place, port_files};
use codemod::{Options, Ported, Severity, Style};

/// A program that trains on one device, with an evaluation.
const PROGRAM: &str = "import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device(\"cuda:0\")
loader = DataLoader(events, batch_size=8, shuffle=True, drop_last=True)
held_out = DataLoader(others, batch_size=8)
net = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        hits = sum((net(x.to(device)).argmax(1) == y.to(device)).sum() for x, y in held_out)
    torch.save(net.state_dict(), \"net.pt\")
";

fn many(target: &str, more: &[(&str, &str)]) -> Options {
    let options = more.iter().chain(&[("processes", "many")]);
    Options { options: options.map(|(name, value)| ((*name).into(), (*value).into())).collect(), ..in_place(target) }
}

/// All that is said, with severities.
fn said(ported: &Ported) -> String {
    let all = ported.files.iter().flat_map(|file| &file.diagnostics);
    let lines = all.filter(|one| one.severity != Severity::Hint);
    lines.map(|one| format!("{}:{:?}: {}\n", one.original.line, one.severity, one.message)).collect()
}

/// The lines that a port has in addition, and what it says; a second port changes nothing.
fn ported(files: &[(&str, &str)], options: &Options) -> (String, String) {
    let ported = port_files(files, options);
    let c = &ported.certificate;
    assert!(c.parses && c.idempotent && c.untouched_bytes_equal && c.comments_kept, "{c:?}\n{}", said(&ported));
    let mut new = String::new();
    for (file, (_, before)) in ported.files.iter().zip(files) {
        let lines = file.text.lines().filter(|line| !before.lines().any(|old| old == *line));
        new.extend(lines.map(|line| format!("{line}\n")));
    }
    (new, said(&ported))
}

#[track_caller]
fn check(files: &[(&str, &str)], options: &Options, has: &[&str], says: &[&str]) {
    let (new, all) = ported(files, options);
    has.iter().for_each(|line| assert!(new.contains(line), "no `{line}`\n{new}\n{all}"));
    says.iter().for_each(|part| assert!(all.contains(part), "`{part}` is not said\n{new}\n{all}"));
}

/// Nothing is made ready for several processes.
#[track_caller]
fn check_left(program: &str, says: &str) {
    for target in ["hpu", "xpu"] {
        let (new, all) = ported(&[("a.py", program)], &many(target, &[]));
        for part in ["RANK", "replica_of", "ShareOfSamples", "is_first_process"] {
            assert!(!new.contains(part), "{target}: {part}\n{new}\n{all}");
        }
        assert!(all.contains(says), "{target}: {all}");
    }
}

const SHARE: &str =
    "loader = DataLoader(events, batch_size=8, sampler=ShareOfSamples(events, shuffle=True), drop_last=True)\n";
const STEP: &str = "        loss = nn.functional.cross_entropy(replica_of(net)(x.to(device)), y.to(device))\n";
const MEAN: &str = "        loss = mean_of_processes(loss)\n";
const SAVE: &str = "    if is_first_process():\n        torch.save(net.state_dict(), \"net.pt\")\n";

#[test]
fn a_program_for_one_device() {
    let joins = "        torch.distributed.init_process_group(\"hccl\")\n";
    check(
        &[("a.py", PROGRAM)],
        &many("hpu", &[]),
        &[joins, SHARE, STEP, "    if is_first_process():\n"],
        &["6:Warning: Each process takes batches of this size"],
    );
    let ported = port_files(&[("a.py", PROGRAM)], &many("xpu", &[]));
    let text = &ported.files[0].text;
    for part in ["init_process_group(\"xccl\")", "torch.xpu.set_device(", "torch.device(\"xpu\")", SHARE, STEP, SAVE] {
        assert!(text.contains(part), "no {part}\n{text}");
    }
    assert!(text.contains("held_out = DataLoader(others, batch_size=8)\n"), "{text}");
    assert!(text.contains("hits = sum((net(x.to(device))"), "{text}");
    let before = Options { sdk: Some("2.5".into()), ..many("xpu", &[]) };
    let bindings = "        import oneccl_bindings_for_pytorch  # noqa: F401\n";
    check(&[("a.py", PROGRAM)], &before, &["init_process_group(\"ccl\")", bindings, SHARE], &[]);
}

#[test]
fn without_the_option_it_stays_a_program_for_one() {
    for target in ["hpu", "xpu"] {
        let text = port_files(&[("a.py", PROGRAM)], &in_place(target)).files.remove(0).text;
        assert!(!text.contains("RANK") && text.contains("cross_entropy(net(x"), "{text}");
    }
}

#[test]
fn a_batch_that_the_processes_share() {
    let (new, said) = ported(&[("a.py", PROGRAM)], &many("xpu", &[("batch_size", "global")]));
    assert!(new.contains("batch_size=8 // int(os.environ.get(\"WORLD_SIZE\", 1))"), "{new}");
    assert!(!said.contains("Each process takes batches"), "{said}");
}

#[test]
fn a_project_of_several_files() {
    let data = "from torch.utils.data import DataLoader\n\n\ndef make(sets):\n    return DataLoader(Events(\"a.h5\"), 8, shuffle=True), \
        DataLoader(sets, 8)\n\n\ndef make_one():\n    return DataLoader(Events(\"a.h5\"), 8, shuffle=True)\n";
    let engine = "class Trainer:\n    def __init__(self, net, optimizer):\n        self.net, self.optimizer = net, optimizer\n\n    \
        def fit(self, loader):\n        for x in loader:\n            self.optimizer.zero_grad()\n            loss = self.net(x.cuda()).mean()\n            \
        loss.backward()\n            self.optimizer.step()\n";
    let main = "import torch\nfrom data import make_one\nfrom engine import Trainer\n\nnet = torch.nn.Linear(4, 2).cuda()\n\
        trainer = Trainer(net, torch.optim.Adam(net.parameters()))\ntrainer.fit(make_one())\ntorch.save(trainer.net.state_dict(), \"net.pt\")\n";
    let files = [("data.py", data), ("engine.py", engine), ("main.py", main)];
    let loader = "    return DataLoader(shared_samples, 8, sampler=ShareOfSamples(shared_samples, shuffle=True))\n";
    let step = "            loss = replica_of(self.net)(x.to(\"hpu\")).mean()\n";
    let save = "if is_first_process():\n";
    check(
        &files,
        &many("hpu", &[]),
        &[loader, "    shared_samples = Events(\"a.h5\")\n", step, save, "import torch\n"],
        &[],
    );
}

#[test]
fn what_cannot_be_followed_is_reported_and_left() {
    let two = PROGRAM.replace("net(x.to(device))", "net(x.to(device)) + net(y)");
    check_left(&two, "Each process would train a model of its own here");
    let method = PROGRAM.replace("net(x.to(device))", "net.encode(x.to(device))");
    check_left(&method, "Each process would train a model of its own here");
    let closure = PROGRAM.replace(
        "        loss.backward()\n        optimizer.step()\n",
        "        loss.backward()\n        optimizer.step(closure)\n",
    );
    check_left(&closure, "Each process would train a model of its own here");
    let twice = PROGRAM.replace(
        "        optimizer.step()\n",
        "        optimizer.step()\n        other(net).backward()\n        second.step()\n",
    );
    check_left(&twice, "Each process would train a model of its own here");
}

#[test]
fn a_program_with_processes_of_its_own_is_left() {
    let wrapped = PROGRAM.replace("optimizer = ", "net = nn.parallel.DistributedDataParallel(net)\noptimizer = ");
    check_left(&wrapped, "1:Info: This program already trains in several processes");
    let joined = PROGRAM.replace("import torch\n", "import torch\nimport torch.distributed as dist\n");
    check_left(&joined, "1:Info: This program already trains in several processes");
    let prepared = PROGRAM.replace("import torch\n", "import torch\nfrom accelerate import Accelerator\n");
    check_left(&prepared, "1:Info: This program already trains in several processes");
}

/// `DataParallel` is one process: its wrapper goes, and what is read through it.
#[test]
fn a_program_with_several_cards_in_one_process() {
    let tested = "if torch.cuda.device_count() > 1:\n    net = nn.DataParallel(net)\n";
    let wrapped = PROGRAM
        .replace("optimizer = ", &format!("{tested}optimizer = "))
        .replace("SGD(net.", "SGD(net.module.")
        .replace("save(net.state_dict()", "save(net.module.state_dict()");
    for target in ["hpu", "xpu"] {
        let ported = port_files(&[("a.py", &wrapped)], &many(target, &[]));
        let text = &ported.files[0].text;
        for part in [STEP, SAVE, "\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"] {
            assert!(text.contains(part), "no {part}\n{text}");
        }
        assert!(!text.contains("nn.DataParallel"), "{text}");
        let said = said(&ported);
        assert!(said.contains("11:Info: `DataParallel` divided each batch"), "{said}");
        assert!(!said.contains("already trains in several"), "{said}");
        // Without the option it is reported.
        let alone = port_files(&[("a.py", &wrapped)], &in_place(target));
        assert!(alone.files[0].text.contains("nn.DataParallel(net)"), "{}", alone.files[0].text);
    }
    let loads = wrapped.replace("optimizer = ", "net.load_state_dict(torch.load(\"start.pt\"))\noptimizer = ");
    check(
        &[("a.py", &loads)],
        &many("xpu", &[]),
        &[STEP],
        &["don't begin with `module.`. If the original program saved"],
    );
}

#[test]
fn other_styles_say_that_it_is_for_ports_in_place() {
    let options = Options { style: Style::Agnostic, ..many("hpu", &[]) };
    let (new, said) = ported(&[("a.py", PROGRAM)], &options);
    assert!(!new.contains("replica_of"), "{new}");
    assert!(said.contains("The option `processes=many` is for ports in place"), "{said}");
}

#[test]
fn data_that_the_processes_cannot_share_is_reported() {
    let check = |old: &str, new: &str, says: &str| {
        assert!(PROGRAM.contains(old), "{old}");
        check(&[("a.py", &PROGRAM.replace(old, new))], &many("xpu", &[]), &[STEP], &[says]);
    };
    let loader = "DataLoader(events, batch_size=8, shuffle=True, drop_last=True)";
    let reported = "6:Warning: Every process reads all of this loader's samples";
    check(loader, "DataLoader(events, batch_size=8, sampler=weighted)", reported);
    check(loader, "DataLoader(events, batch_sampler=buckets)", reported);
    check(loader, "DataLoader(events, **options)", reported);
    check(
        "loader = DataLoader(events, batch_size=8, shuffle=True, drop_last=True)\n",
        "loader = batches(events)\n",
        "",
    );
    let stream = "class Stream(torch.utils.data.IterableDataset):\n    pass\n\n\nevents = Stream()\nloader = DataLoader(events)\n";
    check(
        "loader = DataLoader(events, batch_size=8, shuffle=True, drop_last=True)\n",
        stream,
        "Every process reads all of this loader's samples",
    );
}

/// A process that leaves the loop, or changes its rate, by its own samples stops the others or trains another model.
#[test]
fn decisions_by_the_samples_of_one_process_are_reported() {
    let made = "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nplan = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)\n";
    let program = |decides: &str| {
        PROGRAM
            .replace("        optimizer.step()\n", decides)
            .replace("optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n", made)
    };
    let by = |value: &str| {
        program(&format!(
            "        optimizer.step()\n        if {value} < 0.1:\n            break\n    plan.step({value})\n"
        ))
    };
    let says = ["17:Warning: Each process decides this by its own samples", "19:Warning: Each process decides this"];
    check(&[("a.py", &by("y.max()"))], &many("hpu", &[]), &[STEP], &says);
    // All have the same loss.
    let (new, said) = ported(&[("a.py", &by("loss"))], &many("hpu", &[]));
    assert!(new.contains(MEAN) && !said.contains("Each process decides this"), "{new}\n{said}");
    // Before the backward pass it is that of the process.
    let early = PROGRAM.replace(
        "        loss.backward()\n",
        "        if torch.isnan(loss):\n            continue\n        loss.backward()\n",
    );
    let (new, said) = ported(&[("a.py", &early)], &many("hpu", &[]));
    assert!(
        !new.contains("mean_of_processes") && said.contains("14:Warning: Each process decides this"),
        "{new}\n{said}"
    );
}

/// The loss that is read after the backward pass is the mean over all processes; what else is printed is reported.
#[test]
fn the_loss_is_averaged_where_it_is_read() {
    let read = |line: &str| PROGRAM.replace("        optimizer.step()\n", &format!("        optimizer.step()\n{line}"));
    for target in ["hpu", "xpu"] {
        let averaged = |line: &str| {
            let (new, said) = ported(&[("a.py", &read(line))], &many(target, &[]));
            assert!(new.contains(MEAN), "{new}");
            said
        };
        for line in [
            "        print(\"loss\", loss.item())\n",
            "        if step % 10 == 0:\n            print(f\"loss {loss.item():.3f}\")\n",
            "        losses.append(loss.item())\n    print(sum(losses) / len(losses))\n",
            "        meter.update(loss.item(), x.size(0))\n    print(\"loss\", meter.avg)\n",
            "        writer.add_scalar(\"loss\", loss.item(), step)\n",
        ] {
            let said = averaged(line);
            assert!(!said.contains("Only the first process prints"), "{line}{said}");
        }
        let said = averaged("        hits += (y == 1).sum().item() + loss.item()\n        print(\"hits\", hits)\n");
        assert!(said.contains("Only the first process prints"), "{said}");
        let (new, _) = ported(&[("a.py", PROGRAM)], &many(target, &[]));
        assert!(!new.contains("mean_of_processes"), "nothing reads it: {new}");
        let (new, _) = ported(
            &[("a.py", &read("").replace("loss.backward()\n", "loss.backward()\n        total += loss.item()\n"))],
            &many(target, &[]),
        );
        assert!(new.contains(MEAN), "{new}");
    }
    let logs = read("        wandb.log({\"loss\": loss.item()})\n");
    let logs = logs.replace("import torch\n", "import torch\nimport wandb\n");
    let (_, said) = ported(&[("a.py", &logs)], &many("xpu", &[]));
    assert!(!said.contains("Only the first process prints"), "{said}");
    let logs = logs.replace("loss.item()})", "(net(x).argmax(1) == y).float().mean()})");
    let (_, said) = ported(&[("a.py", &logs)], &many("xpu", &[]));
    assert!(said.contains("Only the first process prints"), "{said}");
}

#[test]
fn what_several_processes_would_write_is_the_firsts_or_reported() {
    let options = many("xpu", &[]);
    let program = format!(
        "{PROGRAM}    print(f\"worst {{y.max()}}\")\n    with open(\"log.txt\", \"a\") as log:\n        log.write(\"x\")\n\
        writer = torch.utils.tensorboard.SummaryWriter(\"runs\")\nnet.load_state_dict(torch.load(\"net.pt\"))\n"
    );
    let opened = "    with open(\"log.txt\" if is_first_process() else os.devnull, \"a\") as log:\n";
    let says = [
        "19:Warning: Only the first process prints",
        "22:Warning: Every process writes this log",
        "23:Warning: Only the first process writes this file",
    ];
    check(&[("a.py", &program)], &options, &[opened], &says);
}
