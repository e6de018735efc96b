//! A whole project with compute modes, on Gaudi.

use crate::machine::{Calls, Machine, run, run_with};
use crate::server::command;
use crate::story::{assert_marks, assert_on_hpu, assert_same_story, common_story, own_story};
use crate::trials::trials;
use codemod::{Ported, Style};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use tests::sound::{Folder, assert_golden, assert_sound, here, read_tree, texts, to_hpu};

/// The project with compute modes: ported, checked with the assertions, and run.
fn cristae(sdk: Option<&str>) -> (PathBuf, Folder, &'static Ported) {
    let before = here().join("fixtures/projects/cristae");
    let ported = assert_sound(&read_tree(&before), &to_hpu(sdk));
    assert_eq!(ported.style, Style::Branch);
    (before, Folder::with(texts(ported)), ported)
}

fn segment(root: &Path, args: &[&str], machine: Machine) -> Calls {
    let args: Vec<_> = ["run.id=test", "run.iterations=4", "run.val_every=2"].iter().chain(args).copied().collect();
    run(root, "bin/segment.py", &args, machine).unwrap_or_else(|fault| panic!("{args:?}: {fault}"))
}

/// The error that the project ends with.
fn refusal(root: &Path, start: &[&str], mode: &str) -> String {
    let args: Vec<_> = ["run.id=test", "run.iterations=4", mode].iter().chain(start).copied().collect();
    let said = run(root, "bin/segment.py", &args, Machine::Cpu).expect_err("a run that PyTorch refuses");
    said.lines().rfind(|line| line.contains("Error: ")).unwrap_or_default().to_owned()
}

/// Ways to start the project, without the compute mode.
const STARTS: [&[&str]; 5] = [
    &["mode.images=True", "mode.checkpoint_every=3"],
    &["mode.optimizer.accumulate=2", "run.precision=bfloat16", "run.profile=True", "mode.optimizer.balance=focal"],
    &["run.precision=mixed", "mode.optimizer.name=rmsprop"],
    &["run.distributed=True"],
    &["mode=infer"],
];

pub(crate) fn trials() -> Vec<Trial> {
    trials!(
        cristae_text cristae_keeps_its_modes cristae_runs_on_hpu cristae_starts_under_the_hydra_it_pins cristae_holds_the_assertions
    )
}

fn cristae_text() {
    let (before, _, ported) = cristae(None);
    let golden = before.with_file_name("cristae.hpu");
    for file in ported.files.iter().filter(|f| f.changed) {
        assert_golden(&golden.join(&file.path), &file.text);
    }
    let kept: Vec<_> = read_tree(&golden).into_iter().map(|f| f.path).collect();
    let changed: Vec<_> = ported.files.iter().filter(|f| f.changed).map(|f| f.path.clone()).collect();
    assert_eq!(kept, changed, "files with a golden text, and files that the port changes");
}

fn cristae_keeps_its_modes() {
    let (before, after, _) = cristae(None);
    for (machine, mode) in [(Machine::Cpu, "run.compute=CPU"), (Machine::Cuda, "run.compute=GPU")] {
        for start in STARTS {
            if machine == Machine::Cpu && start.contains(&"run.precision=mixed") {
                // float16 images and float32 weights: PyTorch rejects them without autocast for CUDA, and the port does
                // the same.
                let [original, ported] = [&before, &*after].map(|root| refusal(root, start, mode));
                assert!(original.starts_with("RuntimeError") && original == ported, "{original} | {ported}");
                continue;
            }
            let args: Vec<_> = start.iter().copied().chain([mode]).collect();
            let stories = [&before, &*after].map(|root| own_story(&segment(root, &args, machine)));
            assert_same_story(&format!("{args:?}"), &stories[0], &stories[1]);
        }
    }
}

fn cristae_runs_on_hpu() {
    let args = |start: &[&'static str], mode| start.iter().copied().chain([mode]).collect::<Vec<_>>();
    let original = here().join("fixtures/projects/cristae");
    let gpu = STARTS.map(|start| common_story(&segment(&original, &args(start, "run.compute=GPU"), Machine::Cuda)));
    for (sdk, lazy) in [(None, false), (Some("1.19"), true), (Some("1.8"), true)] {
        let (_, after, _) = cristae(sdk);
        for (start, gpu) in STARTS.iter().zip(&gpu) {
            if sdk == Some("1.8") && start.contains(&"run.precision=mixed") {
                continue; // no autocast yet: reported, and trained in float32
            }
            let hpu = segment(&after, &args(start, "run.compute=HPU"), Machine::Hpu);
            assert_on_hpu(&hpu);
            assert_marks(&hpu, lazy);
            assert_same_story(&format!("{sdk:?} {start:?}"), gpu, &common_story(&hpu));
        }
    }
}

fn cristae_starts_under_the_hydra_it_pins() {
    let (before, after, _) = cristae(None);
    let args = ["run.id=test", "run.compute=CPU", "run.iterations=1"];
    let start = |root| run_with(root, "bin/segment.py", &args, Machine::Cpu, &[("STAND_IN_HYDRA", "1.1")]);
    assert!(start(&before).unwrap_err().contains("version_base"));
    start(&after).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Runs `tests/assertions/hpu.py` on two checkouts.
fn assertions(before: &Path, after: &Path) -> String {
    let script = here().join("assertions/hpu.py");
    let home = ["--", "bin/segment.py", "run.id=test", "run.iterations=2", "run.compute=CPU"];
    let output = command().arg(script).args([before, after]).args(home).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

fn cristae_holds_the_assertions() {
    for sdk in [None, Some("1.19"), Some("1.8")] {
        let (before, after, _) = cristae(sdk);
        assert_eq!(assertions(&before, &after).lines().count(), 23);
    }
}
