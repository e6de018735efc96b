//! Components used by all pages.

mod code;
mod live;
mod part;
mod prose;

pub(crate) use code::{Code, Coloured, coloured};
pub(crate) use live::{When, each, live};
pub(crate) use part::{part, when_made};
pub(crate) use prose::Prose;
