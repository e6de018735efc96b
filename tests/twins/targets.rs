//! Every target: fixtures found by their folders, ported, run on their original machine and on the target.

use crate::fixtures::{Fixture, Manifest, scripts, started_on};
use crate::machine::{Machine, Starts, run};
use crate::story::{assert_same_story, own_story};
use crate::trials::trial;
use crate::verdicts::TARGETS;
use codemod::SourceFile;
use libtest_mimic::Trial;
use std::fs;
use tests::sound::{Folder, RECIPES, assert_golden, assert_sound, ported, texts, to, told};

/// Ports a fixture, checks the properties of all ports and the golden files next to it, and trains.
fn check(fixture: &Fixture, manifest: &Manifest, target: &str) -> Result<(), String> {
    let Fixture { name, path, files, program, .. } = fixture;
    let ported = assert_sound(files, &fixture.options(target));
    let golden = path.with_file_name(format!("{name}.{target}"));
    if std::env::var_os("UPDATE").is_some() {
        let _ = fs::remove_dir_all(&golden);
    }
    for file in ported.files.iter().filter(|file| file.changed) {
        assert_golden(&golden.join(&file.path), &file.text);
    }
    if let Some(home) = &manifest.home {
        let args: Vec<_> = home.iter().map(String::as_str).collect();
        let after = Folder::with(texts(ported));
        let [before, after] = [path, &*after].map(|root| run(root, program, &args, Machine::Cpu));
        assert_same_story("at home", &own_story(&before?), &own_story(&after?));
    }
    let said: String = ported.files.iter().map(|file| told(&file.diagnostics)).collect();
    if let Some(why) = manifest.person.get(target) {
        let is_silent = said.is_empty();
        return if is_silent { Err(format!("nothing is said of what a person has to do: {why}")) } else { Ok(()) };
    }
    let on = &manifest.on[target];
    let starts = Starts {
        machine: Machine::of(target),
        program: program.clone(),
        files: texts(ported).map(|(path, text)| (path.to_owned(), text.to_owned())).collect(),
        commands: on.starts().into_iter().map(|words| (words, on.env.clone())).collect(),
    };
    starts.train().map_err(|fault| format!("{fault}\nThe port said:\n{said}"))
}

/// A port to the IPU, ported to PopDist, is the port to PopDist: nothing is duplicated, nothing is lost.
fn check_by_way_of_the_ipu(fixture: &Fixture) {
    let written = |files: &[SourceFile], target: &str| -> Vec<SourceFile> {
        let files = ported(files, &to(target)).files.iter();
        files.map(|file| SourceFile { path: file.path.clone(), text: file.text.clone() }).collect()
    };
    let by_way_of_the_ipu = written(&written(&fixture.files, "ipu"), "popdist");
    assert_eq!(by_way_of_the_ipu, written(&fixture.files, "popdist"));
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for target in TARGETS {
        for (fixture, manifest) in started_on(target, true) {
            let name = format!("targets::{}::{target}", fixture.name);
            trials.push(trial(name, move || check(fixture, manifest, target)));
        }
    }
    let on_both = started_on("popdist", true)
        .filter(|(_, manifest)| ["ipu", "popdist"].iter().all(|target| manifest.on.contains_key(*target)));
    let on_both: Vec<_> = on_both.map(|(fixture, _)| fixture).collect();
    let count = on_both.len();
    trials.extend(on_both.into_iter().map(|fixture| {
        trial(format!("targets::popdist_from_the_ipu::{}", fixture.name), || {
            check_by_way_of_the_ipu(fixture);
            Ok(())
        })
    }));
    trials.push(trial("targets::each_has_fixtures", move || {
        for target in ["ipu", "popdist", "rdu"] {
            assert!(started_on(target, true).next().is_some(), "no fixture is for {target}");
        }
        assert!(count > 4, "{count} fixtures are for both targets");
        Ok(())
    }));
    // Scripts that were written for another target's tests are sound on every target too.
    for target in RECIPES.targets() {
        for (name, script) in scripts() {
            let options = to(&target.id);
            trials.push(trial(format!("targets::sound::{name}::{}", target.id), move || {
                assert_sound(&script.files, &options);
                Ok(())
            }));
        }
    }
    trials
}
