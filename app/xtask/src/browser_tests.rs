//! The browser tests, with Node's own test runner.
//!
//! A test here depends on two programs and on timing, so one of hundreds can fail for reasons other than the site.
//! Files with a failed test are therefore rerun once, one at a time, and only a second failure counts. Tests that pass
//! the second time are reported: a bug in the test or the page, to be fixed like any other.

use crate::step::run;
use crate::{dist, surroundings, workspace};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;

/// If more files than this have failures, the site has a bug, and a second run would only take time.
const FILES_TO_REPEAT: usize = 3;

/// The files that take longest, in this order. They begin first, so that all processors are busy until the end.
const LONGEST: [&str; 6] = ["port", "axe", "firefox_recovery", "recovery", "check", "golden"];

/// How many of the slowest tests are listed.
const SLOWEST: usize = 10;

/// Runs `tests/browser/*.test.mjs`, and adds the time of each test to the file `times`.
pub(crate) fn run_all(times: &Path) -> Result<()> {
    // Some tests start it, and something else may have been built since the site was.
    run(surroundings::command("cargo")?.args(dist::PORTOLAN))?;
    let tests = workspace::root().join("tests");
    let folder = tests.join("browser");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.to_string_lossy().ends_with(".test.mjs"));
    if files.is_empty() {
        bail!("no file is named tests/browser/*.test.mjs");
    }
    files.sort_by_key(|file| {
        let rank = LONGEST.iter().position(|name| file.ends_with(format!("{name}.test.mjs")));
        (rank.unwrap_or(LONGEST.len()), file.clone())
    });
    let results = workspace::target().join("browser-tests.tsv");
    // One more than there are processors: a test also waits, for files and for animations.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let first = run(&mut node(processors + 1, &results, &files)?);
    let text = fs::read_to_string(&results).unwrap_or_default();
    let ran = outcomes(&text);
    report_times(&ran, times)?;
    let Err(failure) = first else { return Ok(()) };
    // If the runner itself ended early, other files did not run.
    if files.iter().any(|file| !ran.iter().any(|outcome| file.ends_with(outcome.file))) {
        return Err(failure);
    }
    let failed: Vec<&Outcome> = ran.iter().filter(|outcome| !outcome.passed).collect();
    let files: BTreeSet<&str> = failed.iter().map(|failed| failed.file).collect();
    if files.is_empty() || files.len() > FILES_TO_REPEAT {
        return Err(failure);
    }
    let names: String = failed.iter().map(|failed| format!("\n      {}: {}", failed.file, failed.test)).collect();
    println!("\n    once more, one file at a time, because of{names}");
    let files: Vec<PathBuf> = files.iter().map(|file| tests.join(file)).collect();
    run(&mut node(1, &results, &files)?)?;
    println!("\n    UNSTEADY, failed once and passed alone; to be mended:{names}");
    Ok(())
}

/// Node's test runner: readable output on standard output, and [`outcomes`] in `results`.
fn node(at_once: usize, results: &Path, files: &[PathBuf]) -> Result<Command> {
    let mut command = surroundings::command("node")?;
    command.arg("tests/browser/run.mjs").arg(at_once.to_string()).arg(results);
    command.args(files.iter().map(|file| file.strip_prefix(workspace::root()).unwrap_or(file)));
    Ok(command)
}

/// What became of a test.
#[derive(Debug, PartialEq)]
struct Outcome<'a> {
    passed: bool,
    seconds: f64,
    /// Below `tests/`.
    file: &'a str,
    test: &'a str,
}

/// The results as written by `tests/browser/run.mjs`.
fn outcomes(text: &str) -> Vec<Outcome<'_>> {
    let outcome = |line| {
        let [result, seconds, file, test] = <[&str; 4]>::try_from(str::split(line, '\t').collect::<Vec<_>>()).ok()?;
        Some(Outcome { passed: result == "passed", seconds: seconds.parse().ok()?, file, test })
    };
    text.lines().filter_map(outcome).collect()
}

/// Lists the slowest tests, and adds the time of each to a file.
fn report_times(ran: &[Outcome], times: &Path) -> Result<()> {
    let mut slowest: Vec<&Outcome> = ran.iter().collect();
    slowest.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    println!("\n    the slowest of {} tests:", ran.len());
    for Outcome { seconds, file, test, .. } in slowest.into_iter().take(SLOWEST) {
        println!("    {seconds:7.1} s  {file}: {test}");
    }
    let mut lines = String::new();
    for Outcome { seconds, file, test, .. } in ran {
        writeln!(lines, "{seconds:.2}\t{file}\t{test}")?;
    }
    let opened = OpenOptions::new().create(true).append(true).open(times);
    let written = opened.and_then(|mut file| file.write_all(lines.as_bytes()));
    written.with_context(|| format!("cannot write {}", times.display()))
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Outcome, outcomes};
    use crate::workspace;

    #[test]
    fn a_line_is_a_test_with_its_time_and_file() {
        let text =
            "passed\t0.20\tbrowser/check.test.mjs\tanother\nfailed\t2.41\tbrowser/check.test.mjs\ta run is cancelled\n";
        let file = "browser/check.test.mjs";
        let passed = Outcome { passed: true, seconds: 0.2, file, test: "another" };
        let failed = Outcome { passed: false, seconds: 2.41, file, test: "a run is cancelled" };
        assert_eq!(outcomes(text), [passed, failed]);
    }

    #[test]
    fn the_longest_files_exist() {
        let folder = workspace::root().join("tests").join("browser");
        for name in LONGEST {
            assert!(folder.join(format!("{name}.test.mjs")).is_file(), "{name}");
        }
    }
}
