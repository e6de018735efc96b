//! What is said on stderr.

use codemod::{Diagnostic, Ported, Severity};
use std::collections::HashSet;

/// `path:line:column: severity[recipe] message`, on one line.
pub(crate) fn message(path: &str, diagnostic: &Diagnostic) -> String {
    let Diagnostic { line, column, severity, recipe, message, .. } = diagnostic;
    let severity = word(*severity);
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{path}:{line}:{column}: {severity}[{recipe}] {message}")
}

/// The reports of a port, one a line. A remedy of several sentences is written out at its first place; at the next ones its
/// first sentence stands for it.
pub(crate) fn messages<'d>(found: impl Iterator<Item = (&'d str, &'d Diagnostic)>) -> Vec<String> {
    let mut said: HashSet<(&str, &str)> = HashSet::new();
    let line = |(path, diagnostic): (&'d str, &'d Diagnostic)| {
        let whole = message(path, diagnostic);
        if said.insert((&diagnostic.recipe, &diagnostic.message)) {
            return whole;
        }
        let words = diagnostic.message.split_once(". ").map(|(first, _)| format!("{first} (as above)"));
        words.map_or(whole, |message| self::message(path, &Diagnostic { message, ..diagnostic.clone() }))
    };
    found.map(line).collect()
}

/// The severity as the contract spells it.
pub(crate) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
        Severity::Hint => "hint",
    }
}

/// One line that sums a port up.
pub(crate) fn summary(ported: &Ported) -> String {
    let changed = ported.files.iter().filter(|file| file.changed).count();
    let edits: usize = ported.files.iter().map(|file| file.edits.len()).sum();
    let all = || ported.files.iter().flat_map(|file| &file.diagnostics);
    let of = |severity| all().filter(|diagnostic| diagnostic.severity == severity).count();
    let mut line = format!("portolan: {}", count(edits, "change"));
    line += &format!(" in {} of {}", changed, count(ported.files.len(), "file"));
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    if errors > 0 {
        line += &format!(", {}", count(errors, "error"));
    }
    if warnings > 0 {
        line += &format!(", {} for a person to look at", count(warnings, "place"));
    }
    line
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(line: usize, message: &str) -> Diagnostic {
        Diagnostic {
            line,
            column: 7,
            end_line: line,
            end_column: 9,
            severity: Severity::Warning,
            recipe: "hpu#data-parallel".into(),
            message: message.into(),
        }
    }

    #[test]
    fn a_message_is_one_line() {
        let diagnostic = diagnostic(3, "not here;\n  use DDP");
        assert_eq!(message("a.py", &diagnostic), "a.py:3:7: warning[hpu#data-parallel] not here; use DDP");
    }

    #[test]
    fn a_remedy_is_written_out_once() {
        let places = [
            diagnostic(3, "Use DDP. It has one card."),
            diagnostic(5, "Use DDP. It has one card."),
            diagnostic(6, "Use DDP"),
        ];
        let lines = messages(places.iter().map(|d| ("a.py", d)));
        let expected = [
            "3:7: warning[hpu#data-parallel] Use DDP. It has one card.",
            "5:7: warning[hpu#data-parallel] Use DDP (as above)",
            "6:7: warning[hpu#data-parallel] Use DDP",
        ];
        assert_eq!(lines, expected.map(|line| format!("a.py:{line}")));
    }
}
