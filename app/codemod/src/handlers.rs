//! Handlers: the few rules that a semantic patch can't express. Each is named by a guide (`rule=NAME`), which a test
//! checks.

mod compile_and_run;
mod compiled_step;
mod compute_mode;
mod config_field;
mod first_instance;
mod graph_functions;
mod keras_imports;
mod load_bridge;
mod move_to_device;
mod named_loss;
mod newest_packages;
mod pipeline_stages;
pub(crate) mod requirements;
mod steps_per_execution;
mod strategy_scope;
mod unused_imports;
mod validation;
mod whole_batches;

use crate::configured::{is_of_another_device, is_requirements};
use crate::definitions::{BlockShape, MessageShape, Sentence, Style, Values};
use crate::settings::Settings;
use crate::step_parts::StepParts;
use python::edit::Change;
use python::tree::Id;
use sorting::SortedSet;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use training::program_start::Texts;
use training::step::Reason;
use training::{FileView, ProjectFacts};

/// A rule in Rust.
pub(crate) struct Handler {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Input<'_, '_>) -> Vec<Wish>,
    /// Its messages; a guide of its target has the texts.
    messages: &'static [MessageShape],
    /// Its obstacles from `training`; a guide of its target has their texts, too.
    obstacles: &'static [&'static [Reason]],
    /// Its blocks; a guide of its target has the Python.
    pub(crate) blocks: &'static [BlockShape],
    /// Lists of names that it reads.
    pub(crate) names: &'static [&'static str],
    /// It ports the training step, so it does nothing if something prevents the step from being ported.
    pub(crate) ports_step: bool,
}

impl Handler {
    /// A handler that uses no definitions.
    const fn new(name: &'static str, run: fn(&Input<'_, '_>) -> Vec<Wish>) -> Self {
        Self { name, run, messages: &[], obstacles: &[], blocks: &[], names: &[], ports_step: false }
    }

    /// All its messages.
    pub(crate) fn all_messages(&self) -> impl Iterator<Item = MessageShape> {
        self.messages.iter().copied().chain(obstacle_messages(self.obstacles))
    }
}

/// The messages of obstacles.
pub(crate) fn obstacle_messages(families: &[&'static [Reason]]) -> impl Iterator<Item = MessageShape> {
    families.iter().copied().flatten().map(|&(name, slots)| MessageShape { name, slots })
}

/// [`Input::patched`].
pub(crate) type PatchStep<'a> = dyn Fn(&FileView<'_>, &dyn StepParts) -> Result<Vec<Change>, Id> + 'a;

/// The data for a handler.
pub(crate) struct Input<'a, 't> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) original: &'a str,
    /// The names of the port that the original has, too, and what they become.
    pub(crate) renamed: &'a OnceCell<Vec<(String, String)>>,
    /// Imported names that the original used, with their meanings.
    pub(crate) used: &'a SortedSet<(String, String)>,
    /// None for non-Python files.
    pub(crate) view: Option<&'a FileView<'t>>,
    pub(crate) project: &'a ProjectFacts<'a, 't>,
    /// Path and text of every file of the project.
    pub(crate) files: &'a Texts<'a>,
    /// The Python files among them that can be ported, each in its place.
    pub(crate) views: &'a [Option<Rc<FileView<'t>>>],
    /// SDK, options and target.
    pub(crate) settings: &'a Settings<'a>,
    /// The target's configuration fields that the project has or gets.
    pub(crate) fields: &'a [String],
    /// Results of the patches in the handler's section for the parts of the step; the place of one that can't be written.
    pub(crate) patched: &'a PatchStep<'a>,
    /// Blocks of Python that the handler has written, by their names.
    pub(crate) written: &'a RefCell<Vec<(String, String)>>,
    /// Obstacles for the handler.
    pub(crate) notes: &'a RefCell<Vec<Note>>,
}

/// A message to the user about a place.
pub(crate) struct Note {
    /// Its place in the current text.
    pub(crate) at: usize,
    pub(crate) message: Sentence,
    pub(crate) kind: Kind,
}

/// What a message is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A place that stays as it is.
    Kept,
    /// A place that this round's edits change.
    Lost,
    /// A place that prevents the training step from being ported.
    StopsStep,
}

impl Input<'_, '_> {
    /// Whether the file is a list of requirements, and not another device's.
    pub(crate) fn is_list(&self) -> bool {
        let Settings { target_id, definitions, .. } = self.settings;
        is_requirements(self.path) && !is_of_another_device(self.path, target_id, definitions)
    }

    /// Reports a place that is unchanged.
    pub(crate) fn note(&self, view: &FileView<'_>, node: Id, message: impl Into<Sentence>) {
        self.tell(view.index.item(node).start, message, Kind::Kept);
    }

    /// Reports what the port loses with a place that this round's edits change: no later round finds it.
    pub(crate) fn note_loss(&self, view: &FileView<'_>, node: Id, message: impl Into<Sentence>) {
        self.tell(view.index.item(node).start, message, Kind::Lost);
    }

    /// Reports a place that prevents the training step from being ported.
    pub(crate) fn refuse_step(&self, view: &FileView<'_>, node: Id, message: impl Into<Sentence>) {
        self.refuse_step_at(view.index.item(node).start, message);
    }

    /// The same for a place in the text.
    pub(crate) fn refuse_step_at(&self, at: usize, message: impl Into<Sentence>) {
        self.tell(at, message, Kind::StopsStep);
    }

    fn tell(&self, at: usize, message: impl Into<Sentence>, kind: Kind) {
        self.notes.borrow_mut().push(Note { at, message: message.into(), kind });
    }

    /// A block of the guides as Python, with a file's indentation and quotes; none if a slot has no value.
    ///
    /// Options and environment variables of the target are provided in addition to `values`.
    pub(crate) fn block(&self, view: &FileView<'_>, name: &str, values: &Values) -> Option<String> {
        let values = &self.settings.facts().with(values);
        let style = Style { indent: &view.layout.indent, quote: view.layout.quote };
        let renamed = self.renamed.get_or_init(|| self.settings.definitions.renamed(self.original));
        let text = self.settings.definitions.block(name, values, style, renamed)?;
        self.written.borrow_mut().push((name.to_owned(), text.clone()));
        Some(text)
    }

    /// The same at a node, where `config.NAME` is a field next to the compute mode, and whether the project has it.
    pub(crate) fn block_at(&self, view: &FileView<'_>, node: Id, name: &str, values: &Values) -> Option<String> {
        let mut filled = values.clone();
        for field in &self.settings.target.fields {
            let known = self.fields.contains(&field.name);
            let name = format!("config.{}", field.name);
            filled = filled.text(&name, self.field(view, node, &field.name)?).flag(&name, known);
        }
        self.block(view, name, &filled)
    }

    /// Whether a list of the guides contains a name.
    pub(crate) fn lists(&self, list: &str, name: &str) -> bool {
        self.settings.definitions.listed(list, name).is_some()
    }

    /// A configuration field's expression at a node, or its fallback.
    pub(crate) fn field(&self, view: &FileView<'_>, node: Id, name: &str) -> Option<String> {
        let modes = self.project.modes.as_ref();
        let mode = modes.map(|m| m.expression_at(view, &self.project.classes, node).ok_or(())).transpose().ok()?;
        self.settings.field(name, mode.as_deref(), view.layout.quote, &|f| self.fields.iter().any(|known| known == f))
    }
}

/// The edit of a handler at one place.
pub(crate) struct Wish {
    pub(crate) at: usize,
    pub(crate) changes: Vec<Change>,
    pub(crate) imports: Vec<String>,
}

impl Wish {
    /// Changes for a node.
    pub(crate) fn new(view: &FileView<'_>, node: Id, changes: Vec<Change>) -> Self {
        Self { at: view.index.item(node).start, changes, imports: Vec::new() }
    }

    /// The same with a required import.
    pub(crate) fn importing(mut self, import: &str) -> Self {
        self.imports.push(import.to_owned());
        self
    }
}

/// Every handler.
pub(crate) fn all() -> &'static [Handler] {
    const ALL: &[Handler] = &[
        compiled_step::HANDLER,
        compile_and_run::HANDLER,
        Handler::new("add-compute-mode", compute_mode::run),
        Handler::new("add-config-field", config_field::run),
        load_bridge::HANDLER,
        Handler {
            messages: move_to_device::MESSAGES,
            blocks: move_to_device::BLOCKS,
            ..Handler::new("move-to-device", move_to_device::run)
        },
        Handler::new("validation-no-grad", validation::run),
        Handler {
            messages: first_instance::MESSAGES,
            blocks: &[first_instance::OTHERS_RETURN],
            names: &[first_instance::CHANGE_FILES],
            ..Handler::new("first-instance-files", first_instance::run)
        },
        Handler { names: &[requirements::PACKAGES], ..Handler::new("comment-requirements", requirements::run) },
        Handler { names: &[requirements::TENSORFLOW], ..Handler::new("comment-tensorflow", requirements::tensorflow) },
        Handler {
            messages: newest_packages::MESSAGES,
            names: &[newest_packages::NEWEST],
            ..Handler::new("newest-packages", newest_packages::run)
        },
        Handler {
            names: &[keras_imports::MODULES, keras_imports::LACKS],
            ..Handler::new("keras-of-tensorflow", keras_imports::run)
        },
        Handler {
            blocks: pipeline_stages::BLOCKS,
            names: &[pipeline_stages::ASSIGNMENTS],
            ..Handler::new("keras-pipeline-stages", pipeline_stages::run)
        },
        Handler::new("keras-whole-batches", whole_batches::run),
        Handler::new("keras-steps-per-execution", steps_per_execution::run),
        Handler {
            blocks: graph_functions::BLOCKS,
            names: &[graph_functions::COMPILES],
            ..Handler::new("keras-graph-functions", graph_functions::run)
        },
        Handler { names: &[strategy_scope::STRATEGIES], ..Handler::new("strategy-scope", strategy_scope::run) },
        Handler::new("drop-unused-imports", unused_imports::run),
    ];
    ALL
}
