//! The texts of a port and what it says, for projects of a few files; a script that trains, to begin with.

#![allow(dead_code, reason = "each file of tests uses some of it")]

use codemod::{Options, RecipeSet, Severity, Style, port};
use python::SourceFile;

/// A script that trains.
pub(crate) const STEP: &str = "import torch
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

/// The texts of the ported files, and the warnings of them all.
pub(crate) fn ported(target: &str, files: &[(&str, &str)]) -> (Vec<String>, String) {
    let file = |(path, text): &(&str, &str)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() };
    let files: Vec<SourceFile> = files.iter().map(file).collect();
    let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
    let ported = port(&files, RecipeSet::embedded(), &options);
    let said = ported.files.iter().flat_map(|f| &f.diagnostics).filter(|d| d.severity == Severity::Warning);
    let said = said.map(|d| format!("{}: {}\n", d.original.line, d.message)).collect();
    (ported.files.iter().map(|f| f.text.clone()).collect(), said)
}

/// Asserts that the port of a script has a warning with these words.
pub(crate) fn check_said(target: &str, text: &str, words: &str) {
    let (after, said) = ported(target, &[("a.py", text)]);
    assert!(said.contains(words), "{said}{}", after[0]);
}

/// Asserts that the port of a script has no warning.
pub(crate) fn check_silent(target: &str, text: &str) {
    assert_eq!(ported(target, &[("a.py", text)]).1, "", "{text}");
}

/// The messages about a file in a folder of several.
pub(crate) fn check_in_project(target: &str, files: &[(&str, &str)], words: &str, is_said: bool) {
    let (after, said) = ported(target, files);
    assert_eq!(said.contains(words), is_said, "{words}: {said}{}", after[0]);
}
