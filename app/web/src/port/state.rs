//! Everything the page knows, in one struct. No element and no event in here: what a click does is a method.

mod files;
mod former;
mod rejected;
mod result;
#[cfg(test)]
mod tests;

pub use files::{Delivery, File};
pub use rejected::{Rejected, RejectedEdit, Tally};
pub use result::{Phase, View, count, needs_person};

use crate::port::protocol::{Catalogue, Outcome};
use crate::port::trials::Trials;
use codemod::{Map, Options, RecipeInfo, Style, TargetInfo};
use former::{Asked, Former};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// Target, style and the like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Target id.
    pub target: String,
    /// Port style.
    pub style: Style,
    /// SDK version; the newest when none.
    pub sdk: Option<String>,
    /// Apply unsafe edits.
    pub allow_unsafe: bool,
    /// Named options of the recipes.
    pub options: Map<String, String>,
}

impl Hash for Choice {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.target, self.style as u8, &self.sdk, self.allow_unsafe, &self.options).hash(state);
    }
}

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
    /// All targets side by side.
    Matrix,
}

/// A place to scroll to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Jump {
    /// A line of the ported text, from 0.
    New(u32),
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
    pub html: String,
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
    past: Vec<Rejected>,
    future: Vec<Rejected>,
    /// The project that the present one replaced.
    former: Option<Box<Former>>,
    /// The project was given by a link, an example or the sample, and nothing was done to it yet.
    given: bool,
    /// The user's own choice, while the present one came with a project that was given.
    own_choice: Option<Choice>,
    /// What the address asks for, until it is known what there is.
    asked: Option<Asked>,
    /// Counts up with everything that the user does to the project, or to the choice.
    pub edits: u64,
    /// What the engine can do.
    pub catalogue: Arc<Catalogue>,
    /// The worker's health.
    pub engine: Engine,
    /// The current port.
    pub run: Run,
    /// The last port.
    pub outcome: Option<Arc<Outcome>>,
    /// The file shown, after the last port.
    pub view: Option<Arc<View>>,
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
    /// Where to scroll once the next port is here.
    pub jump_after_port: Option<Jump>,
    /// All targets side by side.
    pub matrix: SideBySide,
    /// Which options matter.
    pub trials: Trials,
    /// The files were just opened, so the port shows the one that is worth it.
    pub unread: bool,
    /// How often files were chosen or dropped that are still being read.
    pub reading: usize,
    /// Counts up when the whole project is replaced.
    pub project: u64,
    /// Counts up with every port that arrives or goes.
    pub ports: u64,
    /// Files whose text the worker does not have yet; `None`: it has no file of this project.
    unsent: Option<Vec<usize>>,
}

impl State {
    /// Whether what is shown will be another soon: files are read, or the port of what is in the source is not here yet.
    pub fn is_busy(&self) -> bool {
        self.reading > 0 || matches!(self.run, Run::Waiting | Run::Working)
    }

    /// The engine said what it can do.
    pub fn learn(&mut self, catalogue: Catalogue) {
        self.catalogue = Arc::new(catalogue);
        self.settle_choice();
        self.heed_address();
    }

    /// Keeps the choice within what there is.
    pub fn settle_choice(&mut self) {
        let catalogue = self.catalogue.clone();
        if catalogue.targets.is_empty() {
            return;
        }
        let target = match catalogue.targets.iter().find(|t| t.id == self.choice.target) {
            Some(target) => target,
            None => &catalogue.targets[0],
        };
        self.choice.target = target.id.clone();
        let known = |sdk: &String| target.sdks.contains(sdk) && target.sdks.last() != Some(sdk);
        self.choice.sdk = self.choice.sdk.take().filter(known);
        let admits = |name: &String, value: &String| {
            target.options.iter().any(|option| option.name == *name && option.kind.admits(value))
        };
        self.choice.options.retain(|name, value| admits(name, value));
    }

    /// The user chooses. What was chosen stays for the next project too.
    pub fn choose(&mut self, change: impl Fn(&mut Choice)) {
        // A project that was given is still as it was given.
        self.edits += 1;
        self.set_choice(change);
    }

    fn set_choice(&mut self, change: impl Fn(&mut Choice)) {
        change(&mut self.choice);
        self.own_choice.iter_mut().for_each(change);
        self.settle_choice();
    }

    /// The chosen target.
    pub fn target(&self) -> Option<&TargetInfo> {
        self.catalogue.targets.iter().find(|t| t.id == self.choice.target)
    }

    /// A recipe by id.
    pub fn recipe(&self, id: &str) -> Option<&RecipeInfo> {
        self.catalogue.recipes.iter().find(|r| r.id == id)
    }

    /// Title of a recipe, or its id where it has none.
    pub fn title(&self, id: &str) -> String {
        self.recipe(id).map_or_else(|| id.to_owned(), |recipe| recipe.title.clone())
    }

    /// The engine's options.
    pub fn options(&self) -> Options {
        Options {
            target: self.choice.target.clone(),
            style: self.choice.style,
            sdk: self.choice.sdk.clone(),
            allow_unsafe: self.choice.allow_unsafe,
            options: self.choice.options.clone(),
            rejected_recipes: self.rejected.recipes.iter().map(|(id, _)| id.clone()).collect(),
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
        if let Some(worthy) = outcome.program.filter(changed).or(first) {
            self.select(worthy);
        }
    }

    /// Chooses a target and goes to a place of its port, once that is here. Says whether there is such a file.
    pub fn go_to_port(&mut self, target: String, file: usize, line: usize) -> bool {
        let there = file < self.files.len();
        if there {
            self.choose(|choice| choice.target.clone_from(&target));
            self.select(file);
            self.panel = Panel::Changes;
            self.jump_after_port = Some(Jump::New(line.saturating_sub(1) as u32));
        }
        there
    }

    /// Asks the page to scroll.
    pub fn jump_to(&mut self, jump: Jump) {
        self.jumps += 1;
        self.jump = Some((self.jumps, jump));
    }

    /// Asks the page to scroll to the next change, or the one before.
    pub fn step(&mut self, forward: bool) {
        self.jump_to(if forward { Jump::Next } else { Jump::Previous });
    }
}
