//! Components used by all pages.

mod code;
mod live;
mod prose;

pub(crate) use code::{Code, Coloured, coloured};
pub(crate) use live::{When, each, live};
pub(crate) use prose::Prose;
