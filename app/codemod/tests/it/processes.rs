//! Programs that several processes run: what one instance writes, what each reads, and wrappers and backends
//! of PyTorch.

use crate::ports::{SCRIPT, check_in_project, check_said, check_silent, in_place, port_files, ported};
use codemod::{Options, Style};

const TRAINS: &str = "import torch\n\n\ndef train(net, loader, criterion, optimizer):\n    for x, y in loader:\n        \
    optimizer.zero_grad()\n        loss = criterion(net(x), y)\n        loss.backward()\n        optimizer.step()\n";

const UTILS: &str = "import torch\n\n\ndef save_checkpoint(path, net):\n    torch.save(net.state_dict(), path)\n";

fn ported_texts(files: &[(&str, &str)]) -> Vec<String> {
    let options = Options { style: Style::Auto, ..in_place("popdist") };
    port_files(files, &options).files.into_iter().map(|file| file.text).collect()
}

#[test]
fn a_save_in_another_file_is_the_first_instances() {
    let files = ported_texts(&[("engine.py", TRAINS), ("utils.py", UTILS)]);
    let [engine, utils] = &files[..] else { panic!("{files:?}") };
    assert!(engine.contains("def distributed_options("), "{engine}");
    assert!(!engine.contains("first_instance"), "a function that nothing calls:\n{engine}");
    assert!(utils.contains("    save_on_first_instance(net.state_dict(), path)\n"), "{utils}");
    for definition in ["    import popdist\n", "def is_first_instance():", "def save_on_first_instance("] {
        assert_eq!(utils.matches(definition).count(), 1, "{utils}");
    }
}

#[test]
fn a_save_beside_the_step_is_the_first_instances() {
    let files = ported_texts(&[("train.py", &format!("{TRAINS}    torch.save(net.state_dict(), \"net.pt\")\n"))]);
    assert!(files[0].contains("    save_on_first_instance(net.state_dict(), \"net.pt\")\n"), "{}", files[0]);
    assert_eq!(files[0].matches("def is_first_instance():").count(), 1);
}

#[test]
fn a_save_in_a_project_that_does_not_train_stays() {
    assert_eq!(ported_texts(&[("utils.py", UTILS)]), [UTILS]);
}

#[test]
fn constructors_that_call_one_another_end_the_search_for_a_test() {
    let logger = |name: &str| {
        format!(
            "\n\nclass {name}(Base):\n    def __init__(self):\n        super().__init__()\n        self.log = open(\"log\", \"w\")\n"
        )
    };
    let files = ported_texts(&[("train.py", &format!("{TRAINS}{}{}", logger("First"), logger("Second")))]);
    assert!(files[0].contains("def distributed_options("), "{}", files[0]);
}

#[test]
fn a_mean_over_the_losses_of_several_gpus() {
    let averaged =
        SCRIPT.replace("    loss.backward()", "    if n_gpu > 1:\n        loss = loss.mean()\n    loss.backward()");
    for (target, call) in [("ipu", "training_step("), ("popdist", "training_step("), ("rdu", "rdu.update()")] {
        let (after, said) = ported(target, &[("a.py", &averaged)]);
        assert!(after[0].contains(call) && !after[0].contains("n_gpu"), "{target}: {said}{}", after[0]);
    }
    let halved = averaged.replace("loss.mean()", "loss / 2");
    check_said("ipu", &halved, "Not ported: a test or loop lies between the model call and the loss");
}

#[test]
fn names_of_communication_backends() {
    check_silent("ipu", "if backend == 'nccl':\n    wait()\n");
    check_said("ipu", "backend = 'nccl'\n", "1: `nccl` is NVIDIA's");
    let option = "parser.add_argument('--backend', default='hccl')\n";
    check_said("xpu", option, "1: `hccl` is the communication backend of Gaudi");
    check_silent("xpu", "backend = 'hccl' if use_hpu else 'gloo'\n");
}

#[test]
fn a_backend_that_the_port_has_written() {
    let start =
        "import torch\n\ntorch.distributed.init_process_group(backend=settings.dist_backend, init_method='env://')\n";
    let words = "rejects nccl: set hccl there";
    let files = |settings: &'static str| [("start.py", start), ("settings.py", settings)];
    check_in_project("hpu", &files("settings = Settings(dist_backend='nccl')\n"), words, false);
    check_in_project("hpu", &files("parser.add_argument('--dist-backend', '-b', default='nccl')\n"), words, false);
    check_in_project("hpu", &files("if settings.kind == 'nccl':\n    other = 'nccl'\n"), words, true);
}

#[test]
fn gloo_where_another_file_wraps_the_model() {
    let group = "import torch.distributed as dist\n\n\ndef start():\n    dist.init_process_group(\"gloo\")\n";
    let train = "import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\nnet = DDP(torch.nn.Linear(2, 1).cuda())\n";
    for (target, backend) in [("hpu", "hccl"), ("xpu", "xccl")] {
        let (after, _) = ported(target, &[("group.py", group), ("train.py", train)]);
        assert!(after[0].contains(&format!("init_process_group(\"{backend}\")")), "{}", after[0]);
        let (alone, _) = ported(target, &[("group.py", group)]);
        assert!(alone[0].contains("init_process_group(\"gloo\")"), "between CPUs it serves: {}", alone[0]);
    }
}

#[test]
fn batches_of_a_distributed_loader_are_shared_out() {
    let program = SCRIPT.replace("for x, y in loader", "for x, y in torch.utils.data.DataLoader(events, batch_size=4)");
    let (after, said) = ported("popdist", &[("a.py", &program)]);
    assert!(after[0].contains("poptorch.DataLoader") && !said.contains("every instance reads all of these"), "{said}");
}

/// A wrapper of the model is removed in the program, and code that accesses its inside may be in another file.
#[test]
fn the_wrapped_model_in_another_file() {
    let train = format!(
        "from torch.nn.parallel import DistributedDataParallel as DDP\nfrom saves import save\n{}",
        SCRIPT.replace("optimizer =", "model = DDP(model)\noptimizer =")
    ) + "save(model)\n";
    let saves = "import torch\n\n\ndef save(model):\n    torch.save(model.module.state_dict(), \"m.pt\")\n";
    let (after, said) = ported("popdist", &[("train.py", &train), ("saves.py", saves)]);
    assert!(
        after[0].contains("training_step(") && !after[0].contains("DDP(") && after[1].contains("(model.state_dict()"),
        "{said}{after:?}"
    );
    // Nothing was ported, so the wrapper still exists.
    let refused = train.replace("loss.backward()", "loss.backward(create_graph=True)");
    let after = ported("popdist", &[("train.py", &refused), ("saves.py", saves)]).0;
    assert!(after[1].contains("model.module.state_dict()"), "{after:?}");
}

#[test]
fn a_module_of_the_models_own_is_no_wrapper() {
    let text = "import poptorch\nimport torch\n\n\nclass Skip(torch.nn.Module):\n    def __init__(self, module):\n        \
                super().__init__()\n        self.module = module\n\n    def forward(self, x):\n        return x + self.module(x)\n";
    let text =
        format!("{text}\n\nnet = Skip(torch.nn.Linear(2, 2))\ntorch.save(net.module.state_dict(), \"net.pt\")\n");
    assert_eq!(ported("ipu", &[("a.py", &text)]).0, [text]);
}

#[test]
fn a_loop_that_one_instance_ends() {
    let ends = |test: &str| {
        let end = format!("    optimizer.step()\n    steps += 1\n    seen += len(x)\n    if {test}:\n        break\n");
        SCRIPT.replace("    optimizer.step()\n", &end).replace("for x", "steps = seen = 0\nfor x")
    };
    let words = "A training loss is that of the instance's own samples";
    let check = |test: &str, is_said: bool| check_in_project("popdist", &[("a.py", &ends(test))], words, is_said);
    check("loss < 0.1", true);
    check("steps > args.steps", false);
    check("seen > 1000 and steps > 1", false);
}

#[test]
fn instances_read_and_write_other_files_than_text() {
    let words = "Every instance writes or removes this file";
    let program = |line: &str| format!("import h5py\nimport sqlite3\nimport numpy as np\n{SCRIPT}{line}\n");
    for line in [
        "with h5py.File(\"a.h5\", \"w\") as file:\n    file[\"a\"] = losses",
        "rows = np.memmap(\"rows\", dtype=\"float32\", mode=\"w+\", shape=(3,))",
        "table = sqlite3.connect(\"a.db\")\ntable.commit()",
    ] {
        check_said("popdist", &program(line), words);
        let said = ported("popdist", &[("a.py", &program(line))]).1;
        assert!(!said.contains("Shard the data"), "{said}");
    }
    for line in ["rows = np.memmap(\"rows\", dtype=\"float32\", mode=\"r\")", "table = sqlite3.connect(\"a.db\")"] {
        check_in_project("popdist", &[("a.py", &program(line))], words, false);
    }
    check_said("popdist", &program("events = h5py.File(\"a.h5\", \"r\")"), "Shard the data");
    // A file that the program loads makes its folder, whichever instance is first.
    let saving = "import os\n\n\ndef run():\n    if not os.path.exists(\"log\"):\n        os.makedirs(\"log\")\n";
    let main = SCRIPT.replace("import torch\n", "import torch\nimport saving\n");
    let (after, _) = ported("popdist", &[("main.py", &format!("{main}saving.run()\n")), ("saving.py", saving)]);
    assert!(after.iter().any(|text| text.contains("os.makedirs(\"log\", exist_ok=True)")), "{after:?}");
}

#[test]
fn sums_are_divided_by_the_samples_that_were_seen() {
    let words = "Count the samples";
    let program = |end: &str| {
        let loader = "loader = torch.utils.data.DataLoader(events, batch_size=4)\ntotal = 0\nfor x, y in loader:";
        format!("{}    total += loss.item() * len(y)\n{end}\n", SCRIPT.replace("for x, y in loader:", loader))
    };
    for target in ["ipu", "popdist"] {
        check_said(target, &program("print(total / len(events))"), words);
        for end in ["print(total / len(loader))", "print(total / len(others))", "print(hits / len(events))"] {
            check_in_project(target, &[("a.py", &program(end))], words, false);
        }
    }
}

/// A script that trains on a loader of its own.
fn around_model(before: &str, after: &str) -> String {
    let loader = "loader = torch.utils.data.DataLoader(events, batch_size=4)\n";
    SCRIPT.replace("\nmodel =", &format!("\n{loader}{before}model =")) + after
}

#[test]
fn files_of_every_instance() {
    let words = "Every instance writes or removes this file";
    for line in ["os.remove(old)", "os.unlink(old)", "os.rmdir(old)", "Path(old).unlink()", "shutil.rmtree(old)"] {
        let text =
            format!("import os\nimport shutil\nfrom pathlib import Path\n{}", around_model(&format!("{line}\n"), ""));
        check_said("popdist", &text, words);
        let by_rank = text.replace(line, &format!("if rank == 0:\n    {line}"));
        check_in_project("popdist", &[("a.py", &by_rank)], words, false);
    }
    // At the top level nothing puts what follows a save on the first instance.
    let text =
        format!("import os\n{}", around_model("", "torch.save(model.state_dict(), \"m.pt\")\nos.remove(\"old.pt\")\n"));
    check_said("popdist", &text, words);
    let own = "folder = tempfile.mkdtemp()\nshutil.rmtree(folder)\n";
    check_silent("popdist", &format!("import shutil\nimport tempfile\n{}", around_model(own, "")));
}

#[test]
fn logs_of_every_instance() {
    for line in ["mlflow.start_run()", "clearml.Task.init()"] {
        let module = line.split('.').next().unwrap_or_default();
        check_said(
            "popdist",
            &format!("import {module}\n{}", around_model(&format!("{line}\n"), "")),
            "Write logs on the first instance",
        );
    }
    let (after, said) =
        ported("popdist", &[("a.py", &format!("import wandb\n{}", around_model("wandb.init(project=\"a\")\n", "")))]);
    assert!(after[0].contains("mode=None if is_first_instance() else \"disabled\")"), "{}", after[0]);
    assert_eq!(said, "");
    check_silent(
        "popdist",
        &format!("import wandb\n{}", around_model("if rank == 0:\n    wandb.init(mode=args.mode)\n", "")),
    );
}

#[test]
fn readers_of_other_packages() {
    let words = "every instance reads all of these batches";
    let made = "from torch.utils.data import Dataset\nfrom other import make_loader\n";
    let text = format!("{made}{}", SCRIPT.replace("\nmodel =", "\nloader = make_loader(Dataset())\nmodel ="));
    check_in_project("popdist", &[("a.py", &text)], words, true);
    check_in_project("popdist", &[("a.py", &around_model("", ""))], words, false);
}

#[test]
fn values_of_each_replica() {
    let words = "this has a value for each of them";
    let held = "held = torch.utils.data.DataLoader(others, batch_size=4)\n";
    let evaluation = |line: &str| {
        around_model(
            held,
            &format!(
                "model.eval()\nwith torch.no_grad():\n    for x, y in held:\n        loss = model(x, y)\n        total += {line}\n"
            ),
        )
    };
    check_in_project("popdist", &[("a.py", &evaluation("loss.item()"))], words, true);
    check_in_project("popdist", &[("a.py", &evaluation("loss.mean().item()"))], words, false);
    let trained = around_model("", "    total += loss.item()\n");
    check_in_project("popdist", &[("a.py", &trained)], words, false);
}

#[test]
fn the_number_of_the_best_epoch() {
    let words = "Decide alike on all instances";
    let epochs = |tail: &str| {
        let text = around_model("best, best_epoch, waited = 9.0, 0, 0\n", "");
        let (head, step) = text.split_at(text.find("for x, y").unwrap_or_default());
        let step: String = step.lines().map(|line| format!("    {line}\n")).collect();
        format!("{head}for epoch in range(9):\n    total = 0.0\n{step}        total += loss.item()\n{tail}")
    };
    for (tail, is_said) in [
        (
            "    if total < best:\n        best, best_epoch = total, epoch\n    if epoch - best_epoch > 3:\n        break\n",
            true,
        ),
        (
            "    if total < best:\n        waited = 0\n    else:\n        waited += 1\n    if waited > 3:\n        break\n",
            true,
        ),
        ("    if epoch > 3:\n        waited += 1\n    if waited > 3:\n        break\n", false),
        (
            "    val_loss = evaluate(model)\n    if val_loss < best:\n        best, waited = val_loss, 0\n    else:\n        waited += 1\n    if waited > 3:\n        break\n",
            false,
        ),
    ] {
        check_in_project("popdist", &[("a.py", &epochs(tail))], words, is_said);
    }
}

#[test]
fn processes_of_pytorch_on_the_rdu() {
    let head = "import torch.distributed as dist\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n";
    let group = "dist.init_process_group('nccl')\nrank = dist.get_rank()\n";
    let program = format!("{head}{SCRIPT}").replace("\nmodel =", &format!("\n{group}model ="));
    let program = program.replace("optimizer =", "model = DDP(model, device_ids=[rank])\noptimizer =");
    let (after, said) = ported("rdu", &[("a.py", &program)]);
    assert!(after[0].contains("rdu.update()") && after[0].contains("rank = process_rank()"), "{said}{}", after[0]);
    assert!(!after[0].contains("DDP(") && !after[0].contains("init_process_group"), "{said}{}", after[0]);
    check_said(
        "rdu",
        &format!("{program}torch.multiprocessing.spawn(main, nprocs=2)\n"),
        "Not ported: this starts processes",
    );
}

#[test]
fn a_group_before_the_tile_is_chosen() {
    let words = "stays on the first one";
    let of = |wraps: &str, start: &str| {
        format!(
            "import torch\nimport torch.distributed as dist\nfrom torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n{start}\nnet = {wraps}(net)\n"
        )
    };
    let late = "dist.init_process_group('nccl')\nlocal = rank % 4\ntorch.cuda.set_device(local)";
    check_said("xpu", &of("FSDP", late), words);
    check_said("xpu", &of("FSDP", &late.replace("torch.cuda.set_device", "torch.accelerator.set_device_index")), words);
    for (wraps, start) in [
        ("FSDP", "torch.cuda.set_device(local)\ndist.init_process_group('nccl')"),
        (
            "FSDP",
            "dist.init_process_group('nccl', device_id=torch.device('cuda', local))\ntorch.cuda.set_device(local)",
        ),
        ("DistributedDataParallel", late),
    ] {
        check_in_project("xpu", &[("a.py", &of(wraps, start))], words, false);
    }
}

/// What a step needs is written in more than ten rounds: its class, the options, the first instance's functions, and what is
/// left of the program's tests is taken away line by line.
#[test]
fn a_step_that_is_simplified_in_many_rounds() {
    let program = r#"import torch


class Trainer:
    def train(self, net, loader, settings, scaler):
        torch.save(settings, "settings.pt")
        optimizer = AdamW(net.parameters())
        if settings["half"]:
            for n, batch in enumerate(loader):
                if settings["half"]:
                    with amp.autocast():
                        out = net(**batch)
                else:
                    out = net(batch)
                    loss = out[0]
                    print(loss, end="")

                if settings["parts"] > 1:
                    loss = loss / settings["parts"]

                if settings["half"]:
                    scaler.scale(loss).backward()
                else:
                    loss.backward()

                if (n + 1) % settings["parts"] == 0:
                    if settings["half"]:
                        scaler.update()
                    else:
                        optimizer.step()
                    print(n)
"#;
    let ported = port_files(&[("a.py", program)], &in_place("popdist"));
    let file = &ported.files[0];
    assert!(ported.certificate.idempotent && file.changed, "{:?}", file.diagnostics);
    assert!(ported.certificate.rounds > 10, "{}", ported.certificate.rounds);
}
