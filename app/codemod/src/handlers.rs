//! Handlers: the few rules that a semantic patch can't say. Each is named by a guide (`rule=NAME`), and a test holds
//! that every one of them is.

mod asked;
mod compiled_step;
mod compute_mode;
mod config_field;
mod fetched;
mod first_instance;
mod host_loss;
mod hydra;
mod load_bridge;
mod named_loss;
mod own_reader;
mod pipeline_stages;
mod requirements;
mod steps_per_execution;
mod strategy_scope;
mod unused_imports;
mod validation;
mod whole_batches;

pub(crate) use config_field::known_fields;
pub(crate) use unused_imports::used;

use crate::change::Change;
use crate::facts::{FileView, ProjectFacts};
use crate::order::Set;
use crate::settings::Settings;
use std::cell::RefCell;

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
    pub(crate) used: &'a Set<(String, String)>,
    /// None for files that are no Python.
    pub(crate) view: Option<&'a FileView<'t>>,
    pub(crate) project: &'a ProjectFacts,
    /// Path and text of every file of the project.
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// SDK, options and target.
    pub(crate) settings: &'a Settings<'a>,
    /// The target's configuration fields that the project has or gets.
    pub(crate) fields: &'a [String],
    /// What the handler could not do.
    pub(crate) notes: &'a RefCell<Vec<Note>>,
}

/// What to tell the user of a place.
pub(crate) struct Note {
    pub(crate) range: std::ops::Range<usize>,
    pub(crate) message: String,
    /// It keeps the training step from being ported.
    pub(crate) stops_step: bool,
}

impl Input<'_, '_> {
    /// Tells the user about a place that is left as it is.
    pub(crate) fn note(&self, view: &FileView<'_>, node: crate::tree::Id, message: &str) {
        self.tell(view.index.item(node).start, message, false);
    }

    /// Tells the user about a place that keeps the training step from being ported.
    pub(crate) fn refuse_step(&self, view: &FileView<'_>, node: crate::tree::Id, message: &str) {
        self.refuse_step_at(view.index.item(node).start, message);
    }

    /// The same of a place in the text.
    pub(crate) fn refuse_step_at(&self, at: usize, message: &str) {
        self.tell(at, message, true);
    }

    fn tell(&self, at: usize, message: &str, stops_step: bool) {
        self.notes.borrow_mut().push(Note { range: at..at, message: message.to_owned(), stops_step });
    }

    /// A configuration field's expression at a node, or its fallback.
    pub(crate) fn field(&self, view: &FileView<'_>, node: crate::tree::Id, name: &str) -> Option<String> {
        let mode = self.project.modes.as_ref().map(|m| m.expression_at(view, self.project, node));
        let mode = match mode {
            Some(None) => return None,
            Some(mode) => mode,
            None => None,
        };
        self.settings.field(name, mode.as_deref(), view.layout.quote, &|f| self.fields.iter().any(|known| known == f))
    }
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
        Handler { name: "compile-training-step", run: compiled_step::run },
        Handler { name: "compile-and-run", run: host_loss::run },
        Handler { name: "add-compute-mode", run: compute_mode::run },
        Handler { name: "add-config-field", run: config_field::run },
        Handler { name: "load-bridge", run: load_bridge::run },
        Handler { name: "validation-no-grad", run: validation::run },
        Handler { name: "shard-own-reader", run: own_reader::run },
        Handler { name: "first-instance-files", run: first_instance::run },
        Handler { name: "comment-requirements", run: requirements::run },
        Handler { name: "hydra-version-base", run: hydra::run },
        Handler { name: "keras-pipeline-stages", run: pipeline_stages::run },
        Handler { name: "keras-whole-batches", run: whole_batches::run },
        Handler { name: "keras-steps-per-execution", run: steps_per_execution::run },
        Handler { name: "strategy-scope", run: strategy_scope::run },
        Handler { name: "drop-unused-imports", run: unused_imports::run },
    ]
}
