//! Every target: fixtures found by their folders, ported, run on their original machine and on the target.
//!
//! A folder with a `fixture.json` is a fixture. That file defines how it is started:
//!
//! ```json
//! {
//!     "program": "train.py",
//!     "home": ["--epochs", "2"],
//!     "on": {"ipu": {"args": ["--accelerator", "ipu"]}, "rdu": {"steps": [["compile"], ["run", "--pef=…"]]}},
//!     "person": {"popdist": "why a person has to finish this port"}
//! }
//! ```
//!
//! `home` are arguments with which original and port do the same on a machine without a vendor's software; without it
//! the program has only the target's mode. `on` contains the targets, with arguments, several consecutive starts in one
//! folder (`steps`), an environment (`env`) and options of the port (`options`). For a target under `person` the port
//! must report manual work, and is not run.

use crate::machine::{Machine, run, run_in};
use crate::sound::{RECIPES, assert_golden, assert_sound, folder, here, read_tree, texts, to, told, write_tree};
use crate::story::{assert_same_story, own_story};
use codemod::{Ported, port};
use python::SourceFile;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of fixtures, in order.
fn fixtures() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for parent in ["fixtures", "fixtures/targets"] {
        let entries = fs::read_dir(here().join(parent)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| path.join("fixture.json").is_file()));
    }
    found.sort();
    found
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|word| word.as_str().expect("an argument is text").to_owned()).collect()
}

fn pairs(value: &Value) -> Vec<(String, String)> {
    let pairs = value.as_object().into_iter().flatten();
    pairs.map(|(name, value)| (name.clone(), value.as_str().expect("a value is text").to_owned())).collect()
}

/// Ports a fixture and checks the properties of all ports, and the golden files next to it.
fn ported(fixture: &Path, target: &str, how: &Value) -> (Ported, PathBuf) {
    let files: Vec<_> = read_tree(fixture).into_iter().filter(|file| file.path != "fixture.json").collect();
    let mut options = to(target);
    options.options.extend(pairs(&how["options"]));
    let ported = assert_sound(&files, &options);
    let name = fixture.file_name().unwrap().to_str().unwrap();
    let golden = fixture.with_file_name(format!("{name}.{target}"));
    if std::env::var_os("UPDATE").is_some() {
        let _ = fs::remove_dir_all(&golden);
    }
    for file in ported.files.iter().filter(|file| file.changed) {
        assert_golden(&golden.join(&file.path), &file.text);
    }
    let after = folder(name);
    write_tree(&after, texts(&ported));
    (ported, after)
}

/// One fixture on one target; what is wrong with it, if anything.
fn judge(fixture: &Path, target: &str, manifest: &Value) -> Result<(), String> {
    let how = &manifest["on"][target];
    let (ported, after) = ported(fixture, target, how);
    let program = manifest["program"].as_str().expect("a fixture has a program");
    if let Some(home) = manifest.get("home") {
        let args = words(home);
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let [before, after] = [fixture, &after].map(|root| run(root, program, &args, Machine::Cpu));
        assert_same_story(&format!("{} at home", fixture.display()), &own_story(&before?), &own_story(&after?));
    }
    if let Some(why) = manifest["person"].get(target) {
        let reported = ported.files.iter().any(|file| !file.diagnostics.is_empty());
        return if reported { Ok(()) } else { Err(format!("nothing is said of what a person has to do: {why}")) };
    }
    let steps = match how["steps"].as_array() {
        Some(steps) => steps.iter().map(words).collect(),
        None => vec![words(&how["args"])],
    };
    let env = pairs(&how["env"]);
    let env: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let cwd = folder("target");
    let mut calls = Vec::new();
    for step in &steps {
        let step: Vec<_> = step.iter().map(String::as_str).collect();
        calls.extend(run_in(&cwd, &after, program, &step, Machine::of(target), &env).map_err(|fault| {
            let said: String = ported.files.iter().map(|file| told(&file.diagnostics)).collect();
            format!("{fault}\nThe port said:\n{said}")
        })?);
    }
    let trained = |name: &str| match target {
        "ipu" | "popdist" => name == "poptorch.train" || name == "keras.fit",
        "rdu" => name == "samba.session.run",
        _ => name == "forward" || name == "keras.fit",
    };
    if !calls.iter().any(|(name, _)| trained(name)) {
        return Err("the port ran, and nothing was trained on the target".into());
    }
    Ok(())
}

/// Every fixture of a target. All failures are reported, not only the first.
fn every_fixture(target: &str) {
    let mut faults = String::new();
    let mut count = 0;
    for fixture in fixtures() {
        let text = fs::read_to_string(fixture.join("fixture.json")).unwrap();
        let manifest: Value =
            serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{}: {fault}", fixture.display()));
        if manifest["on"].get(target).is_none() && manifest["person"].get(target).is_none() {
            continue;
        }
        count += 1;
        if let Err(fault) = judge(&fixture, target, &manifest) {
            faults += &format!("{} to {target}: {fault}\n\n", fixture.file_name().unwrap().display());
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
    assert!(count > 0, "no fixture is for {target}");
}

/// Scripts that were written for another target's tests are sound on every target too.
#[test]
fn every_script_to_every_target() {
    for target in RECIPES.targets() {
        for entry in fs::read_dir(here().join("fixtures/scripts")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.matches('.').count() == 1 {
                assert_sound(&[SourceFile { text: fs::read_to_string(&path).unwrap(), path: name }], &to(&target.id));
            }
        }
    }
}

#[test]
fn ipu() {
    every_fixture("ipu");
}

#[test]
fn rdu() {
    every_fixture("rdu");
}

#[test]
fn popdist() {
    every_fixture("popdist");
}

/// A port to the IPU, ported to PopDist, is the port to PopDist: nothing is duplicated, nothing is lost.
#[test]
fn popdist_from_the_ipu() {
    let mut count = 0;
    for fixture in fixtures() {
        let manifest: Value = serde_json::from_str(&fs::read_to_string(fixture.join("fixture.json")).unwrap()).unwrap();
        if manifest["on"].get("popdist").is_none() || manifest["on"].get("ipu").is_none() {
            continue;
        }
        count += 1;
        let files: Vec<_> = read_tree(&fixture).into_iter().filter(|file| file.path != "fixture.json").collect();
        let written = |files: &[SourceFile], target: &str| -> Vec<SourceFile> {
            let ported = port(files, &RECIPES, &to(target));
            ported.files.into_iter().map(|file| SourceFile { path: file.path, text: file.text }).collect()
        };
        let by_way_of_the_ipu = written(&written(&files, "ipu"), "popdist");
        assert_eq!(by_way_of_the_ipu, written(&files, "popdist"), "{}", fixture.display());
    }
    assert!(count > 4, "{count} fixtures are for both targets");
}
