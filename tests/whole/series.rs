//! Ports of the fixtures in steps: each step compiles in CPython and reads no name that neither the original nor the port
//! lacks, and the last step is the port.

use codemod::{RecipeSet, series};
use python::tree::Tree;
use python::{SourceFile, scopes};
use std::collections::BTreeSet;
use std::fs;
use tests::cpython::CPython;
use tests::sound::{here, ported, read_tree, to};

/// A program of the fixtures: a script, or the files of a folder.
fn programs() -> Vec<Vec<SourceFile>> {
    let mut found = Vec::new();
    for folder in ["projects", "scripts", "targets", "twins/programs"] {
        let mut paths: Vec<_> =
            fs::read_dir(here().join("fixtures").join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap().to_str().unwrap();
            // The others are expected ports.
            if path.is_dir() && !name.contains('.') {
                found.push(read_tree(&path));
            } else if name.ends_with(".py") && name.matches('.').count() == 1 {
                found.push(vec![SourceFile { path: name.to_owned(), text: fs::read_to_string(&path).unwrap() }]);
            }
        }
    }
    found
}

fn unbound(path: &str, text: &str) -> BTreeSet<String> {
    let tree = Tree::parse(text);
    let names = if python::is_python(path) { scopes::unbound(&tree.index()) } else { Vec::new() };
    names.iter().map(|unbound| unbound.name.to_owned()).collect()
}

#[test]
fn every_step_of_every_fixture_is_sound() {
    let mut python = CPython::new("python3");
    let (mut steps, mut recipes) = (0, 0);
    for files in programs() {
        for target in RecipeSet::embedded().targets() {
            let options = to(&target.id);
            let whole = ported(&files, &options);
            let all = series(&files, RecipeSet::embedded(), &options);
            let mut texts: Vec<&str> = files.iter().map(|file| file.text.as_str()).collect();
            for step in &all {
                let place = format!("{} to {}: {:?}", files[0].path, target.id, step.recipes);
                assert!(!step.recipes.is_empty(), "{place}");
                let now: Vec<&str> = step.ported.files.iter().map(|file| file.text.as_str()).collect();
                assert_ne!(now, texts, "{place}: nothing changes");
                for ((file, last), new) in files.iter().zip(&whole.files).zip(&step.ported.files) {
                    let known = &unbound(&file.path, &file.text) | &unbound(&file.path, &last.text);
                    let missing = &unbound(&file.path, &new.text) - &known;
                    assert!(missing.is_empty(), "{place}: {} has no {missing:?}", file.path);
                    if new.changed && python::is_python(&file.path) {
                        let said = python.look(&new.text, false).unwrap();
                        assert_eq!(said.refused, None, "{place}: {}", file.path);
                    }
                }
                texts = now;
                recipes += step.recipes.len();
            }
            steps += all.len();
            assert!(texts.into_iter().eq(whole.files.iter().map(|file| file.text.as_str())), "{}", files[0].path);
        }
    }
    assert!(steps > 1000, "{steps} steps of {recipes} recipes");
    eprintln!("{steps} steps of {recipes} recipes");
}
