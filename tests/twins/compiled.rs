//! The project with compute modes on the targets that compile a step.

use crate::fixtures::FIXTURES;
use crate::machine::{Machine, run};
use crate::server;
use crate::story::{assert_same_story, own_story};
use crate::trials::{trial, trials};
use codemod::Style;
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use tests::sound::{Folder, assert_sound, here, read_tree, texts, to};

/// Ways to start the project, without the compute mode.
const STARTS: [&[&str]; 3] = [&["mode.checkpoint_every=3"], &["mode.optimizer.name=rmsprop"], &["mode=infer"]];

fn cristae(target: &str) -> (PathBuf, Folder) {
    let before = here().join("fixtures/projects/cristae");
    let ported = assert_sound(&read_tree(&before), &to(target));
    assert_eq!(ported.style, Style::Branch);
    (before, Folder::with(texts(ported)))
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
            let stories = [&before, &*after].map(|root| segment(root, start, mode, machine));
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

pub(crate) fn trials() -> Vec<Trial> {
    let named = trials!(
        cristae_runs_on_ipu cristae_runs_under_poprun cristae_holds_the_assertions_for_ipu cristae_holds_the_assertions_for_popdist cristae_holds_the_assertions_for_rdu
    );
    let modes = ["ipu", "popdist", "rdu"].map(|target| {
        trial(format!("compiled::cristae_keeps_its_modes_beside::{target}"), move || {
            keeps_its_modes(target);
            Ok(())
        })
    });
    let keras = KERAS.map(|(name, ipus)| {
        trial(format!("compiled::{name}::holds_the_scoring_list"), move || {
            holds_the_scoring_list(name, ipus);
            Ok(())
        })
    });
    named.into_iter().chain(modes).chain(keras).collect()
}

fn cristae_runs_on_ipu() {
    runs_on("ipu", "run.compute=IPU");
}

fn cristae_runs_under_poprun() {
    runs_on("popdist", "run.compute=IPU");
}

/// Runs `tests/assertions/TARGET.py` on the project and its port; only these assertions may fail, and they do.
fn assertions(target: &str, mode: &str, left_to_a_person: &[&str]) {
    let (before, after) = cristae(target);
    let (program, start) =
        ("bin/segment.py", ["run.id=test", "run.iterations=6", "run.val_every=2", "mode.checkpoint_every=3"]);
    // SambaFlow receives the batch size and the shape of a tile as arguments, which are also in the configuration.
    let command: &[&str] = match target {
        "rdu" => &["COMMAND", "-b", "2", "--image-shape", "2", "32", "32", "--"],
        _ => &[],
    };
    let output = server::command()
        .arg(here().join(format!("assertions/{target}.py")))
        .args([&before, &*after])
        .args(["--", program])
        .args(start)
        .args(["run.compute=CPU", "--", program])
        .args(command)
        .args(start)
        .arg(mode)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    let failed: Vec<_> = text.lines().filter_map(|line| line.split_once(" FAIL ")).map(|(name, _)| name).collect();
    assert_eq!(failed, left_to_a_person, "{text}");
    assert!(text.lines().filter(|line| line.contains(" PASS ")).count() >= 10, "{text}");
}

fn cristae_holds_the_assertions_for_ipu() {
    assertions("ipu", "run.compute=IPU", &[]);
}

/// The project has its own reader, which is not divided among instances.
fn cristae_holds_the_assertions_for_popdist() {
    assertions("popdist", "run.compute=IPU", &["P6"]);
}

fn cristae_holds_the_assertions_for_rdu() {
    assertions("rdu", "run.compute=RDU", &[]);
}

/// Keras scripts, and the number of IPUs that each port needs.
const KERAS: [(&str, u32); 6] = [
    ("keras_class", 1),
    ("keras_dataset", 1),
    ("keras_functional", 1),
    ("keras_stages", 4),
    ("keras_subclass", 1),
    ("keras_validation", 2),
];

fn holds_the_scoring_list(name: &str, ipus: u32) {
    let fixture = &FIXTURES[name];
    let after = Folder::with(texts(assert_sound(&fixture.files, &fixture.options("ipu"))));
    let output = server::command()
        .arg(here().join("assertions/tensorflow_ipu.py"))
        .args([&fixture.path, &*after])
        .args(["--", "train.py", "--", &ipus.to_string()])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.matches(" PASS ").count() == 11, "{text}");
}
