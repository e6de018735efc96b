//! The lines of notebooks that a shell runs: what the check of scripts finds in them.

use launch::{Target, lint};
use python::notebook::{CellPlace, Notebook};

/// A mistake in such a line.
pub(crate) struct ShellFinding {
    pub(crate) place: CellPlace,
    rule: String,
    message: String,
}

impl ShellFinding {
    /// `path:cell 3:1: warning[rule] message`.
    pub(crate) fn shown(&self, path: &str) -> String {
        let Self { place: CellPlace { cell, line }, rule, message } = self;
        format!("{path}:cell {cell}:{line}: warning[{rule}] {message}")
    }
}

/// The mistakes in the shell lines of a notebook. IPython replaces `$name` by the value of a Python variable, so names
/// that no shell sets are none.
pub(crate) fn findings(notebook: &Notebook, target: Target) -> Vec<ShellFinding> {
    let lines = notebook.shell_lines();
    let found = lint(&lines.script, target).findings.into_iter().filter(|finding| finding.rule != "unset-variable");
    let place = |line: usize| lines.places.get(line.saturating_sub(1)).copied();
    found
        .filter_map(|finding| {
            Some(ShellFinding { place: place(finding.line)?, rule: finding.rule, message: finding.message })
        })
        .collect()
}
