//! How long each test takes. Test programs append lines `seconds<TAB>program<TAB>test` to the file named by
//! `PORTOLAN_TEST_TIMES`; for Rust's own test programs, `cargo xtask timed` does it, as the runner that cargo starts them with.

use crate::step::{ask, quoted};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable with the path of the file.
pub(crate) const FILE: &str = "PORTOLAN_TEST_TIMES";

/// The file of this run.
pub(crate) fn file() -> PathBuf {
    workspace::target().join("test-times.tsv")
}

/// Forgets the times of the last run.
pub(crate) fn clear() -> Result<()> {
    fs::write(file(), "").with_context(|| format!("cannot write {}", file().display()))
}

/// Cargo's arguments that make it start test programs through `cargo xtask timed`.
pub(crate) fn runner() -> Result<[String; 2]> {
    let version = ask("rustc", &["-vV"]).context("rustc is missing")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc reports no host")?;
    let runner = [workspace::own_program()?.display().to_string(), "timed".to_owned()];
    Ok(["--config".to_owned(), format!("target.{host}.runner={}", serde_json::json!(runner))])
}

/// How many failed tests have a command to repeat them.
const REPEATED: usize = 5;

/// `cargo xtask timed PROGRAM …`: runs a test program and keeps the times of its tests. Of tests that pass or are ignored, only
/// their number is shown; for those that fail, the command that runs one alone.
pub(crate) fn run_timed(program: &str, arguments: &[&str]) -> Result<()> {
    let can_time = ask(program, &["--help"]).is_some_and(|help| help.contains("--report-time"));
    let mut command = Command::new(program);
    command.args(arguments);
    if can_time {
        // The option is unstable, and this allows it at run time. (At build time it would compile packages anew.)
        command.env("RUSTC_BOOTSTRAP", "1").args(["-Zunstable-options", "--report-time"]);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {program}"))?;
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let name = shown(Path::new(program), &package);
    let (mut times, mut failed) = (String::new(), Vec::new());
    for line in BufReader::new(child.stdout.take().context("no pipe")?).lines() {
        let line = line.context("cannot read a test program's output")?;
        match timed(&line).filter(|_| can_time) {
            Some((test, seconds)) => times += &format!("{seconds}\t{name}\t{test}\n"),
            // Other test programs keep their own times.
            None if is_quiet(&line) => {}
            None => {
                failed.extend(failure(&line).map(str::to_owned));
                println!("{line}");
            }
        }
    }
    if let Some(file) = std::env::var_os(FILE) {
        let mut file =
            OpenOptions::new().append(true).create(true).open(file).context("cannot write the times of tests")?;
        file.write_all(times.as_bytes()).context("cannot write the times of tests")?;
    }
    let status = child.wait()?;
    if status.success() {
        return Ok(());
    }
    for test in failed.iter().take(REPEATED) {
        println!("to repeat: {}", alone(Path::new(program), &package, test));
    }
    if failed.is_empty() {
        bail!("{name} ended early; to repeat it: cargo xtask as-tested {program}");
    }
    // Cargo adds no words of its own to this status of a test program.
    std::process::exit(101);
}

/// Whether a line says nothing but that a test passed or was ignored.
fn is_quiet(line: &str) -> bool {
    line.is_empty() || line.starts_with("test ") && (line.ends_with(" ok") || line.contains(" ... ignored"))
}

/// The test of a line `test a::b ... FAILED <0.012s>`.
fn failure(line: &str) -> Option<&str> {
    let (test, _) = line.strip_prefix("test ")?.split_once(" ... FAILED")?;
    Some(test.trim_end_matches(" - should panic"))
}

/// The command that runs one test of a program.
fn alone(program: &Path, package: &str, test: &str) -> String {
    let name = own_name(program);
    let target = match &*name {
        "it" | "whole" | "twins" => format!("--test {name}"),
        // Cargo starts test programs in the folder of their package.
        _ if name == package && ["src/lib.rs", "lib.rs"].iter().any(|file| Path::new(file).is_file()) => {
            "--lib".to_owned()
        }
        _ => format!("--bin {name}"),
    };
    format!("cargo xtask as-tested cargo test -p {package} {target} -- {}", quoted(OsStr::new(test)))
}

/// `test a::b ... ok <0.012s>`.
fn timed(line: &str) -> Option<(&str, &str)> {
    let (test, seconds) = line.strip_prefix("test ")?.split_once(" ... ok <")?;
    Some((test, seconds.strip_suffix("s>")?))
}

/// The name of a program without cargo's hash.
fn own_name(program: &Path) -> String {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    stem.rsplit_once('-').map_or(stem.clone(), |(name, _)| name.to_owned())
}

/// A test program by its package and its own name.
fn shown(program: &Path, package: &str) -> String {
    let name = own_name(program);
    if package.is_empty() || name == package { name } else { format!("{package} {name}") }
}

/// Lists the slowest tests of this run.
pub(crate) fn show_slowest(count: usize) {
    let lines = slowest(&fs::read_to_string(file()).unwrap_or_default(), count);
    if !lines.is_empty() {
        println!("\nThe slowest tests, of all in target/test-times.tsv:\n{}", lines.join("\n"));
    }
}

fn slowest(text: &str, count: usize) -> Vec<String> {
    let read = |line| {
        let mut parts = str::splitn(line, 3, '\t');
        Some((parts.next()?.parse::<f64>().ok()?, parts.next()?, parts.next()?))
    };
    let mut tests: Vec<_> = text.lines().filter_map(read).collect();
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    tests
        .iter()
        .take(count)
        .map(|(seconds, program, test)| format!("    {seconds:>7.1} s  {program}  {test}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_passed_test_is_read() {
        assert_eq!(timed("test a::b ... ok <0.012s>"), Some(("a::b", "0.012")));
        assert_eq!(timed("test a::b ... FAILED <0.012s>"), None);
        assert_eq!(timed("test result: ok. 3 passed"), None);
    }

    #[test]
    fn a_failed_test_has_a_command_that_runs_it_alone() {
        assert_eq!(failure("test a::b ... FAILED <0.012s>"), Some("a::b"));
        assert_eq!(failure("test a::b - should panic ... FAILED"), Some("a::b"));
        assert_eq!(failure("test a::b ... ok <0.012s>"), None);
        let check = |program: &str, package: &str, test: &str, expected: &str| {
            let command = alone(Path::new(&format!("target/debug/deps/{program}-0123456789abcdef")), package, test);
            assert_eq!(command, format!("cargo xtask as-tested cargo test -p {expected}"));
        };
        check("it", "codemod", "step::loss::a_loss", "codemod --test it -- step::loss::a_loss");
        check("twins", "tests", "examples::a b", "tests --test twins -- 'examples::a b'");
        check("portolan", "cli", "args::tests::all", "cli --bin portolan -- args::tests::all");
        // This package has no library, which the working folder tells.
        check("xtask", "xtask", "a", "xtask --bin xtask -- a");
    }

    #[test]
    fn ignored_tests_are_not_listed() {
        for line in ["", "test a ... ok", "test a ... ignored, its cause", "test a ... ignored"] {
            assert!(is_quiet(line), "{line}");
        }
        assert!(!is_quiet("test a ... FAILED") && !is_quiet("test result: ok. 3 passed"));
    }

    #[test]
    fn the_slowest_come_first() {
        let text = "0.5\tit\tb\n0.25\tit\tc\n12.25\tbrowser\ta test with spaces\nno time\n";
        assert_eq!(slowest(text, 2), ["       12.2 s  browser  a test with spaces", "        0.5 s  it  b"]);
    }

    #[test]
    fn a_program_is_named_by_its_package() {
        let check = |program: &str, package: &str, expected: &str| {
            assert_eq!(shown(Path::new(program), package), expected);
        };
        check("target/debug/deps/it-0123456789abcdef", "cli", "cli it");
        check("target/debug/deps/training-0123456789abcdef", "training", "training");
        check("target/debug/deps/it-0123456789abcdef", "", "it");
    }
}
