//! Gradients of several batches, or of several parts of a batch, in one step.

use super::{HEAD, check_refused, to_ipu};
use crate::ports::{check_said, port_script, ported, ported_script};
use codemod::PortedFile;

#[test]
fn a_test_of_the_program_s_own_that_always_holds_stays() {
    let own = "if True:\n    print(1)\n";
    let step = "for i, (x, y) in enumerate(loader):\n    loss = F.mse_loss(model(x), y) / 4\n    loss.backward()\n    \
                if (i + 1) % 4 == 0:\n        optimizer.step()\n        schedule.step()\n        optimizer.zero_grad()\n";
    let loader = "loader = torch.utils.data.DataLoader(events, batch_size=8)\nschedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)\n";
    let (ported, said) = to_ipu(&format!("{HEAD}{loader}{own}{step}"));
    assert!(ported.contains(own) && !ported.contains("is not False"), "{said}{ported}");
    assert!(ported.contains("    schedule.step()\n    training_step.setOptimizer(optimizer)\n"), "{ported}");
}

#[test]
fn the_schedule_of_an_update_that_is_gone_goes_with_it() {
    let update = |margin: &str, schedule: &str| {
        ["optimizer.step()", schedule, "optimizer.zero_grad()"].map(|line| format!("{margin}{line}\n")).concat()
    };
    let program = |in_loop: &str, behind: &str| {
        let loader = "loader = torch.utils.data.DataLoader(events, batch_size=8)\n\
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)\nfor epoch in range(3):\n";
        let loop_of_batches = "    for i, (x, y) in enumerate(loader):\n        loss = F.mse_loss(model(x), y) / 4\n        \
            loss.backward()\n        if (i + 1) % 4 == 0:\n";
        format!("{HEAD}{loader}{loop_of_batches}{in_loop}{behind}    print(epoch)\n")
    };
    let rest = format!("    if len(loader) % 4:\n{}", update("        ", "schedule.step()"));
    let (ported, said) = to_ipu(&program(&update("            ", "schedule.step()"), &rest));
    assert!(ported.matches("schedule.step()").count() == 1 && !ported.contains("% 4"), "{said}{ported}");
    assert!(said.contains("this update is gone"), "{said}");
    // One that only steps once an epoch is not the update's.
    let (ported, said) = to_ipu(&program(&update("            ", "print(i)"), &update("    ", "schedule.step()")));
    assert!(ported.contains("\n    schedule.step()\n    training_step.setOptimizer(optimizer)\n"), "{said}{ported}");
}

/// A program that accumulates the gradients of some batches: the parameters and the beginning of the function that
/// trains, the number as it is written there, and its caller's code before it and arguments.
fn accumulates(more: &str, head: &str, number: &str, before: &str, given: &str) -> String {
    format!(
        "import json\nimport torch\nfrom torch.utils.data import DataLoader\n\n\n\
         def train(net, loader, opt{more}):\n{head}    for i, (x, y) in enumerate(loader):\n        \
         loss = torch.nn.functional.cross_entropy(net(x), y) / {number}\n        loss.backward()\n        \
         if (i + 1) % {number} == 0:\n            opt.step()\n            opt.zero_grad()\n\n\n\
         def main():\n{before}    net = torch.nn.Linear(4, 2)\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n    \
         loader = DataLoader(data, batch_size=8)\n    train(net, loader, opt{given})\n\n\nmain()\n"
    )
}

/// The options receive the number of batches wherever a name, a setting or a literal has it by then.
#[test]
fn the_number_of_batches_is_read_where_the_options_are_made() {
    let read = "    with open('a.json') as file:\n        cfg = json.load(file)\n";
    let check = |text: &str, number: &str| {
        for target in ["ipu", "popdist"] {
            let (ported, said) = ported_script(target, text);
            let told = format!(".Training.gradientAccumulation({number})");
            assert!(ported.contains(&told) && !ported.contains("% "), "{target}: {said}{ported}");
        }
    };
    let local = "    n = cfg['accumulate']\n";
    check(&accumulates(", cfg", local, "n", read, ", cfg"), "cfg['accumulate']");
    check(&accumulates(", cfg", "", "cfg['accumulate']", read, ", cfg"), "cfg['accumulate']");
    check(&accumulates(", n", "", "n", read, ", cfg['train']['n']"), "cfg['train']['n']");
    let gets = "    n = int(cfg.get('n', 1))\n";
    check(&accumulates(", cfg", gets, "n", read, ", cfg"), "int(cfg.get('n', 1))");
    check(&accumulates(", args", "    n = args.n\n", "n", "    args = parse()\n", ", args"), "args.n");
    check(&accumulates("", "    n = 4\n", "n", "", ""), "4");
    let table = accumulates("", "", "CFG['n']", "", "").replace("\n\n\ndef train", "\n\nCFG = {'n': 4}\n\n\ndef train");
    check(&table, "CFG['n']");
    let main = accumulates("", "", "n", "", "");
    let main = format!(
        "{}if __name__ == '__main__':\n    n = parse().n\n    net = torch.nn.Linear(4, 2)\n    \
         opt = torch.optim.SGD(net.parameters(), lr=0.1)\n    loader = DataLoader(data, batch_size=8)\n    train(net, loader, opt)\n",
        &main[..main.find("def main").unwrap()]
    );
    check(&main, "n");
}

/// A value that is reassigned after it was read is used as of the loader's creation.
#[test]
fn a_number_of_batches_that_is_set_anew() {
    let again = accumulates(", args", "", "args.n", "    args = parse()\n    args.n = max(1, args.n)\n", ", args");
    let (ported, said) = to_ipu(&again);
    let (set, told) = (ported.find("args.n = max"), ported.find("gradientAccumulation(args.n)"));
    assert!(set.is_some() && set < told, "{said}{ported}");
    // The constant is not the step's argument.
    let other = accumulates(", n", "", "n", "", ", 8").replace("\n\n\ndef train", "\n\nn = 4\n\n\ndef train");
    assert!(to_ipu(&other).0.contains("gradientAccumulation(8)"), "{}", to_ipu(&other).0);
}

/// Following a refusal's advice literally leads to a port.
#[test]
fn the_advice_about_the_number_of_batches_can_be_followed() {
    let above = "    n = cfg['n']\n";
    let known = accumulates(", cfg", above, "n", "    cfg = {}\n    train(net, loader, opt, cfg)\n", ", cfg");
    assert!(to_ipu(&known).0.contains("gradientAccumulation(cfg['n'])"), "{}", to_ipu(&known).0);
    let twice = known.replace(above, "").replace("        loss = ", "        n = pick()\n        loss = ");
    check_refused(&twice, "Assign it once at the top of the file, below the imports (`ACCUMULATE = 4`");
    let advised = twice
        .replace("        n = pick()\n", "")
        .replace("\n\n\ndef train", "\n\nACCUMULATE = json.load(open('a.json'))['n']\n\n\ndef train")
        .replace(" n\n", " ACCUMULATE\n")
        .replace("% n ", "% ACCUMULATE ");
    let (ported, said) = to_ipu(&advised);
    assert!(ported.contains("gradientAccumulation(ACCUMULATE)"), "{said}{ported}");
}

const ACCUMULATES: &str = "import torch
from torch.nn import functional as F

from data import make_loader


def train(args, model, loader, optimizer):
    for i, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y) / args.parts
        loss.backward()
        if (i + 1) % args.parts == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(len(loader) // args.parts)
";

#[test]
fn batches_of_another_files_loader_are_joined() {
    for target in ["ipu", "popdist"] {
        let (after, said) = ported(target, &[("a.py", ACCUMULATES)]);
        let begins = "    if not ipu_training_steps:\n        opts.Training.gradientAccumulation(args.parts)\n    \
                      loader = JoinedBatches(loader, args.parts)\n    for i, (x, y) in enumerate(loader):\n";
        assert!(after[0].contains(begins), "{said}{}", after[0]);
        assert!(after[0].contains("    print(len(loader))\n"), "{}", after[0]);
    }
    // A literal number is set with the other options.
    let literal = ACCUMULATES.replace("args.parts", "4");
    let (after, said) = ported("ipu", &[("a.py", &literal)]);
    assert!(after[0].contains("    loader = JoinedBatches(loader, 4)\n"), "{said}{}", after[0]);
    assert_eq!(after[0].matches("gradientAccumulation(4)").count(), 1, "{}", after[0]);
    // The loader is made in the function: once for all epochs.
    let made = ACCUMULATES.replace(
        "def train(args, model, loader, optimizer):\n",
        "def train(args, model, optimizer):\n    loader = make_loader()\n",
    );
    let (after, said) = ported("ipu", &[("a.py", &made)]);
    assert!(after[0].contains("    loader = make_loader()\n    if not ipu_training_steps:\n"), "{said}{}", after[0]);
    let late = ACCUMULATES.replace("args.parts", "parts").replace("    for i", "    parts = args.parts\n    for i");
    let (after, said) = ported("ipu", &[("a.py", &late)]);
    assert!(after[0].contains("    loader = JoinedBatches(loader, parts)\n    for i"), "{said}{}", after[0]);
    // A number that is only known in the loop, and batches that do not come from a loader.
    let inside = ACCUMULATES
        .replace("args.parts", "parts")
        .replace("        loss = ", "        parts = pick()\n        loss = ");
    let other = ACCUMULATES.replace("enumerate(loader)", "enumerate(loader())");
    for program in [inside, other.replace("model, loader,", "model, batches,").replace("(loader", "(batches")] {
        check_said("ipu", &program, "Not ported: on the IPU one call takes all batches that a step accumulates");
    }
}

fn port_parts(target: &str, numbers: &str, batch: &str, parts: &str) -> (String, PortedFile) {
    let text = format!(
        "import argparse\nimport torch\nfrom torch.utils.data import DataLoader\n\n{numbers}\nnet = torch.nn.Linear(8, 2)\n\
         criterion = torch.nn.CrossEntropyLoss()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
         batches = DataLoader(events, batch_size={batch})\n\nfor x, y in batches:\n    opt.zero_grad()\n    \
         for part, wanted in zip(x.chunk({parts}), y.chunk({parts})):\n        \
         loss = criterion(net(part), wanted) / {parts}\n        loss.backward()\n    opt.step()\n"
    );
    let mut ported = port_script(target, &text);
    assert!(ported.certificate.idempotent, "{target}: {:?}", ported.certificate);
    (text, ported.files.remove(0))
}

/// The loader's number of samples in the port, and whether the condition for it is reported.
fn check_parts(numbers: &str, (batch, parts): (&str, &str), after: &str, says: bool) {
    for target in ["ipu", "popdist"] {
        let (_, file) = port_parts(target, numbers, batch, parts);
        let wanted = format!("events, batch_size={after}");
        assert!(file.text.contains(&wanted), "{target}: no {wanted} in\n{}", file.text);
        let rule = format!("`assert {batch} % {parts} == 0`");
        let said = file.diagnostics.iter().any(|d| d.message.contains(&rule));
        assert_eq!(said, says, "{target}: {:?}", file.diagnostics);
    }
}

fn check_parts_refused(numbers: &str, batch: &str, parts: &str) {
    for target in ["ipu", "popdist", "rdu"] {
        let (text, file) = port_parts(target, numbers, batch, parts);
        let step = |text: &str| text.split_once("for x, y").map(|(_, step)| step.to_owned());
        assert_eq!(step(&file.text), step(&text), "{target}");
        assert!(
            file.diagnostics.iter().any(|d| d.message.to_lowercase().contains("not ported")),
            "{target}: {:?}",
            file.diagnostics
        );
    }
}

const ASKED: &str = "parser = argparse.ArgumentParser()\nparser.add_argument(\"--batch\", type=int)\n\
    parser.add_argument(\"--parts\", type=int)\nargs = parser.parse_args()";

#[test]
fn parts_of_a_batch_that_divide_it() {
    check_parts("", ("12", "4"), "3", false);
    check_parts("BATCH = 12\nPARTS = 4", ("BATCH", "PARTS"), "BATCH // PARTS", false);
    check_parts("BATCH = 12", ("BATCH", "4"), "BATCH // 4", false);
}

#[test]
fn parts_of_a_batch_that_do_not_divide_it() {
    check_parts_refused("", "10", "4");
    check_parts_refused("BATCH = 10\nPARTS = 4", "BATCH", "PARTS");
    check_parts_refused("PARTS = 4", "10", "PARTS");
}

#[test]
fn parts_of_a_batch_whose_number_is_not_known() {
    check_parts(ASKED, ("args.batch", "args.parts"), "args.batch // args.parts", true);
    check_parts(ASKED, ("args.batch", "4"), "args.batch // 4", true);
    check_parts("BATCH = 12\nif tiny:\n    BATCH = 2", ("BATCH", "4"), "BATCH // 4", true);
}

/// Every step of the IPU takes as many batches, so the update for the last few of an epoch is gone.
#[test]
fn the_update_for_the_rest_of_an_epoch_is_reported() {
    let rest = "Every step on the IPU takes 4 batches";
    let plain = accumulates("", "", "4", "", "");
    let or = plain.replace("% 4 == 0:", "% 4 == 0 or i + 1 == len(loader):");
    let behind = plain.replace(
        "            opt.zero_grad()\n",
        "            opt.zero_grad()\n    if len(loader) % 4:\n        opt.step()\n        opt.zero_grad()\n",
    );
    let skips = plain.replace("        if (i + 1) % 4 == 0:\n            opt.step()\n            opt.zero_grad()\n",
        "        if (i + 1) % 4 and i + 1 != len(loader):\n            continue\n        opt.step()\n        opt.zero_grad()\n");
    // The loss gets a name first.
    let unnamed = or.replace("loss = torch", "(torch").replace(" / 4\n        loss.backward()", " / 4).backward()");
    for target in ["ipu", "popdist"] {
        assert!(!ported_script(target, &plain).1.contains(rest), "{target}");
        for (program, line) in [
            (&or, "or i + 1"),
            (&unnamed, "or i + 1"),
            (&behind, "        opt.step()\n        opt.zero_grad()\n\n"),
            (&skips, "and i + 1"),
        ] {
            let file = port_script(target, program).files.remove(0);
            let said: Vec<_> = file.diagnostics.iter().filter(|d| d.message.starts_with(rest)).collect();
            let at = program[..program.find(line).unwrap()].matches('\n').count() + 1;
            assert_eq!(
                said.iter().map(|d| d.original.line).collect::<Vec<_>>(),
                [at],
                "{target}: {:#?}{}",
                file.diagnostics,
                file.text
            );
        }
    }
}

#[test]
fn a_limit_of_batches_is_one_of_steps() {
    let program = |limit: &str| {
        format!(
            "{HEAD}loader = torch.utils.data.DataLoader(events, batch_size=8)\nfor i, (x, y) in enumerate(loader):\n{limit}    \
             loss = F.mse_loss(model(x), y) / 4\n    loss.backward()\n    if (i + 1) % 4 == 0:\n        optimizer.step()\n        \
             optimizer.zero_grad()\n"
        )
    };
    let check = |limit: &str, is_told: bool| {
        let (_, said) = to_ipu(&program(limit));
        assert_eq!(said.contains("so it ends after 4 times as many of them"), is_told, "{limit}{said}");
    };
    check("    if i >= 8:\n        break\n", true);
    check("    seen += 1\n    if seen > limit:\n        break\n", true);
    check("    if stop.is_set():\n        break\n", false);
    check("    if x.isnan().any():\n        bad += 1\n    if bad > 3:\n        break\n", false);
    check("    total += x.sum()\n    if total > 9:\n        break\n", false);
    check("    if i >= 8:\n        print(i)\n", false);
}
