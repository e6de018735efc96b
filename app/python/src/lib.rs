//! Python source: its syntax tree, the meanings of its names, edits of its text, and its colours.
//!
//! The only crate that uses tree-sitter and ast-grep. A [`Tree`] is parsed once; [`PythonFile`] is the view of it for
//! the crates above: nodes by number in an [`Index`], imports and scopes as [`Names`], the [`Layout`] that new code has
//! to follow. [`pattern`] matches Python with metavariables against nodes. [`edit`] writes changes of statements or
//! expressions into the text, [`importer`] adds imports, and [`imports`] determines which are read. [`compiles`] finds
//! what Python would reject in a text, and [`scopes`] names that are not defined. [`origins`] follows a value back through a project, [`modules`] its imports. [`newer`] finds code that needs a newer Python, and [`notebook`] reads and writes the cells of a notebook.
//!
//! The crate knows nothing about accelerators or training programs, and does no IO.

#[cfg(test)]
#[macro_use]
extern crate pretty_assertions;

pub mod compiles;
pub mod edit;
pub mod file;
pub mod highlight;
pub mod importer;
pub mod imports;
pub mod layout;
pub mod lines;
pub mod modules;
pub mod names;
pub mod newer;
pub mod notebook;
pub mod numbers;
pub mod origins;
pub mod packages;
pub mod pattern;
mod readable;
pub mod refactor;
pub mod scopes;
pub mod source;
pub mod strings;
pub mod syntax;
pub mod tables;
pub mod tree;

pub use edit::{Change, Splice};
pub use file::PythonFile;
pub use highlight::{Highlight, TokenClass, highlight_html, html_line};
pub use layout::Layout;
pub use names::Names;
pub use readable::open_bracket;
pub use source::{SourceFile, is_image, is_python};
pub use tree::{Id, Index, Tree, Trees};
