//! Numbers and expressions of a program, with their places.

use python::{Id, PythonFile};

/// A number or an expression of the program, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figure {
    /// `32`, `args.batch_size`.
    pub(crate) text: String,
    /// Path and line, from 1; none for a default.
    pub(crate) place: Option<(String, usize)>,
}

impl Figure {
    /// A figure with this text at the location of a node.
    pub(crate) fn at(file: &PythonFile<'_>, id: Id, text: &str) -> Self {
        Self { text: text.to_owned(), place: Some(place_of(file, id)) }
    }

    /// The expression that a node is.
    pub(crate) fn of(file: &PythonFile<'_>, id: Id) -> Self {
        Self::at(file, id, file.index.text_of(id))
    }

    /// A missing figure is 1.
    pub(crate) fn one() -> Self {
        Self { text: "1".to_owned(), place: None }
    }

    /// Whether it is the literal 1.
    pub(crate) fn is_one(&self) -> bool {
        self.text == "1"
    }
}

/// Path and line, from 1, of a node.
pub(crate) fn place_of(file: &PythonFile<'_>, id: Id) -> (String, usize) {
    (file.path.to_owned(), file.index.line(id))
}
