//! The project with compute modes on the targets that compile a step.

use crate::machine::{Machine, run};
use crate::sound::{assert_sound, folder, here, read_tree, texts, to, write_tree};
use crate::story::{assert_same_story, own_story};
use codemod::Style;
use std::path::{Path, PathBuf};

/// Ways to start the project, without the compute mode.
const STARTS: [&[&str]; 3] = [&["mode.checkpoint_every=3"], &["mode.optimizer.name=rmsprop"], &["mode=infer"]];

fn cristae(target: &str) -> (PathBuf, PathBuf) {
    let before = here().join("fixtures/projects/cristae");
    let ported = assert_sound(&read_tree(&before), &to(target));
    assert_eq!(ported.style, Style::Branch);
    let after = folder("cristae");
    write_tree(&after, texts(&ported));
    (before, after)
}

fn segment(root: &Path, start: &[&str], mode: &str, machine: Machine) -> Vec<String> {
    let args: Vec<_> =
        ["run.id=test", "run.iterations=4", "run.val_every=2", mode].iter().chain(start).copied().collect();
    own_story(&run(root, "bin/segment.py", &args, machine).unwrap_or_else(|fault| panic!("{fault}")))
}

fn keeps_its_modes(target: &str) {
    let (before, after) = cristae(target);
    for (machine, mode) in [(Machine::Cpu, "run.compute=CPU"), (Machine::Cuda, "run.compute=GPU")] {
        for start in STARTS {
            let stories = [&before, &after].map(|root| segment(root, start, mode, machine));
            assert_same_story(&format!("{target}: {mode} {start:?}"), &stories[0], &stories[1]);
        }
    }
}

fn runs_on(target: &str, mode: &str) {
    let (_, after) = cristae(target);
    for start in STARTS {
        let story = segment(&after, start, mode, Machine::of(target));
        let wanted = if start.contains(&"mode=infer") { "poptorch.infer" } else { "poptorch.train" };
        assert!(story.iter().any(|call| call.starts_with(wanted)), "{target} {start:?}: no {wanted}");
    }
}

#[test]
fn cristae_keeps_its_modes_beside_every_target() {
    for target in ["ipu", "popdist", "rdu"] {
        keeps_its_modes(target);
    }
}

#[test]
fn cristae_runs_on_ipu() {
    runs_on("ipu", "run.compute=IPU");
}

#[test]
fn cristae_runs_under_poprun() {
    runs_on("popdist", "run.compute=IPU");
}
