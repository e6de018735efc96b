//! A single script's port to a target that compiles its training step.

use codemod::{Options, RecipeSet, Style, port};
use python::SourceFile;

/// The ported text, and the messages.
pub(crate) fn to(target: &str, text: &str) -> (String, String) {
    let file = SourceFile { path: "a.py".to_owned(), text: text.to_owned() };
    let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
    let ported = port(&[file], RecipeSet::embedded(), &options);
    assert!(ported.certificate.parses && ported.certificate.idempotent);
    let said = ported.files[0].diagnostics.iter().map(|d| format!("{}: {}\n", d.original.line, d.message)).collect();
    (ported.files[0].text.clone(), said)
}
