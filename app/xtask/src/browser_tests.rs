//! The browser tests, with Node's own test runner.
//!
//! A test here depends on two programs and on timing, so one of hundreds can fail for reasons other than the site.
//! Files with a failed test are therefore rerun once, one at a time, and only a second failure counts. Tests that pass
//! the second time are reported: a bug in the test or the page, to be fixed like any other.

use crate::step::run;
use crate::{surroundings, workspace};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::env;
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

/// Names the file to which the time of each test is added.
const TIMES: &str = "PORTOLAN_TEST_TIMES";

/// Runs `tests/browser/*.test.mjs`.
pub(crate) fn run_all() -> Result<()> {
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
    // Node leaves one processor free; with two, a test and its browser then share one.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let first = run(&mut node(processors.saturating_sub(1).max(2), &results, &files)?);
    let text = fs::read_to_string(&results).unwrap_or_default();
    let ran = outcomes(&text);
    report_times(&ran)?;
    let Err(failure) = first else { return Ok(()) };
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

/// Lists the slowest tests, and adds the time of each to the file named by [`TIMES`].
fn report_times(ran: &[Outcome]) -> Result<()> {
    let mut slowest: Vec<&Outcome> = ran.iter().collect();
    slowest.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    println!("\n    the slowest of {} tests:", ran.len());
    for Outcome { seconds, file, test, .. } in slowest.into_iter().take(SLOWEST) {
        println!("    {seconds:7.1} s  {file}: {test}");
    }
    let Some(place) = env::var_os(TIMES) else { return Ok(()) };
    let mut lines = String::new();
    for Outcome { seconds, file, test, .. } in ran {
        writeln!(lines, "{seconds:.2}\t{file}\t{test}")?;
    }
    let opened = OpenOptions::new().create(true).append(true).open(&place);
    let written = opened.and_then(|mut file| file.write_all(lines.as_bytes()));
    written.with_context(|| format!("cannot write {}", Path::new(&place).display()))
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
