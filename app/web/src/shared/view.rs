//! Components that all pages use.

mod code;
mod prose;

pub(crate) use code::{Code, coloured};
pub(crate) use prose::Prose;
