//! What is said on stderr.

use codemod::{Diagnostic, Ported, Severity};

/// `path:line:column: severity[recipe] message`, on one line.
pub(crate) fn message(path: &str, diagnostic: &Diagnostic) -> String {
    let Diagnostic { line, column, severity, recipe, message, .. } = diagnostic;
    let severity = word(*severity);
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{path}:{line}:{column}: {severity}[{recipe}] {message}")
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

    #[test]
    fn a_message_is_one_line() {
        let diagnostic = Diagnostic {
            line: 3,
            column: 7,
            end_line: 3,
            end_column: 9,
            severity: Severity::Warning,
            recipe: "hpu#data-parallel".into(),
            message: "not here;\n  use DDP".into(),
        };
        assert_eq!(message("a.py", &diagnostic), "a.py:3:7: warning[hpu#data-parallel] not here; use DDP");
    }
}
