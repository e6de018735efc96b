//! The browser tests, with Node's own test runner.
//!
//! A test here depends on two programs and on timing, so one of hundreds can fail for reasons other than the site.
//! Files with a failed test are therefore rerun once, one at a time, and only a second failure counts. Tests that pass
//! the second time are reported: a bug in the test or the page, to be fixed like any other.

use crate::step::run;
use crate::{surroundings, workspace};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;

/// If more files than this have failures, the site has a bug, and a second run would only take time.
const FILES_TO_REPEAT: usize = 3;

/// Runs `tests/browser/*.test.mjs`, each passed by name: the meaning of a folder for `node --test` changed between
/// Node's releases.
pub(crate) fn run_all() -> Result<()> {
    let folder = workspace::root().join("tests").join("browser");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.to_string_lossy().ends_with(".test.mjs"));
    files.sort();
    if files.is_empty() {
        bail!("no file is named tests/browser/*.test.mjs");
    }
    let results = workspace::target().join("browser-tests.tap");
    // Node leaves one processor free; with two, a test and its browser then share one.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let first = run(&mut node(processors.saturating_sub(1).max(2), &results, &files)?);
    let Err(failure) = first else { return Ok(()) };
    let tap = fs::read_to_string(&results).unwrap_or_default();
    let failed = failures(&tap);
    let files: BTreeSet<&str> = failed.iter().map(|failed| failed.file).collect();
    if files.is_empty() || files.len() > FILES_TO_REPEAT {
        return Err(failure);
    }
    let names: String = failed.iter().map(|failed| format!("\n      {}: {}", failed.file, failed.test)).collect();
    println!("\n    once more, one file at a time, because of{names}");
    run(&mut node(1, &results, &files)?)?;
    println!("\n    UNSTEADY, failed once and passed alone; to be mended:{names}");
    Ok(())
}

/// Node's test runner: readable output on standard output, and TAP in `results`.
fn node(at_once: usize, results: &Path, files: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Command> {
    let mut command = surroundings::command("node")?;
    command.args(["--test", "--test-reporter=spec", "--test-reporter-destination=stdout", "--test-reporter=tap"]);
    command.arg(format!("--test-reporter-destination={}", results.display()));
    command.arg(format!("--test-concurrency={at_once}"));
    for file in files {
        command.arg(file.as_ref().strip_prefix(workspace::root()).unwrap_or(file.as_ref()));
    }
    Ok(command)
}

/// A test that failed.
#[derive(Debug, PartialEq)]
struct Failed<'a> {
    file: &'a str,
    test: &'a str,
}

/// The failed tests in Node's TAP; none if Node does not report the location of each, as before 20.
fn failures(tap: &str) -> Vec<Failed<'_>> {
    let mut failed = Vec::new();
    let mut lines = tap.lines();
    while let Some(line) = lines.next() {
        let Some((_, test)) = line.strip_prefix("not ok ").and_then(|rest| rest.split_once(" - ")) else { continue };
        let place = lines
            .by_ref()
            .take_while(|line| line.trim() != "...")
            .find_map(|line| line.trim().strip_prefix("location: '")?.strip_suffix('\''));
        let file = place.and_then(|place| place.rsplitn(3, ':').last());
        match file.filter(|file| file.ends_with(".test.mjs")) {
            Some(file) => failed.push(Failed { file: file.strip_prefix("file://").unwrap_or(file), test }),
            None => return Vec::new(),
        }
    }
    failed
}

#[cfg(test)]
mod tests {
    use super::{Failed, failures};

    const TAP: &str = "TAP version 13
# Subtest: a run is cancelled
not ok 1 - a run is cancelled
  ---
  duration_ms: 2.4
  location: '/home/me/tests/browser/check.test.mjs:121:3'
  failureType: 'testCodeFailure'
  ...
# Subtest: another
ok 2 - another
  ---
  duration_ms: 0.2
  ...
";

    #[test]
    fn a_failed_test_is_found_with_its_file() {
        let file = "/home/me/tests/browser/check.test.mjs";
        assert_eq!(failures(TAP), [Failed { file, test: "a run is cancelled" }]);
    }

    #[test]
    fn a_failure_without_a_place_leaves_none_to_repeat() {
        let nowhere = "not ok 3 - tests/browser/port.test.mjs\n  ---\n  failureType: 'testCodeFailure'\n  ...\n";
        assert_eq!(failures(&format!("{TAP}{nowhere}")), []);
    }
}
