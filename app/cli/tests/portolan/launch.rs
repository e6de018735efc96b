//! `portolan launch`.

use crate::{folder, portolan, read};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The last command of a script, on one line.
fn command_of(script: &str) -> String {
    let at = script.rfind("\nrun ").expect("a command");
    script[at + 5..].replace("\\\n", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A ported project is started with the keys of its own configuration.
#[test]
fn what_is_left_open_is_read_out_of_the_ported_project() {
    let home = folder(&[]);
    let project = root().join("tests/fixtures/projects/cristae");
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--out", "ported", project.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let yaml = "cristae/config/config.yaml";
    std::fs::copy(project.join(yaml), home.path().join("ported").join(yaml)).expect("copied");

    let launch = |words: &[&str]| {
        let words = [&["launch", "--target", "hpu", "--project", "ported", "--args"], words].concat();
        portolan(home.path(), &words)
    };
    let ran = launch(&["run.id=x", "--instances", "8"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let line = command_of(&ran.out);
    let ending =
        "python3 -u bin/segment.py run.compute=HPU run.id=x run.distributed=True run.lazy_mode=False run.batch=2";
    assert!(line.starts_with("mpirun -n 8 ") && line.ends_with(ending), "{line}");
    assert!(ran.out.contains("# 2 samples × 1 micro-batch × 8 cards = 16 samples per step"), "{}", ran.out);
    assert!(ran.out.contains("# batch 2, from run.batch cristae/config/run.py:"), "{}", ran.out);
    assert!(ran.err.contains("distributed flag: run.distributed (False)"), "{}", ran.err);

    let from = "# accumulation 1, from mode.optimizer.accumulate cristae/config/mode.py:";
    assert!(ran.out.contains(from), "{}", ran.out);
    let ran = launch(&["run.id=x", "--accumulation", "4"]);
    assert!(command_of(&ran.out).ends_with(" run.batch=2 mode.optimizer.accumulate=4"), "{}", ran.out);

    // The arguments determine what is run.
    let ran = launch(&["run.id=x run.batch=16 mode.optimizer.accumulate=4"]);
    assert!(ran.out.contains("# 16 samples × 4 micro-batches × 1 card = 64 samples per step"), "{ran:?}");
    assert_eq!(ran.out.matches("run.batch=").count(), 1, "{}", ran.out);
    assert!(ran.out.contains("run.distributed=False"), "{}", ran.out);
    let ran = launch(&["run.id=x run.batch=16", "--batch", "8"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--batch is 8 here, but run.batch is `16` in the arguments"), "{ran:?}");

    // A value that only the user knows is requested by its name.
    let ran = launch(&["mode=train"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--args: the program requires `run.id`: add run.id=…"), "{ran:?}");
}

/// A configuration that the program loads itself sets its batch; the command line has no key for it.
#[test]
fn a_configuration_file_that_the_program_names_is_read() {
    let train = "import torch\nimport yaml\n\nwith open('config.yaml') as file:\n    cfg = yaml.safe_load(file)\n\n\n\
        def main():\n    loss.backward()\n\n\nif __name__ == '__main__':\n    main()\n";
    let home = folder(&[("p/train.py", train), ("p/config.yaml", "train:\n  batch_size: 24\n  epochs: 3\n")]);
    let ran = portolan(home.path(), &["launch", "--target", "hpu", "--project", "p"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("config.yaml:2: the batch: train.batch_size (24)"), "{ran:?}");
    assert!(ran.out.contains("# batch 24, from train.batch_size config.yaml:2"), "{}", ran.out);
    assert!(!command_of(&ran.out).contains("batch_size"), "{}", ran.out);
}

#[test]
fn a_script_to_check_that_is_no_text() {
    let home = folder(&[]);
    for (bytes, words) in [
        (&b"\x7fELF\x02\x01\0\0"[..], "run.sh:1:7: error[engine#binary] NUL byte: this is a binary file"),
        (&b"#!/bin/sh\n# caf\xe9\n"[..], "run.sh:2:6: error[engine#not-utf8] byte 0xE9 is not UTF-8"),
    ] {
        std::fs::write(home.path().join("run.sh"), bytes).expect("written");
        let ran = portolan(home.path(), &["launch", "--target", "hpu", "--lint", "run.sh"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        assert!(ran.err.starts_with(words), "{ran:?}");
    }
}

#[test]
fn the_patch_of_a_checked_script_applies() {
    let script = "#!/bin/bash\n#SBATCH -N 1\nexport A=1\nexport B=2\nCUDA_VISIBLE_DEVICES=0,1 python train.py \\\n    --backend nccl\n";
    let home = folder(&[("jobs/run.sh", script)]);
    let ran = portolan(home.path(), &["launch", "--target", "hpu", "--lint", "jobs/run.sh"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    std::fs::write(home.path().join("fix.patch"), &ran.out).expect("written");
    let applied = Command::new("git").current_dir(home.path()).args(["apply", "fix.patch"]).status();
    assert!(applied.expect("git is installed").success(), "{}", ran.out);
    let fixed = std::fs::read_to_string(home.path().join("jobs/run.sh")).expect("readable");
    assert!(fixed.contains("HABANA_VISIBLE_MODULES=0,1") && fixed.contains("--backend hccl"), "{fixed}");
}

#[test]
fn eight_trainings_in_place_of_one_are_refused() {
    let script = "import torch\n\n\ndef main():\n    net(x).backward()\n\n\nif __name__ == '__main__':\n    main()\n";
    let home = folder(&[("train.py", script)]);
    let launch =
        |instances| portolan(home.path(), &["launch", "--target", "hpu", "--project", ".", "--instances", instances]);
    let ran = launch("8");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(ran.err.contains("--instances: the program has no distributed training"), "{ran:?}");
    assert_eq!(launch("1").code, 0);
    // The same in a script that somebody else wrote.
    std::fs::write(home.path().join("run.sh"), "torchrun --nproc_per_node=8 train.py\n").expect("written");
    let ran = portolan(home.path(), &["launch", "--target", "hpu", "--lint", "run.sh", "--project", "."]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("run.sh:1: warning[refused] the program has no distributed training"), "{ran:?}");
    // A batch shared by processes has to be divisible.
    let shared = "import argparse, os\nimport torch.distributed as dist\np = argparse.ArgumentParser()\n\
        p.add_argument('--batch-size', type=int, default=100)\nargs = p.parse_args()\n\
        size = args.batch_size // dist.get_world_size()\nrank = os.environ['RANK']\nnet(size).backward()\n";
    let home = folder(&[("train.py", shared)]);
    let ran = portolan(home.path(), &["launch", "--target", "hpu", "--project", ".", "--instances", "8"]);
    assert!(
        ran.err.contains("--batch: 100 samples can't be divided evenly among 8 cards, as train.py:6 requires"),
        "{ran:?}"
    );
    let words = ["launch", "--target", "hpu", "--project", ".", "--instances", "8", "--batch", "64"];
    let ran = portolan(home.path(), &words);
    assert!(ran.out.contains("# 64 samples ÷ 8 cards = 8 each (train.py:6); × 1 micro-batch = 64"), "{ran:?}");
    assert!(command_of(&ran.out).ends_with("train.py --batch-size=64"), "{ran:?}");
    // Its processes read the variables that torchrun sets.
    assert!(command_of(&ran.out).starts_with("torchrun "), "{ran:?}");
}

/// A program that the port makes ready for several processes, as the refusal says.
#[test]
fn a_port_for_several_processes_is_started_in_them() {
    let script = "import torch\n\nnet = torch.nn.Linear(4, 2).cuda()\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n\
        loader = torch.utils.data.DataLoader(events, batch_size=8, shuffle=True)\nfor x in loader:\n    optimizer.zero_grad()\n    \
        net(x.cuda()).sum().backward()\n    optimizer.step()\n";
    for target in ["hpu", "xpu"] {
        let home = folder(&[("train.py", script)]);
        let launch = |of| portolan(home.path(), &["launch", "--target", target, "--project", of, "--instances", "8"]);
        let ran = launch(".");
        assert!(ran.code == 2 && ran.err.contains("--option processes=many"), "{ran:?}");
        let ported = ["port", "--target", target, "--option", "processes=many", "--out", "ported", "train.py"];
        let ran = portolan(home.path(), &ported);
        assert!(home.path().join("ported/train.py").is_file(), "{ran:?}");
        let ran = launch("ported");
        assert!(ran.code == 0 && ran.out.contains("8 processes, one training run"), "{ran:?}");
        assert!(command_of(&ran.out).starts_with("torchrun --nproc_per_node 8 "), "{ran:?}");
        assert!(ran.out.contains("= 64 samples per step"), "{ran:?}");
    }
}

/// What a script passes to the project's programs, and which it starts.
#[test]
fn programs_and_options_that_a_project_lacks() {
    let program = "import argparse\nimport torch\np = argparse.ArgumentParser()\n\
        p.add_argument('--batch-size', type=int, default=1)\nargs = p.parse_args()\nnet(args.batch_size).backward()\n";
    let home = folder(&[("src/train.py", program)]);
    let check = |line: &str, said: &[&str]| {
        std::fs::write(home.path().join("run.sh"), format!("{line}\n")).expect("written");
        let ran = portolan(home.path(), &["launch", "--target", "hpu", "--lint", "run.sh", "--project", "."]);
        let found: Vec<&str> =
            ran.err.lines().filter_map(|line| line.split_once(": warning").map(|(_, text)| text)).collect();
        assert_eq!(found, said, "{ran:?}");
    };
    check("python src/train.py --batch-size 8", &[]);
    check("cd src; python train.py --batch 8 --help", &[]);
    check(
        "python src/train.py --batch-sise 8",
        &["[unknown-argument] src/train.py has no option --batch-sise; did you mean --batch-size?"],
    );
    check("python src/trian.py", &["[no-program] the project has no file src/trian.py; did you mean src/train.py?"]);
    check("python /opt/tool.py --x", &[]);
    check("python src/eval.py", &["[no-program] the project has no file src/eval.py"]);
}

/// Parsers whose options are not all in the program's own files.
#[test]
fn options_that_a_program_gets_from_elsewhere() {
    let check = |more: &str, line: &str, count: usize| {
        let program = format!(
            "import argparse\nimport torch\nfrom other import more, base\np = argparse.ArgumentParser()\n\
             p.add_argument('--lr', type=float, default=1)\n{more}\nargs = p.parse_args()\nnet(args.lr).backward()\n"
        );
        let script = format!("{line}\n");
        let home = folder(&[("train.py", &*program), ("run.sh", &*script)]);
        let ran = portolan(home.path(), &["launch", "--target", "hpu", "--lint", "run.sh", "--project", "."]);
        assert_eq!(ran.err.matches("unknown-argument").count(), count, "{ran:?}");
    };
    check("", "python train.py --data x", 1);
    check("more(p)", "python train.py --data x", 0);
    check("q = argparse.ArgumentParser(parents=[base()])", "python train.py --data x", 0);
    check("p.add_argument('-v', '--version', action='version', version='1')", "python train.py --version", 0);
}

/// A program that reads its launcher's variables fails without them, even as a single process.
#[test]
fn one_process_has_the_launcher_that_its_program_needs() {
    let script = "import os\nimport torch.distributed as dist\n\nrank = int(os.environ['LOCAL_RANK'])\n\
        dist.init_process_group('hccl')\nnet(x).backward()\n";
    let open_mpi = script.replace("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK");
    let none = "import torch\nnet(x).backward()\n";
    let home = folder(&[("a/main.py", script), ("b/main.py", &open_mpi), ("c/main.py", none)]);
    let check = |words: &[&str], expected: &str| {
        let ran = portolan(home.path(), &[&["launch", "--target", "hpu"], words].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let line = command_of(&ran.out);
        assert!(line.starts_with(expected) && line.ends_with(" main.py"), "{line}");
        let meets = ["MASTER_ADDR=localhost", "MASTER_PORT=12355"].map(|set| ran.out.contains(set));
        assert_eq!(meets, [!expected.starts_with("python3"); 2], "{}", ran.out);
    };
    let torchrun = "torchrun --nproc_per_node 1 ";
    check(&["--project", "a"], torchrun);
    check(&["--project", "a", "--instances", "1"], torchrun);
    check(&["--project", "b"], "mpirun -n 1 ");
    check(&["--project", "c"], "python3 -u ");
    // The user's choice overrides what was detected in the project.
    check(&["--project", "a", "--launcher", "mpirun"], "mpirun -n 1 ");
    check(&["--entry", "main.py", "--launcher", "torchrun"], torchrun);
    check(&["--entry", "main.py"], "python3 -u ");
}

#[test]
fn a_project_that_says_nothing() {
    let home = folder(&[("lib.py", "x = 1\n"), ("odd/a.py", "def broken(:\n"), ("evil/$(id) \"'\n.py", "train()\n")]);
    let launch = |words: &[&str]| portolan(home.path(), &[&["launch", "--target", "ipu"], words].concat());
    let ran = launch(&["--project", "nowhere"]);
    assert_eq!((ran.code, ran.err.contains("folder not found")), (2, true), "{ran:?}");
    let ran = launch(&["--project", "odd"]);
    assert_eq!((ran.code, ran.err.contains("contains no program")), (2, true), "{ran:?}");
    let ran = launch(&["--project", ".", "--entry", "lib.py"]);
    assert_eq!((ran.code, ran.err.contains("--entry lib.py: not a program")), (2, true), "{ran:?}");
    // A file name is treated as a name only.
    let words = ["--project", "evil", "--set", "poplar=/p", "--set", "popart=/p", "--set", "cache=/c"];
    let ran = launch(&words);
    assert_eq!(ran.code, 0, "{ran:?}");
    let dry =
        std::process::Command::new("bash").env("DRY_RUN", "1").args(["-c", &ran.out]).output().expect("bash runs");
    assert!(dry.status.success(), "{dry:?}");
    assert!(String::from_utf8_lossy(&dry.stderr).contains(r#"$'$(id) "\'\n.py'"#), "{dry:?}");
}

/// The text between backticks.
fn code_of(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The guide's table of published command lines: the options in a row produce the lines next to them.
#[test]
fn published_command_lines_come_out_of_the_choices() {
    let guide = std::fs::read_to_string(root().join("guides/launching.md")).expect("the guide is there");
    let home = folder(&[]);
    let mut seen = 0;
    for row in guide.lines().filter(|line| line.contains("| `portolan launch ")) {
        let ours = row.trim_end_matches([' ', '|']).rsplit(" | ").next().expect("a cell");
        let mut code = code_of(ours);
        let words = launch::split_words(code.next().expect("a command")).expect("quotes are closed");
        let ran = portolan(home.path(), &words[1..].iter().map(String::as_str).collect::<Vec<_>>());
        if ours.contains("is refused") {
            assert_eq!(ran.code, 2, "{row}\n{ran:?}");
            assert!(code.all(|said| ran.err.contains(said)), "{row}\n{ran:?}");
        } else {
            assert_eq!(ran.code, 0, "{row}\n{ran:?}");
            let script = ran.out.replace(" \\\n ", "");
            for line in code {
                let is_there =
                    script.lines().any(|own| own.trim_start_matches("export ").trim_start_matches("run ") == line);
                assert!(is_there, "{line}\nis not in\n{script}");
            }
        }
        seen += 1;
    }
    assert!(seen > 25, "{seen} rows");
}

/// The command shown on the page, run in a shell, writes the page's script.
#[test]
fn the_pages_command_writes_the_pages_script() {
    let home = folder(&[]);
    let hostile = "a b/\"q\" 'q' $HOME `id` $(id) ; & * ~ \\ é.py";
    let check = |pairs: &[(&str, &str)]| {
        let fields = pairs.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        let written = launch::form::write(&fields, &launch::read_site)
            .unwrap_or_else(|problems| panic!("{pairs:?}: {problems:?}"));
        let command = launch::form::command(&fields, &launch::read_site);
        let words = launch::split_words(&command).expect("quotes are closed");
        let ran = portolan(home.path(), &words[1..].iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((ran.out, ran.code), (written.script, 0), "{command}\n{}", ran.err);
    };
    let hpu = [
        ("entry", hostile),
        ("args", "'a b' --lr 1 run.accumulate=4"),
        ("scheduler", "slurm"),
        ("time", "01:00:00"),
        ("account", "me"),
        ("job", "mine"),
        ("instances", "8"),
        ("batch", "16"),
        ("batch-key", "--batch-size"),
        ("batch-from", "a.py:3"),
        ("shared-batch", "a.py:4"),
        ("accumulation-key", "run.accumulate"),
        ("accumulation-from", "a.py:5"),
        ("accumulation", "2"),
        ("distributed-key", "--ddp"),
        ("needs", "--lr"),
        ("output", hostile),
        ("venv", "v v"),
        ("lazy", "on"),
        ("profile", "on"),
        ("port", "23456"),
        ("cores", "4"),
        ("sdk", "1.10.0"),
        ("interface", "eno1"),
    ];
    check(&hpu);
    check(&[("entry", "a.py"), ("args", "run.batch=32"), ("batch-key", "run.batch"), ("alone", "on")]);
    check(&[("entry", "a.py"), ("scheduler", "pbs"), ("select", "ngpus=8"), ("nodes", "2"), ("launcher", "mpirun")]);
    check(&[("entry", "a.py"), ("modules", "4,5"), ("launcher", "torchrun")]);
    for launcher in ["torchrun", "mpirun", "lightning"] {
        check(&[("entry", "a.py"), ("launcher", launcher), ("alone", "on")]);
    }
    check(&[("entry", "a.py"), ("site", "tamu-aces-gaudi"), ("gres", "gaudi"), ("partition", "p")]);
    let spawned =
        [("launcher", "deepspeed"), ("nodes", "2"), ("hosts", "a,b"), ("hostfile", "h"), ("gaudi_spawn", "g.py")];
    check(&[&[("entry", "a.py")], &spawned[..]].concat());
    check(&[
        ("target", "rdu"),
        ("site", "alcf-sn30"),
        ("entry", "a.py"),
        ("pef", "n"),
        ("threads", "4"),
        ("scheduler", "slurm"),
    ]);
    check(&[("target", "ipu"), ("site", "alcf-pod64"), ("entry", "a.py"), ("cache", hostile), ("tensorflow", "on")]);
    check(&[("target", "popdist"), ("site", "tamu-aces-pod16"), ("entry", "a.py"), ("cache", "/c"), ("replicas", "4")]);
    check(&[
        ("script", "setup"),
        ("target", "ipu"),
        ("site", "alcf-pod64"),
        ("venv", hostile),
        ("requirements", "r.txt"),
    ]);
    check(&[("script", "collect"), ("target", "rdu"), ("results", hostile), ("archive", "mine")]);
}

/// An invalid `--set` is answered with the allowed values, or the existing fields, and where they are listed.
#[test]
fn values_of_set() {
    let home = folder(&[]);
    let says = |set: &str, words: &[&str]| {
        let line = ["launch", "--target", "hpu", "--entry", "a.py", "--scheduler", "slurm", "--set", set];
        let ran = portolan(home.path(), &line);
        let text = &ran.err;
        assert_eq!(ran.code, 2, "{set}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
        assert!(text.contains("portolan launch --help"), "{text}");
    };
    says("queue=", &["--set queue=… is not a field", "hpu has output, lazy,", "every launch has account, partition"]);
    says("Account=x", &["did you mean `account`?"]);
    says("launcher=torchrun", &["has its own option: --launcher"]);
    says("time=", &["--set time=… is empty", "expected Wall time (Time limit as HH:MM:SS, such as 01:00:00"]);
    says("cores=", &["is empty", "expected Cores (Cores per process"]);
    says("cores=x", &["must be a number from 1"]);
    says("lazy=no", &["must be on"]);
    says("novalue", &["expected FIELD=VALUE"]);
}

/// A training step that the port refuses is reported as being started unchanged: with and without the project, and in
/// the script.
#[test]
fn a_step_that_is_not_ported_is_said_above_the_script() {
    let step = |call: &str| {
        format!(
            "import torch\nfrom torch.utils.data import DataLoader\n\nnet = torch.nn.Linear(4, 2)\n\
             opt = torch.optim.SGD(net.parameters(), lr=0.1)\nloader = DataLoader([], batch_size=8)\n\
             for x, y in loader:\n    opt.zero_grad()\n    loss = torch.nn.functional.cross_entropy(net(x), y)\n    {call}\n    \
             opt.step()\n"
        )
    };
    let home = folder(&[("p/train.py", &step("loss.backward(gradient)")), ("q/train.py", &step("loss.backward()"))]);
    for target in ["ipu", "popdist"] {
        let launch = |words: &[&str]| {
            let words = [&["launch", "--target", target, "--site", "tamu-aces", "--set", "cache=/c"], words].concat();
            portolan(home.path(), &words)
        };
        let warning = "train.py:10: this training step is not ported to ";
        for words in [&["--project", "p"][..], &["--entry", "p/train.py"]] {
            let ran = launch(words);
            assert_eq!(ran.code, 0, "{ran:?}");
            let lines: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("warning: ")).collect();
            assert!(matches!(lines[..], [line] if line.contains(warning)), "{target} {words:?}: {ran:?}");
            let head: String = ran.out.lines().take(4).collect();
            assert!(head.contains("# Warning: ") && head.contains(warning), "{}", ran.out);
        }
        // One that is ported, and a program that does not exist here.
        let ported = portolan(home.path(), &["port", "--target", target, "--out", target, "q"]);
        assert_eq!(ported.code, 0, "{ported:?}");
        for words in [&["--project", target][..], &["--entry", "elsewhere/train.py"]] {
            let ran = launch(words);
            assert!(ran.code == 0 && !ran.err.contains("warning") && !ran.out.contains("Warning"), "{ran:?}");
        }
    }
}

#[test]
fn a_script_is_not_written_over_a_program() {
    let home = folder(&[("train.py", "import torch\n")]);
    let ran = portolan(home.path(), &["launch", "--target", "hpu", "--entry", "train.py", "--out", "train.py"]);
    assert!(ran.code == 2 && ran.err.contains("--out train.py: this is a program; nothing was written"), "{ran:?}");
    assert_eq!(read(home.path(), "train.py"), "import torch\n");
}
