//! The porting engine: Python source to edits.
#![allow(missing_docs)]

mod diff;
mod ported;

pub use diff::{FileDiff, Hunk, Pair, Row, diff_texts};
pub use ported::{
    Applicability, Certificate, Diagnostic, Edit, FileHashes, Options, Ported, PortedFile, Severity, SourceFile, Style,
};
mod names;
mod rope;
mod tree;
