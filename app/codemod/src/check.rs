//! The automatic checks of every section of a guide.

use crate::example::Example;
use crate::port::{Trace, port_traced};
use crate::ported::{Options, Ported, Severity, SourceFile};
use crate::recipe::RecipeSet;
use guide::{Case, ExampleKind, Guide, Section};
use sorting::SortedSet;

/// A statement of a guide that is not true of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// The guide, `guides/hpu.md`.
    pub path: String,
    /// Line of the example or of the rule.
    pub line: usize,
    /// The expectation, and the actual result.
    pub message: String,
    /// For an `after` that differs from the engine's output: the line of the fence's body and the new text.
    pub fill: Option<(usize, String)>,
}

impl std::fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Runs every example of a guide and checks it: `before` becomes `after`, `after` and `unchanged` do not change, the
/// output parses, bytes outside the edits are unchanged, every rule fires, recipes do not overlap, and each has its
/// source and its versions.
#[must_use]
pub fn check_guide(guide: &Guide, recipes: &RecipeSet) -> Vec<CheckFailure> {
    let Some(target) = &guide.front.target else { return Vec::new() };
    let mut failures = Vec::new();
    let mut seen = Seen::default();
    for section in &guide.sections {
        for case in section.cases() {
            check_case(guide, target, &case, recipes, &mut seen, &mut failures);
        }
    }
    failures.extend(unshown_blocks(guide, &seen));
    failures.extend(modules(guide, target, recipes, &seen));
    for section in guide.sections.iter().filter(|section| section.is_recipe()) {
        failures.extend(ungrounded(guide, section));
    }
    for section in &guide.sections {
        every_rule_fires(guide, section, &seen.fired, &mut failures);
    }
    sorting::by_key(&mut failures, |f| f.line);
    failures
}

/// Facts collected while running the examples of a guide.
#[derive(Default)]
struct Seen {
    /// Recipe and line of the rules that matched.
    fired: SortedSet<(String, usize)>,
    /// Blocks of Python that an `after` contains in full.
    blocks: SortedSet<String>,
    /// Recipes whose module was added.
    added: SortedSet<String>,
}

fn check_case(
    guide: &Guide,
    target: &str,
    case: &Case<'_>,
    recipes: &RecipeSet,
    seen: &mut Seen,
    failures: &mut Vec<CheckFailure>,
) {
    let Example { file, options } = Example::of(target, case);
    let run = |text: &str| -> (Ported, Trace) {
        let file = SourceFile { path: file.path.clone(), text: text.to_owned() };
        port_traced(&[file], recipes, &options)
    };
    let (ported, trace) = run(&case.input.text);
    seen.fired.extend(trace.fired);
    seen.added.extend(ported.new_files().flat_map(|file| &file.edits).map(|edit| edit.recipe.clone()));
    let text = &ported.files[0].text;
    let expected = with_blocks(case.expected(), text, &trace.blocks);
    let shown = trace.blocks.iter().filter(|(_, written)| expected == *text && shows(case.expected(), written));
    seen.blocks.extend(shown.map(|(name, _)| name.clone()));
    let mut fail = |line: usize, message: String, fill: Option<(usize, String)>| {
        failures.push(CheckFailure { path: guide.path.clone(), line, message, fill });
    };
    for clash in trace.clashes {
        fail(case.input.line, clash, None);
    }
    if case.input.kind == ExampleKind::Unchanged {
        if *text != case.input.text {
            fail(
                case.input.line,
                format!("should be unchanged, but became:\n{}", difference(&case.input.text, text)),
                None,
            );
        }
    } else if *text != expected {
        let line = case.after.map_or(case.input.line, |a| a.line);
        let message = if case.expected().trim().is_empty() {
            "the `after` is empty: run again with UPDATE=1 to fill it".to_owned()
        } else {
            format!("`before` gives a different result:\n{}", difference(&expected, text))
        };
        fail(line, message, Some((line, without_blocks(case.expected(), text, &trace.blocks))));
    }
    if let Some(error) = ported.files[0].diagnostics.iter().find(|d| d.severity == Severity::Error) {
        fail(case.input.line + error.original.line - 1, error.message.clone(), None);
    }
    let certificate = &ported.certificate;
    let promises = [
        (certificate.parses, "the ported code is not valid Python"),
        (certificate.untouched_bytes_equal, "the port changes text outside its edits"),
        (certificate.comments_kept, "the port loses a comment"),
        (certificate.idempotent, "the port does not converge: a rule matches its own output or another rule's"),
    ];
    for (_, broken) in promises.iter().filter(|(kept, _)| !kept) {
        fail(case.input.line, (*broken).to_owned(), None);
    }
    let (again, _) = run(text);
    if again.files[0].text != *text {
        fail(
            case.input.line,
            format!("a second port makes more changes:\n{}", difference(text, &again.files[0].text)),
            None,
        );
    }
}

/// An `after` with its `{{block NAME}}` lines replaced. If a block was written in several forms, the form that gives
/// the engine's text is used, if there is one.
fn with_blocks(after: &str, text: &str, written: &[(String, String)]) -> String {
    let Some((name, indent)) = after.lines().find_map(block_line) else { return after.to_owned() };
    let line = format!("{indent}{{{{block {name}}}}}");
    let mut last = None;
    for (_, block) in written.iter().filter(|(block, _)| block == name) {
        let full = with_blocks(&after.replacen(&line, &indented(block, indent), 1), text, written);
        if full == text {
            return full;
        }
        last = Some(full);
    }
    // No block of that name was written: the line is kept, and the difference shows it.
    last.unwrap_or_else(|| after.to_owned())
}

/// The engine's text for an `after`, with its `{{block NAME}}` lines restored.
fn without_blocks(after: &str, text: &str, written: &[(String, String)]) -> String {
    let mut text = text.to_owned();
    for (name, indent) in after.lines().filter_map(block_line) {
        for (_, block) in written.iter().filter(|(block, _)| block == name) {
            text = text.replacen(&indented(block, indent), &format!("{indent}{{{{block {name}}}}}"), 1);
        }
    }
    text
}

/// Name and indentation of a `{{block NAME}}` line.
fn block_line(line: &str) -> Option<(&str, &str)> {
    let code = line.trim_start();
    let name = code.strip_prefix("{{block ")?.strip_suffix("}}")?;
    Some((name, &line[..line.len() - code.len()]))
}

fn indented(block: &str, indent: &str) -> String {
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
    block.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Whether an `after` contains a block in full, at any indentation or inside a line.
fn shows(after: &str, block: &str) -> bool {
    let first = block.lines().find(|line| !line.is_empty()).unwrap_or_default();
    let indents = after.lines().filter_map(|line| line.strip_suffix(first));
    after.contains(block) || indents.into_iter().any(|indent| after.contains(&indented(block.trim(), indent)))
}

/// A block must be shown once to those who use it.
fn unshown_blocks(guide: &Guide, seen: &Seen) -> Vec<CheckFailure> {
    let definitions = guide.sections.iter().flat_map(|section| &section.definitions);
    let blocks = definitions.filter(|definition| matches!(definition.what, guide::Defined::Block(_)));
    blocks
        .filter(|block| !seen.blocks.contains(&block.name))
        .map(|block| CheckFailure {
            path: guide.path.clone(),
            line: block.line,
            message: format!("no example of this guide shows `{{{{block {}}}}}` in full: add one", block.name),
            fill: None,
        })
        .collect()
}

/// A module that ports add is Python that a port leaves as it is, and some example imports it.
fn modules(guide: &Guide, target: &str, recipes: &RecipeSet, seen: &Seen) -> Vec<CheckFailure> {
    let mut failures = Vec::new();
    for section in &guide.sections {
        for definition in &section.definitions {
            let guide::Defined::Module(text) = &definition.what else { continue };
            let mut fail = |message: String| {
                let path = guide.path.clone();
                failures.push(CheckFailure { path, line: definition.line, message, fill: None });
            };
            let file = SourceFile { path: format!("{}.py", definition.name), text: text.clone() };
            let options = Options { target: target.to_owned(), ..Options::default() };
            let (ported, _) = port_traced(&[file], recipes, &options);
            if ported.files[0].changed {
                fail(format!("a port changes this module:\n{}", difference(text, &ported.files[0].text)));
            }
            for said in ported.files[0].diagnostics.iter().filter(|said| said.severity <= Severity::Warning) {
                fail(format!("line {} of this module: {}", said.original.line, said.message));
            }
            if !seen.added.contains(&format!("{}#{}", guide.name, section.id)) {
                fail(format!("no example of this guide imports `{}`, so no port adds it", definition.name));
            }
        }
    }
    failures
}

/// Readers of a change have to know its source and the versions for which it was made.
fn ungrounded(guide: &Guide, section: &Section) -> Vec<CheckFailure> {
    let wanted = [("Source:", &section.source), ("Holds for:", &section.holds_for)];
    let missing = wanted.into_iter().filter(|(_, text)| text.is_empty());
    missing
        .map(|(word, _)| CheckFailure {
            path: guide.path.clone(),
            line: section.line,
            message: format!("this recipe needs a paragraph that begins with `{word}`"),
            fill: None,
        })
        .collect()
}

fn every_rule_fires(
    guide: &Guide,
    section: &Section,
    fired: &SortedSet<(String, usize)>,
    failures: &mut Vec<CheckFailure>,
) {
    let id = format!("{}#{}", guide.name, section.id);
    for rule in &section.rules {
        if !fired.contains(&(id.clone(), rule.line)) {
            failures.push(CheckFailure {
                path: guide.path.clone(),
                line: rule.line,
                message: "this rule matches in no example of this guide: add one".to_owned(),
                fill: None,
            });
        }
    }
}

/// The different lines of two texts, for a terminal.
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
