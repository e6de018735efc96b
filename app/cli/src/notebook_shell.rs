//! The lines of notebooks that a shell runs: what the check of scripts finds in them.

use codemod::{Diagnostic, PortedFile, Severity, Span};
use launch::{Finding, Target, lint};
use python::notebook::{CellLines, CellPlace, Notebook};
use training::words::NOTEBOOK_MAGICS;

/// The mistakes in the shell lines of a notebook, with the number of the line among them. IPython replaces `$name` by the
/// value of a Python variable, so names that no shell sets are none.
fn findings(script: &str, target: Target) -> impl Iterator<Item = (usize, Finding)> {
    let found = lint(script, target).findings.into_iter().filter(|finding| finding.rule != "unset-variable");
    found.map(|finding| (finding.line.saturating_sub(1), finding))
}

/// The findings as lines for a terminal.
pub(crate) fn messages(path: &str, notebook: &Notebook, target: Target) -> Vec<String> {
    let lines = notebook.shell_lines();
    let found = findings(&lines.script, target);
    let line = |(line, Finding { rule, message, .. })| {
        let CellPlace { cell, line } = lines.places.get(line)?;
        Some(format!("{path}:cell {cell}:{line}: warning[{rule}] {message}"))
    };
    found.filter_map(line).collect()
}

/// Adds the findings in a notebook to the messages of its port, except in lines that have a message already.
pub(crate) fn report(original: &Notebook, file: &mut PortedFile, target: &str) {
    let Some(target) = Target::named(target) else { return };
    let lines = original.shell_lines();
    let ported = file.notebook.as_ref().and_then(|json| Notebook::read(json, NOTEBOOK_MAGICS).ok());
    let places = ported.as_ref().unwrap_or(original).shell_lines().places;
    for (line, Finding { rule, message, .. }) in findings(&lines.script, target) {
        // A port keeps these lines, or has a message about one.
        let (Some(before), Some(after)) = (lines.places.get(line), places.get(line)) else { continue };
        if file.diagnostics.iter().any(|other| other.original.cell == Some(*before)) {
            continue;
        }
        file.diagnostics.push(Diagnostic {
            original: span(&original.program(), *before),
            ported: span(&file.text, *after),
            severity: Severity::Warning,
            recipe: format!("shell#{rule}"),
            message,
            stops_step: false,
        });
    }
    sorting::by_key(&mut file.diagnostics, |found| (found.original.line, found.original.column));
}

/// The line of a program that is this line of a cell, or the first of the cell: a shell's cell is one call there.
fn span(program: &str, place: CellPlace) -> Span {
    let cells = CellLines::of(program);
    let lines = || program.lines().enumerate().map(|(number, text)| (number + 1, text));
    let exact = lines().find(|(number, _)| cells.place(*number) == Some(place));
    let in_cell = || lines().find(|(number, _)| cells.place(*number).is_some_and(|other| other.cell == place.cell));
    let (line, text) = exact.or_else(in_cell).unwrap_or((1, ""));
    Span { line, column: 1, end_line: line, end_column: text.chars().count() + 1, cell: Some(place) }
}
