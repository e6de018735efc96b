//! The porting engine: Python source to edits.
#![allow(missing_docs)]

mod ported;

pub use ported::{
    Applicability, Certificate, Diagnostic, Edit, FileHashes, Options, Ported, PortedFile, Severity, SourceFile, Style,
};
