//! Pieces of pages. Each shows a part of the state and calls its methods.

pub(crate) mod certificate;
pub(crate) mod controls;
pub(crate) mod diff;
pub(crate) mod editor;
pub(crate) mod files;
pub(crate) mod needs;
pub(crate) mod opening;
pub(crate) mod recipes;
pub(crate) mod result;
pub(crate) mod take_away;
