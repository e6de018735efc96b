//! The porting engine: Python source to edits.
#![allow(missing_docs)]

mod diff;
mod highlight;
mod patch_file;
mod ported;
mod report;

pub use diff::{FileDiff, Hunk, Pair, Row, diff_texts};
pub use highlight::{Highlight, TokenClass, highlight_html, html_line};
pub use patch_file::{git_patch, git_patch_of};
pub use ported::{
    Applicability, Certificate, Diagnostic, Edit, FileHashes, Options, Ported, PortedFile, Severity, SourceFile, Style,
};
pub use report::report_json;
mod names;
mod rope;
mod tree;
