//! A source file as passed to the engine.

use crate::notebook::is_notebook;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One file passed to the engine: a path relative to the project's root, with `/`, and its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path relative to the project's root.
    pub path: String,
    /// The whole text, exactly as on disk (BOM, line endings, tabs and all). Of a notebook, the program of its
    /// cells: see [`Notebook::program`](crate::notebook::Notebook::program).
    pub text: String,
}

/// The name of a path's file as one word: without `.py`, and of the rest only ASCII letters, digits and underscores;
/// none if that is empty.
#[must_use]
pub fn word_of_path(path: &str) -> Option<String> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let word: String =
        file.strip_suffix(".py").unwrap_or(file).chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    (!word.is_empty()).then_some(word)
}

/// Where a word occurs in a text.
pub fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let found = text.match_indices(word).map(move |(at, _)| at..at + word.len());
    found.filter(move |w| !text[..w.start].ends_with(of_word) && !text[w.end..].starts_with(of_word))
}

/// Whether a path is that of a Python file: `.py`, `.pyw`, a script without an extension, or a notebook, whose text is that
/// of its program.
#[must_use]
pub fn is_python(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".py") || name.ends_with(".pyw") || is_notebook(name) || !name.contains('.') && !is_image(name)
}

/// Whether a file's name is that of the description of a container's image.
#[must_use]
pub fn is_image(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["dockerfile", "containerfile"].iter().any(|known| name.starts_with(known) || name.ends_with(&format!(".{known}")))
}
