//! What is left for a person, and what is worth knowing.

use super::{escape, guide_link, marked};
use crate::port::state::State;
use codemod::Severity;

/// Headings by severity, gravest first.
const GROUPS: [(Severity, &str, &str); 4] = [
    (Severity::Error, "Could not be ported", "error"),
    (Severity::Warning, "Needs you before it runs right", "warning"),
    (Severity::Info, "Worth knowing", "info"),
    (Severity::Hint, "Could be better", "hint"),
];

/// The list, by severity; each entry jumps to its line.
pub fn list(state: &State) -> String {
    let Some(outcome) = &state.outcome else { return String::new() };
    let mut html = String::new();
    for (severity, title, class) in GROUPS {
        let mut entries = Vec::new();
        for (index, file) in outcome.files.iter().enumerate() {
            for d in file.diagnostics.iter().filter(|d| d.severity == severity) {
                entries.push(format!(
                    "<li><button class=\"link place\" data-do=\"go\" data-to=\"{index} {} {}\">{}:{}</button><p>{}</p>{}</li>",
                    d.ported.line,
                    d.ported.column,
                    escape(&file.path),
                    d.ported.line,
                    marked(&d.message),
                    guide_link(state, &d.recipe),
                ));
            }
        }
        if !entries.is_empty() {
            let number = entries.len();
            html += &format!(
                "<section class=\"needs {class}\"><h3>{title} <span class=\"count\">{number}</span></h3><ul>{}</ul></section>",
                entries.concat()
            );
        }
    }
    if html.is_empty() {
        let rest = match outcome.residue.is_empty() {
            true => "",
            false => " Names of the source vendor are left; the certificate lists them.",
        };
        return format!(
            "<div class=\"state\"><h3>No messages</h3><p>The engine has no message about this port.{rest}</p></div>"
        );
    }
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Messages\">{}{html}</div>",
        outcome.overview
    )
}
