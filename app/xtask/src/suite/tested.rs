//! `target/tested.toml`: the last run of all steps. `cargo xtask tested` compares it with HEAD.

use super::Passed;
use super::inputs::Snapshot;
use crate::step::ask;
use crate::workspace;
use anyhow::{Context, Result, anyhow};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

fn file() -> PathBuf {
    workspace::target().join("tested.toml")
}

/// Writes the record of a run of all steps.
pub(super) fn record(before: &Snapshot, steps: &[Passed], start: Instant, passed: bool) -> Result<()> {
    let unchanged = Snapshot::take()?.is_some_and(|now| now.tree == before.tree);
    if !unchanged {
        println!("\n    files changed during the run, so it does not count for either state");
    }
    let date = humantime::format_rfc3339_seconds(std::time::SystemTime::now());
    let text = text(&before.tree, &date.to_string(), steps, start.elapsed().as_secs_f64(), passed && unchanged);
    fs::write(file(), text).with_context(|| format!("cannot write {}", file().display()))
}

fn text(tree: &str, date: &str, steps: &[Passed], seconds: f64, passed: bool) -> String {
    let mut text = format!("tree = \"{tree}\"\ndate = \"{date}\"\npassed = {passed}\nseconds = {seconds:.1}\n");
    for Passed { name, seconds, reused } in steps {
        let _ = write!(text, "\n[steps.{name}]\nseconds = {seconds:.1}\nreused = {reused}\n");
    }
    text
}

/// `cargo xtask tested`: whether the whole of HEAD's tree has passed.
pub(crate) fn say_tested() -> Result<()> {
    let root = workspace::root().display().to_string();
    let head = ask("git", &["-C", &root, "rev-parse", "HEAD^{tree}"]).context("this is not a git checkout")?;
    let text = fs::read_to_string(file()).unwrap_or_default();
    let status = ask("git", &["-C", &root, "-c", "core.quotePath=false", "status", "--porcelain"]).unwrap_or_default();
    println!("{}", verdict(&text, &head).map_err(|fault| anyhow!("{}", untested(&fault, &status)))?);
    Ok(())
}

/// Why HEAD counts as untested, and what to do; `status` is git's, of the checkout.
fn untested(fault: &str, status: &str) -> String {
    // A state in two columns, which `ask` may have trimmed, and a path.
    let changed: Vec<&str> =
        status.lines().filter_map(|line| Some(line.trim_start().split_once(' ')?.1.trim())).collect();
    if changed.is_empty() {
        return format!("{fault} Run cargo xtask test.");
    }
    let more = if changed.len() > 4 { format!(" and {} more", changed.len() - 4) } else { String::new() };
    let named = changed[..changed.len().min(4)].join(", ");
    format!("The checkout differs from HEAD in {named}{more}: commit or remove the changes, then run cargo xtask test.")
}

/// A sentence about HEAD's tree; an error unless it has passed.
fn verdict(text: &str, head: &str) -> Result<String, String> {
    let field = |name: &str| {
        let mut lines = text.lines().take_while(|line| !line.starts_with('['));
        lines.find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(" = ")?.trim_matches('"')))
    };
    let (Some(tree), Some(date), Some(seconds)) = (field("tree"), field("date"), field("seconds")) else {
        return Err("No run of all steps is recorded in target/tested.toml.".to_owned());
    };
    if tree != head {
        return Err(format!("The last run of all steps, {date}, was of another tree: {tree}, not {head}."));
    }
    match field("passed") {
        Some("true") => Ok(format!("All steps passed on the tree of HEAD, {head}, in {seconds} s, {date}.")),
        _ => Err(format!("The last run of all steps on the tree of HEAD, {date}, did not pass.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(passed: bool) -> String {
        let steps = [
            Passed { name: "format", seconds: 1.25, reused: false },
            Passed { name: "lints", seconds: 70.0, reused: true },
        ];
        text("1f2e", "2026-01-02T03:04:05Z", &steps, 61.04, passed)
    }

    #[test]
    fn a_run_is_recorded_with_the_seconds_of_its_steps() {
        let expected = "tree = \"1f2e\"\ndate = \"2026-01-02T03:04:05Z\"\npassed = true\nseconds = 61.0\n\n\
                        [steps.format]\nseconds = 1.2\nreused = false\n\n[steps.lints]\nseconds = 70.0\nreused = true\n";
        assert_eq!(record(true), expected);
    }

    #[test]
    fn an_untested_head_has_a_remedy() {
        assert_eq!(untested("No run.", ""), "No run. Run cargo xtask test.");
        let changed =
            "The checkout differs from HEAD in a.rs, b.md: commit or remove the changes, then run cargo xtask test.";
        assert_eq!(untested("No run.", "M a.rs\n?? b.md"), changed);
        let many: String = (1..=6).map(|n| format!(" M {n}.rs\n")).collect();
        assert!(untested("No run.", &many).contains("in 1.rs, 2.rs, 3.rs, 4.rs and 2 more: "));
    }

    #[test]
    fn only_a_whole_run_of_the_same_tree_counts() {
        let check = |text: &str, head: &str, words: &str, counts: bool| {
            let said = verdict(text, head);
            assert_eq!(said.is_ok(), counts, "{said:?}");
            let said = said.unwrap_or_else(|said| said);
            assert!(said.contains(words), "{said}");
        };
        check(&record(true), "1f2e", "All steps passed on the tree of HEAD, 1f2e, in 61.0 s", true);
        check(&record(true), "9a9a", "another tree", false);
        check(&record(false), "1f2e", "did not pass", false);
        check("", "1f2e", "No run of all steps", false);
    }
}
