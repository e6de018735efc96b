//! Ports of texts, and what tests assert of them: the new text, and the messages.

use codemod::{Options, Ported, RecipeSet, Severity, Style, port};
use python::SourceFile;

/// A script that trains.
pub(super) const SCRIPT: &str = "import torch
from torch.nn import functional as F

model = torch.nn.Linear(3, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in loader:
    out = model(x)
    loss = F.mse_loss(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
";

/// Options for a port of which nothing is for another device.
pub(super) fn in_place(target: &str) -> Options {
    Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() }
}

/// The port of files, each a path with its text.
pub(super) fn port_files(files: &[(&str, &str)], options: &Options) -> Ported {
    let file = |(path, text): &(&str, &str)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() };
    port(&files.iter().map(file).collect::<Vec<_>>(), RecipeSet::embedded(), options)
}

/// The port of one file in place.
pub(super) fn port_script(target: &str, text: &str) -> Ported {
    port_files(&[("a.py", text)], &in_place(target))
}

/// The text of a script's port, and all messages with their lines.
pub(super) fn ported_script(target: &str, text: &str) -> (String, String) {
    let mut ported = port_script(target, text);
    assert!(ported.certificate.parses && ported.certificate.idempotent);
    let file = ported.files.remove(0);
    let said = file.diagnostics.iter().map(|d| format!("{}: {}\n", d.original.line, d.message)).collect();
    (file.text, said)
}

/// The texts of the ported files, and the warnings of them all with their lines.
pub(super) fn ported(target: &str, files: &[(&str, &str)]) -> (Vec<String>, String) {
    let ported = port_files(files, &in_place(target));
    let said = ported.files.iter().flat_map(|f| &f.diagnostics).filter(|d| d.severity == Severity::Warning);
    let said = said.map(|d| format!("{}: {}\n", d.original.line, d.message)).collect();
    (ported.files.into_iter().map(|f| f.text).collect(), said)
}

/// Ports a file in place, twice; the second time must change nothing.
#[track_caller]
pub(super) fn check_bytes(target: &str, before: &str, after: &str) {
    let ported = port_script(target, before);
    assert_eq!(ported.files[0].text, after, "{:?}", ported.files[0].diagnostics);
    let c = &ported.certificate;
    assert!(c.parses && c.idempotent && c.untouched_bytes_equal && c.comments_kept, "{c:?}");
    assert_eq!(port_script(target, after).files[0].text, after);
}

/// The same with LF and with CRLF.
#[track_caller]
pub(super) fn check(target: &str, before: &str, after: &str) {
    for newline in ["\n", "\r\n"] {
        check_bytes(target, &before.replace('\n', newline), &after.replace('\n', newline));
    }
}

/// A change that is not made because of its result, and is reported.
#[track_caller]
pub(super) fn check_unchanged(target: &str, text: &str, line: usize, words: &str) {
    assert_eq!(port_script(target, text).files[0].text, text);
    check_said_at(target, text, line, words);
}

/// A message at a line, with some words of it.
#[track_caller]
pub(super) fn check_said_at(target: &str, text: &str, line: usize, words: &str) {
    let ported = port_script(target, text);
    let mut there = ported.files[0].diagnostics.iter().filter(|d| d.original.line == line);
    assert!(there.any(|d| d.message.contains(words)), "{:?}", ported.files[0].diagnostics);
}

/// A warning about a script, with some words of it.
#[track_caller]
pub(super) fn check_said(target: &str, text: &str, words: &str) {
    check_in_project(target, &[("a.py", text)], words, true);
}

/// No warning about a script.
#[track_caller]
pub(super) fn check_silent(target: &str, text: &str) {
    assert_eq!(ported(target, &[("a.py", text)]).1, "", "{text}");
}

/// Whether there is a warning about a project, with these words.
#[track_caller]
pub(super) fn check_in_project(target: &str, files: &[(&str, &str)], words: &str, is_said: bool) {
    let (after, said) = ported(target, files);
    assert_eq!(said.contains(words), is_said, "{words}: {said}{}", after[0]);
}

/// A step that begins with other statements.
pub(super) fn begins_with(statements: &str) -> String {
    SCRIPT.replace("import torch\n", &format!("import torch\n{statements}"))
}
