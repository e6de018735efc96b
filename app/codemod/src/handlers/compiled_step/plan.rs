//! The changes of one training step, collected part by part.

use super::{Input, Wish};
use crate::definitions::Values;
use python::edit::Change;
use python::tree::{Id, ROOT};
use training::TrainingStep;

/// All facts about one training step.
pub(super) struct Plan<'a, 't> {
    pub(super) input: &'a Input<'a, 't>,
    pub(super) step: TrainingStep<'a, 't>,
    /// The file's steps that are ported with it, itself included, and whether it is the first, which handles code outside of
    /// all.
    pub(super) wholes: &'a [Id],
    pub(super) is_first: bool,
    /// Statements around or next to the step that have to be simplified first.
    pub(super) simpler: Vec<Wish>,
    pub(super) edits: Vec<Wish>,
    /// Whether the new code runs an inference model, releases the target, and passes on rates out of the step's reach.
    pub(super) infers: bool,
    pub(super) releases: bool,
    pub(super) tells_rates: bool,
}

impl<'a, 't> Plan<'a, 't> {
    /// No changes yet.
    pub(super) fn new(input: &'a Input<'a, 't>, step: TrainingStep<'a, 't>, wholes: &'a [Id]) -> Self {
        let is_first = wholes.iter().all(|whole| step.whole <= *whole);
        Self {
            input,
            step,
            wholes,
            is_first,
            simpler: Vec::new(),
            edits: Vec::new(),
            infers: false,
            releases: false,
            tells_rates: false,
        }
    }

    /// Whether no other step of the file is ported with it.
    pub(super) fn is_alone(&self) -> bool {
        self.wholes.len() == 1
    }

    /// A node around all places that this step is responsible for.
    pub(super) fn responsible_for(&self) -> Id {
        if self.is_first { ROOT } else { self.step.whole }
    }

    /// Whether this step is responsible for a place: it is its own, or no step's and this is the first.
    pub(super) fn sees_to(&self, id: Id) -> bool {
        let index = &self.step.file.view.index;
        let in_other = || self.wholes.iter().any(|whole| index.is_within(id, *whole));
        index.is_within(id, self.step.whole) || self.is_first && !in_other()
    }

    pub(super) fn edit(&mut self, at: Id, change: Change) {
        self.edits.push(Wish::new(self.step.file.view, at, vec![change]));
    }

    pub(super) fn insert(&mut self, at: Id, after: bool, text: &str) {
        self.edit(at, Change::Insert { at, after, text: text.to_owned() });
    }

    pub(super) fn replace(&mut self, at: Id, text: &str) {
        self.edit(at, Change::Replace { first: at, last: at, text: text.to_owned() });
    }

    /// Calls the inference model instead of the model.
    pub(super) fn infer(&mut self, call: Id) {
        let index = &self.step.file.view.index;
        let Some(model) = index.callee(call) else { return };
        let text = self.inferring(index.text_of(model));
        let range = index.range(model);
        self.edit(call, Change::Expression { node: call, range, text });
    }

    /// A block of the guide, in the file's formatting.
    pub(super) fn block(&self, name: &str, values: &Values) -> String {
        self.input.block(self.step.file.view, name, values).unwrap_or_default()
    }

    /// The inference model that replaces a model.
    pub(super) fn inferring(&mut self, model: &str) -> String {
        self.infers = true;
        self.block("infers", &Values::default().text("model", model))
    }

    /// A new learning rate, passed on where the compiled step is out of reach.
    pub(super) fn other_rate(&mut self, optimizer: &str) -> String {
        self.tells_rates = true;
        self.block("other_rate", &Values::default().text("optimizer", optimizer))
    }
}
