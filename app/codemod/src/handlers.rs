//! Handlers: the few rules that a semantic patch can't say. Each is named by a guide (`rule=NAME`), and a test holds
//! that every one of them is.

mod compute_mode;
mod hydra;
mod lazy_switch;
mod load_bridge;
mod requirements;
mod unused_imports;
mod validation;

pub(crate) use lazy_switch::switch_known;
pub(crate) use unused_imports::used;

use crate::change::Change;
use crate::facts::{FileView, ProjectFacts};
use std::collections::BTreeSet;

/// A rule in Rust.
pub(crate) struct Handler {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Input<'_, '_>) -> Vec<Wish>,
}

/// What a handler may look at.
pub(crate) struct Input<'a, 't> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) original: &'a str,
    /// Imported names that the original used, with what they stand for.
    pub(crate) used: &'a BTreeSet<(String, String)>,
    /// None for files that are no Python.
    pub(crate) view: Option<&'a FileView<'t>>,
    pub(crate) project: &'a ProjectFacts,
    /// Path and text of every file of the project.
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// Lazy mode is the SDK's default or asked for.
    pub(crate) lazy: bool,
    /// What `PT_HPU_LAZY_MODE` is for eager mode: `0`, before 1.13 `2`.
    pub(crate) eager_value: &'a str,
    /// How lazy mode is asked for at run time, at the place of a node.
    pub(crate) lazy_test: &'a dyn Fn(&FileView<'_>, crate::tree::Id) -> Option<String>,
}

/// What a handler wants to do at one place.
pub(crate) struct Wish {
    pub(crate) at: usize,
    pub(crate) changes: Vec<Change>,
    pub(crate) imports: Vec<String>,
}

/// Every handler.
pub(crate) fn all() -> &'static [Handler] {
    &[
        Handler { name: "add-compute-mode", run: compute_mode::run },
        Handler { name: "add-lazy-switch", run: lazy_switch::run },
        Handler { name: "load-bridge", run: load_bridge::run },
        Handler { name: "validation-no-grad", run: validation::run },
        Handler { name: "comment-requirements", run: requirements::run },
        Handler { name: "hydra-version-base", run: hydra::run },
        Handler { name: "drop-unused-imports", run: unused_imports::run },
    ]
}
