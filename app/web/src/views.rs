//! Pages.

pub(crate) mod port;
