//! Everything the page knows, in one struct. No element and no event in here: what a click does is a method.

mod choice;
mod early;
mod files;
pub mod find;
mod former;
pub mod fragment;
mod guides;
pub mod lines;
mod original;
mod painted;
pub mod paper;
pub mod project;
mod rejected;
mod result;
pub mod rows;
mod steps;
#[cfg(test)]
mod tests;
pub mod todo;
pub mod tree;
mod trials;
pub mod twin;
pub mod unblock;

pub use choice::{Choice, Switches};
pub use early::Early;
pub use files::{Delivery, EDITS_INCLUDED, File};
pub use guides::{GUIDES_FOLDER, Guides, said_of};
pub use painted::PaintedLine;
pub use rejected::{Rejected, RejectedEdit, Tally};
pub use result::{Phase, View, needs_person};
pub use steps::Step;
pub use trials::Trials;

use crate::port::protocol::{Catalogue, Outcome, Table};
use crate::port::twin_result::TwinResult;
use crate::shared::text::hash_of;
use codemod::{Explanation, Options, RecipeInfo};
use former::{Asked, Former};
use python::SourceFile;
use result::Good;
use sorting::SortedSet;
use std::ops::Range;
use std::sync::Arc;

/// The worker's health.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Being loaded.
    #[default]
    Starting,
    /// Answers.
    Ready,
    /// Does not answer; why.
    Broken(String),
}

/// Where the current port stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// Nothing was asked since the last answer.
    #[default]
    Idle,
    /// The input changed; a port follows when typing pauses.
    Waiting,
    /// The worker works.
    Working,
    /// The user stopped it.
    Stopped,
}

/// A message about something the user did: opening, copying, sharing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Notice {
    /// Whether something failed.
    pub bad: bool,
    /// The message.
    pub text: String,
    /// What can be undone of it.
    pub undo: Option<Undo>,
}

/// What a notice offers to undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Undo {
    /// The former project comes back.
    Project,
    /// The removed file comes back.
    Removal,
    /// The last decision is undone.
    Decision,
}

/// What the result shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Panel {
    /// The diff.
    #[default]
    Changes,
    /// What is left for a person.
    Needs,
    /// The recipes and their switches.
    Recipes,
    /// What was checked.
    Certificate,
    /// Original and port, run and compared.
    Twin,
    /// What an error message means.
    Error,
    /// All targets side by side.
    Matrix,
}

/// A place to scroll to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Jump {
    /// A line of the ported text, from 0.
    New(u32),
    /// A line that was looked for; the focus stays where it is.
    Found(find::Line),
    /// The change or the refused change that holds this edit.
    Edit(String),
    /// Line and column of the source, from 0.
    Source(usize, usize),
    /// The next change.
    Next,
    /// The change before.
    Previous,
}

/// All targets side by side, as far as they are there.
#[derive(Clone, Debug, Default)]
pub struct SideBySide {
    /// The table; until the columns of a new one are all there, the one before.
    pub table: Option<Arc<Table>>,
    /// Columns that are there.
    pub done: usize,
    /// Columns there will be; 0 before the first.
    pub total: usize,
    /// What the columns were made with.
    options: Options,
}

/// Everything.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The project.
    pub files: Vec<File>,
    /// The file shown.
    pub selected: usize,
    /// What the user chose.
    pub choice: Choice,
    /// What the user turned off.
    pub rejected: Rejected,
    past: Vec<(Rejected, Guides)>,
    future: Vec<(Rejected, Guides)>,
    /// The project that the present one replaced.
    former: Option<Box<Former>>,
    /// The project was given by a link, an example or the sample, and nothing was done to it yet.
    given: bool,
    /// The user's own choice, while the present one came with a project that was given.
    own_choice: Option<Choice>,
    /// The target before a place of another target's port was gone to.
    before_place: Option<String>,
    /// What the address asks for, until it is known what there is.
    asked: Option<Asked>,
    /// What was chosen before the saved work was there.
    early: Early,
    /// The saved work and the address have been opened, as far as there are any.
    pub has_begun: bool,
    /// Counts up with everything that the user does to the project, or to the choice.
    pub edits: u64,
    /// What the engine can do.
    pub catalogue: Arc<Catalogue>,
    /// The guides for which it said so.
    learned: Option<Guides>,
    /// The guides that it was sent last.
    asked_for: Option<Guides>,
    /// Guides that were opened and are being compiled.
    on_trial: Vec<SourceFile>,
    /// The worker's health.
    pub engine: Engine,
    /// The current port.
    pub run: Run,
    /// The last port.
    pub outcome: Option<Arc<Outcome>>,
    /// The file shown, after the last port.
    pub view: Option<Arc<View>>,
    /// The last port of the file shown that changed something: it stays in sight while the file does not parse.
    good: Option<Good>,
    /// The file that was removed last, and its place.
    removed: Option<(usize, File)>,
    /// What is left to do, as the reader looks at it.
    pub todo: todo::Look,
    /// Entries of it that are ticked off.
    pub ticked: SortedSet<u64>,
    /// How the list of files is looked at.
    pub tree: tree::Look,
    /// The latest message.
    pub notice: Option<Notice>,
    /// What the result shows.
    pub panel: Panel,
    /// One column even where two fit.
    pub unified: bool,
    /// The source is put away to give the diff its room.
    pub source_hidden: bool,
    /// Lines of the original that the reader unfolded, in the file shown.
    pub unfolded: Vec<Range<u32>>,
    /// Where to scroll next, with a number that tells two wishes apart.
    pub jump: Option<(u64, Jump)>,
    jumps: u64,
    /// How far the reader has stepped from change to change.
    pub steps: steps::Steps,
    /// What is looked for in the file shown.
    pub find: find::Find,
    /// Where to scroll once the next port is here.
    pub jump_after_port: Option<Jump>,
    /// All targets side by side.
    pub matrix: SideBySide,
    /// Which options matter.
    pub trials: Trials,
    /// What would let the training step be ported.
    pub attempts: unblock::Attempts,
    /// The files were just opened, so the port shows the one that is worth it.
    pub unread: bool,
    /// How often files were chosen or dropped that are still being read.
    pub reading: usize,
    /// Counts up when the whole project is replaced.
    pub project: u64,
    /// Counts up with every port that arrives or goes.
    pub ports: u64,
    /// The result of a twin run that was brought back.
    twin: Option<Arc<TwinResult>>,
    /// The log that the user pasted.
    pub log: String,
    /// What is known about it; none while the worker looks, or without a log.
    pub explanation: Option<Arc<Explanation>>,
    /// Files whose text the worker does not have yet; `None`: it has no file of this project.
    unsent: Option<Vec<usize>>,
}

impl State {
    /// Whether what is shown will be another soon: files are read, or the port of what is in the source is not here yet.
    pub fn is_busy(&self) -> bool {
        self.reading > 0 || matches!(self.run, Run::Waiting | Run::Working)
    }

    /// Equal as long as the last port, what the user did to it, and how the lists of it are looked at.
    pub fn port_key(&self) -> u64 {
        hash_of(&(self.ports, self.project, self.edits, self.catalogue.recipes.len(), &self.todo, &self.tree))
    }

    /// A recipe by id.
    pub fn recipe(&self, id: &str) -> Option<&RecipeInfo> {
        self.catalogue.recipes.iter().find(|r| r.id == id)
    }

    /// Title of a recipe, or its id where it has none.
    pub fn title(&self, id: &str) -> String {
        match self.recipe(id) {
            Some(recipe) => recipe.title.clone(),
            None if id.starts_with("engine#") => todo::engine_title(id).to_owned(),
            None => id.to_owned(),
        }
    }

    /// The engine's options.
    pub fn options(&self) -> Options {
        Options {
            target: self.choice.target.clone(),
            style: self.choice.style,
            sdk: self.choice.sdk.clone(),
            allow_unsafe: self.choice.switches.allow_unsafe,
            options: self.choice.options.clone(),
            annotate: self.choice.switches.annotate,
            rejected_recipes: self.rejected.recipes.clone(),
            rejected_edits: self.rejected.edits.iter().map(|edit| format!("{}:{}", edit.path, edit.id)).collect(),
        }
    }

    /// The column that the matrix lacks, when it is in sight and a port says that the project is at rest.
    pub fn next_column(&mut self) -> Option<(Options, usize)> {
        if self.panel != Panel::Matrix || self.run != Run::Idle || self.outcome.is_none() {
            return None;
        }
        let mut options = self.options();
        if options.sdk.is_none() {
            // Whichever target is chosen, the columns are the same.
            options.target.clear();
        }
        let matrix = &mut self.matrix;
        if matrix.options != options {
            (matrix.done, matrix.options) = (0, options);
        }
        (matrix.done == 0 || matrix.done < matrix.total).then(|| (matrix.options.clone(), matrix.done))
    }

    /// The option to try next, under the same circumstances.
    pub fn next_trial(&mut self) -> Option<(Options, usize)> {
        let count = self.target()?.options.len();
        if self.run != Run::Idle || self.outcome.is_none() {
            return None;
        }
        let options = self.options();
        self.trials.next(options, count)
    }

    /// Shows the program of files that were just opened, or the first that changes, unless the one shown changes.
    pub fn show_worthy(&mut self) {
        let Some(outcome) = self.outcome.clone().filter(|_| std::mem::take(&mut self.unread)) else { return };
        let changed = |index: &usize| outcome.files.get(*index).is_some_and(|file| file.changed);
        let first = (0..outcome.files.len()).find(changed);
        // The program comes first, unless the port has nothing to say of it.
        let told =
            |index: &usize| changed(index) || outcome.files.get(*index).is_some_and(|f| !f.diagnostics.is_empty());
        if let Some(worthy) = outcome.program.filter(told).or(first) {
            self.select(worthy);
        }
    }

    /// Chooses a target and goes to a place of its port, once that is here. Says whether there is such a file.
    pub fn go_to_port(&mut self, target: String, file: usize, line: usize) -> bool {
        let there = file < self.files.len();
        if there {
            let before = self.before_place.take().unwrap_or_else(|| self.choice.target.clone());
            self.choose_target(&target);
            self.before_place = Some(before);
            self.select(file);
            self.panel = Panel::Changes;
            self.jump_after_port = Some(Jump::New(line.saturating_sub(1) as u32));
        }
        there
    }

    /// Back from places of other ports: the target is the one before them, unless the user has chosen since. Says whether
    /// there was one.
    pub fn choose_as_before_place(&mut self) -> bool {
        let before = self.before_place.take();
        before.inspect(|before| self.choose_target(before)).is_some()
    }

    /// Asks the page to scroll.
    pub fn jump_to(&mut self, jump: Jump) {
        self.jumps += 1;
        self.jump = Some((self.jumps, jump));
    }
}
