//! The checks that every section of a guide gets without its author writing a line.

use crate::order::Map;
use crate::port::port_traced;
use crate::ported::{Options, Ported, SourceFile, Style};
use crate::recipe::RecipeSet;
use guide::{Case, ExampleKind, Guide, Section};
use std::collections::BTreeSet;

/// A promise of a guide that the engine does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// The guide, `guides/hpu.md`.
    pub path: String,
    /// Line of the example or of the rule.
    pub line: usize,
    /// What was promised, what came instead.
    pub message: String,
    /// For an `after` that is not what the engine writes: the line of the fence's body and the text to put there.
    pub fill: Option<(usize, String)>,
}

impl std::fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Runs every example of a guide and checks what it promises: `before` becomes `after`, `after` stays, `unchanged` stays,
/// the output parses, bytes outside the edits are the original's, every rule fires, no two recipes cut into one another, and
/// each says its source and its versions.
#[must_use]
pub fn check_guide(guide: &Guide, recipes: &RecipeSet) -> Vec<CheckFailure> {
    let Some(target) = &guide.front.target else { return Vec::new() };
    let mut failures = Vec::new();
    let mut fired = BTreeSet::new();
    for section in &guide.sections {
        for case in section.cases() {
            check_case(guide, target, &case, recipes, &mut fired, &mut failures);
        }
    }
    for section in guide.sections.iter().filter(|section| !section.rules.is_empty()) {
        failures.extend(ungrounded(guide, section));
    }
    for section in &guide.sections {
        every_rule_fires(guide, section, &fired, &mut failures);
    }
    failures.sort_by_key(|f| f.line);
    failures
}

fn options(target: &str, case: &Case<'_>) -> Options {
    let mut options = Map::new();
    if let Some((name, value)) = case.option.and_then(|o| o.split_once('=')) {
        options.insert(name.to_owned(), value.to_owned());
    }
    Options {
        target: target.to_owned(),
        style: if case.style == Some("branch") { Style::Branch } else { Style::InPlace },
        sdk: case.sdk.map(str::to_owned),
        allow_unsafe: case.is_unsafe,
        options,
        ..Options::default()
    }
}

fn check_case(
    guide: &Guide,
    target: &str,
    case: &Case<'_>,
    recipes: &RecipeSet,
    fired: &mut BTreeSet<(String, usize)>,
    failures: &mut Vec<CheckFailure>,
) {
    let options = options(target, case);
    let path = case.file.unwrap_or("example.py");
    let run = |text: &str, fired: &mut BTreeSet<(String, usize)>| -> (Ported, Vec<String>) {
        let file = SourceFile { path: path.to_owned(), text: text.to_owned() };
        let (ported, trace) = port_traced(&[file], recipes, &options);
        fired.extend(trace.fired);
        (ported, trace.clashes)
    };
    let (ported, clashes) = run(&case.input.text, fired);
    let text = &ported.files[0].text;
    let mut fail = |line: usize, message: String, fill: Option<(usize, String)>| {
        failures.push(CheckFailure { path: guide.path.clone(), line, message, fill });
    };
    for clash in clashes {
        fail(case.input.line, clash, None);
    }
    if case.input.kind == ExampleKind::Unchanged {
        if *text != case.input.text {
            fail(
                case.input.line,
                format!("should stay, but is changed:\n{}", difference(&case.input.text, text)),
                None,
            );
        }
    } else if text != case.expected() {
        let line = case.after.map_or(case.input.line, |a| a.line);
        let message = if case.expected().trim().is_empty() {
            "the `after` is empty: run again with UPDATE=1 to fill it".to_owned()
        } else {
            format!("`before` becomes something else:\n{}", difference(case.expected(), text))
        };
        fail(line, message, Some((line, text.clone())));
    }
    if let Some(error) = ported.files[0].diagnostics.iter().find(|d| d.severity == crate::ported::Severity::Error) {
        fail(case.input.line + error.original.line - 1, error.message.clone(), None);
    }
    let certificate = &ported.certificate;
    if !(certificate.parses && certificate.untouched_bytes_equal && certificate.comments_kept && certificate.idempotent)
    {
        fail(case.input.line, format!("the port breaks a promise: {certificate:?}"), None);
    }
    let (again, _) = run(text, &mut BTreeSet::new());
    if again.files[0].text != *text {
        fail(case.input.line, format!("a second port changes more:\n{}", difference(text, &again.files[0].text)), None);
    }
}

/// Whoever reads a change has to know what it is drawn from and which versions it was made for.
fn ungrounded(guide: &Guide, section: &Section) -> Vec<CheckFailure> {
    let wanted = [("Source:", &section.source), ("Holds for:", &section.holds_for)];
    let missing = wanted.into_iter().filter(|(_, text)| text.is_empty());
    missing
        .map(|(word, _)| CheckFailure {
            path: guide.path.clone(),
            line: section.line,
            message: format!("this recipe lacks a paragraph that begins with `{word}`"),
            fill: None,
        })
        .collect()
}

fn every_rule_fires(
    guide: &Guide,
    section: &Section,
    fired: &BTreeSet<(String, usize)>,
    failures: &mut Vec<CheckFailure>,
) {
    let id = format!("{}#{}", guide.name, section.id);
    for rule in &section.rules {
        if !fired.contains(&(id.clone(), rule.line)) {
            failures.push(CheckFailure {
                path: guide.path.clone(),
                line: rule.line,
                message: "no example of this guide makes this rule fire: add one".to_owned(),
                fill: None,
            });
        }
    }
}

/// Lines of two texts that differ, as a reader of a terminal wants them.
fn difference(expected: &str, actual: &str) -> String {
    let diff = similar::TextDiff::from_lines(expected, actual);
    let mut out = String::new();
    for change in diff.iter_all_changes() {
        let sign = match change.tag() {
            similar::ChangeTag::Delete => "-",
            similar::ChangeTag::Insert => "+",
            similar::ChangeTag::Equal => " ",
        };
        out.push_str("    ");
        out.push_str(sign);
        out.push_str(change.value().trim_end_matches('\n'));
        out.push('\n');
    }
    out
}
