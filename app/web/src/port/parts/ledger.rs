//! What an optimizer step sees and means, before and after. The worker writes it.

use super::escape;
use codemod::{Figure, Ledger, LedgerEntry, PortedFile};

/// The ledger as a section. A place of the port is a button that goes there.
pub fn section(ledger: &Ledger, files: &[PortedFile]) -> String {
    if ledger.entries.is_empty() {
        return "<section class=\"ledger\"><h3>Ledger</h3><p class=\"fine\">No loader or no training step of this project could be read, so what an \
                optimizer step sees before and after is not known.</p></section>"
            .to_owned();
    }
    let line = |LedgerEntry { quantity, before, after }: &LedgerEntry| {
        let (class, mark) = match before.text == after.text {
            true => ("", ""),
            false => (" class=\"changed\"", "<span class=\"badge\">changed</span>"),
        };
        format!(
            "<tr{class}><th scope=\"row\">{quantity} {mark}</th><td>{}</td><td>{}</td></tr>",
            old(before),
            new(after, files)
        )
    };
    let lines: String = ledger.entries.iter().map(line).collect();
    let flags: String = ledger.flags.iter().map(|flag| format!("<li>{}.</li>", escape(flag))).collect();
    let flags = match flags.is_empty() {
        true => "<p>By these figures a step means what it meant.</p>".to_owned(),
        false => format!("<ul class=\"flags\">{flags}</ul>"),
    };
    format!(
        "<section class=\"ledger\"><h3>Ledger</h3><table><caption>What an optimizer step sees and means, read off the text</caption>\
         <thead><tr><th scope=\"col\">Quantity</th><th scope=\"col\">Original</th><th scope=\"col\">Port</th></tr></thead>\
         <tbody>{lines}</tbody></table>{flags}</section>"
    )
}

fn old(figure: &Figure) -> String {
    let place = figure.place.as_ref();
    let place = place.map(|(path, line)| format!("<small>{}:{line}</small>", escape(path))).unwrap_or_default();
    format!("{} {place}", escape(&figure.text))
}

fn new(figure: &Figure, files: &[PortedFile]) -> String {
    let place = figure.place.as_ref().and_then(|(path, line)| {
        let file = files.iter().position(|file| file.path == *path)?;
        let path = escape(path);
        Some(format!("<button class=\"link\" data-do=\"go\" data-to=\"{file} {line} 1\">{path}:{line}</button>"))
    });
    format!("{} {}", escape(&figure.text), place.unwrap_or_default())
}
