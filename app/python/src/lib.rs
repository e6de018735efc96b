//! Python source: its syntax tree, what its names stand for, edits of its text, and its colours.
//!
//! The one crate that knows tree-sitter and ast-grep. A [`Tree`] is parsed once; [`PythonFile`] is the view of it that the
//! crates above work with: nodes by number in an [`Index`], imports and scopes as [`Names`], the [`Layout`] that new code has to
//! follow. [`pattern`] matches Python with metavariables against nodes. [`edit`] says how a change of statements or expressions is
//! written into the text, and [`importer`] adds imports, while
//! [`imports`] says which are read. What Python would refuse or not find in a text is said by [`compiles`] and [`scopes`].
//!
//! The crate knows no accelerator and no training program, and does no IO.

pub mod compiles;
pub mod edit;
pub mod file;
pub mod highlight;
pub mod importer;
pub mod imports;
pub mod layout;
pub mod lines;
pub mod names;
pub mod numbers;
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
pub use source::{SourceFile, is_python};
pub use tree::{Id, Index, Tree, Trees};
