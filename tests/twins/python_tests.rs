//! Runs the tests that are written in Python: the kit's own, those of the assertions, and of the guides' examples on the packages that
//! they are for.

use crate::server::Framework;
use crate::trials::{trial, trials};
use libtest_mimic::Trial;
use std::fs;
use std::path::{Path, PathBuf};
use tests::sound::here;

/// Files with tests, sorted.
fn files() -> Vec<PathBuf> {
    let is_test = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("test_") && name.ends_with(".py")
    };
    let folders =
        ["assertions", "guides", "../rehearsal/tests"].map(|folder| fs::read_dir(here().join(folder)).unwrap());
    let mut found: Vec<_> = folders.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| is_test(path));
    found.sort();
    found
}

pub(crate) fn trials() -> Vec<Trial> {
    let named = files().into_iter().map(|file| {
        let own = |folder: &&str| file.starts_with(here().join(folder));
        let of = ["assertions", "guides"].into_iter().find(own).unwrap_or("rehearsal");
        let name = format!("{of}::{}", file.file_stem().unwrap().to_str().unwrap());
        let framework = if name.contains("keras") { Framework::TensorFlow } else { Framework::PyTorch };
        trial(format!("python_tests::{name}"), move || {
            let output = framework.command().arg(file).output().unwrap();
            if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
        })
    });
    named.chain(trials!(every_file_is_run)).collect()
}

fn every_file_is_run() {
    assert!(files().len() >= 17, "{:?}", files());
}
