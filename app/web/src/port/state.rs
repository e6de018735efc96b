//! Everything the page knows, in one struct. No element and no event in here: what a click does is a method.

use crate::port::fragment::Share;
use crate::port::lines::{Lines, Splice};
use crate::port::order::sort_few;
use crate::port::protocol::{Catalogue, Example, FileOutcome, Outcome, Shown};
use crate::port::trials::Trials;
use codemod::{Diagnostic, Highlight, Options, RecipeInfo, Severity, SourceFile, Style, TargetInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
    pub options: BTreeMap<String, String>,
}

impl Hash for Choice {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.target, self.style as u8, &self.sdk, self.allow_unsafe, &self.options).hash(state);
    }
}

/// An edit that the user turned off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedEdit {
    /// Its file.
    pub path: String,
    /// Its id.
    pub id: String,
    /// Its recipe.
    pub recipe: String,
    /// Where it starts in the original.
    pub start: usize,
}

/// What the user turned off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    /// Recipes, each with the number of edits it had.
    pub recipes: Vec<(String, usize)>,
    /// Single edits.
    pub edits: Vec<RejectedEdit>,
}

/// A file of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Path from the project's root.
    pub path: String,
    /// Its text, byte for byte.
    pub lines: Lines,
}

/// The edits of one recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The recipe.
    pub id: String,
    /// Edits that are in the port.
    pub applied: usize,
    /// Edits that were turned off, singly or with the recipe.
    pub refused: usize,
    /// The recipe is turned off.
    pub off: bool,
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

/// A file of the last port, ready for display.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Counts up with every view, so that two are told apart cheaply.
    pub serial: u64,
    /// Which file, and what changed.
    pub shown: Shown,
    /// The original it was made of.
    pub old: Lines,
    /// The ported text.
    pub new: Lines,
    /// Colours of the original.
    pub old_colours: Arc<Highlight>,
    /// Colours of the ported text.
    pub new_colours: Arc<Highlight>,
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

/// What the result pane has to say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// No input.
    Empty,
    /// The engine is being loaded.
    Starting,
    /// The engine does not answer.
    Broken(String),
    /// The first port of this input is under way.
    Working,
    /// The user stopped the port.
    Stopped,
    /// The file can't be ported.
    Failed {
        /// What is wrong.
        message: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// The port changes nothing in this file.
    Nothing,
    /// There are changes.
    Changes,
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
    /// Counts up when the whole project is replaced.
    pub project: u64,
    /// Counts up with every port that arrives or goes.
    pub ports: u64,
    /// Files whose text the worker does not have yet; `None`: it has no file of this project.
    unsent: Option<Vec<usize>>,
}

/// A project that was replaced.
#[derive(Clone, Debug, Default)]
struct Former {
    files: Vec<File>,
    selected: usize,
    choice: Choice,
    rejected: Rejected,
}

/// Files to hand to the worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// All.
    All,
    /// These.
    Some(Vec<usize>),
}

impl State {
    /// Replaces the project. What was chosen stays; what was turned off in the old project goes, and comes back with
    /// [`State::bring_back`].
    pub fn open(&mut self, files: Vec<SourceFile>) {
        if !self.is_empty() {
            self.former = Some(Box::new(Former {
                files: std::mem::take(&mut self.files),
                selected: self.selected,
                choice: self.choice.clone(),
                rejected: self.rejected.clone(),
            }));
        }
        let file = |f: SourceFile| File { path: f.path, lines: Lines::new(f.text.into()) };
        self.files = files.into_iter().map(file).collect();
        self.selected = 0;
        self.rejected = Rejected::default();
        self.past.clear();
        self.future.clear();
        self.set_outcome(None);
        self.view = None;
        self.unfolded.clear();
        self.notice = None;
        self.panel = Panel::Changes;
        self.unread = false;
        self.project += 1;
        self.unsent = None;
    }

    /// Whether [`State::bring_back`] has something to bring.
    pub fn has_former(&self) -> bool {
        self.former.is_some()
    }

    /// Swaps the project for the one it replaced.
    pub fn bring_back(&mut self) {
        if let Some(former) = self.former.take() {
            self.open(Vec::new());
            (self.files, self.selected) = (former.files, former.selected);
            (self.choice, self.rejected) = (former.choice, former.rejected);
        }
    }

    /// Takes a shared project.
    pub fn open_share(&mut self, share: Share) {
        self.open(share.files);
        self.selected = share.selected.min(self.files.len().saturating_sub(1));
        self.choice = share.choice;
        self.rejected.recipes = share.recipes.into_iter().map(|id| (id, 0)).collect();
        self.rejected.edits = share.edits;
        self.settle_choice();
    }

    /// Takes an example out of a guide.
    pub fn open_example(&mut self, example: Example, text: String) {
        self.open(vec![SourceFile { path: example.path, text }]);
        self.choice = Choice {
            target: example.target,
            style: example.style,
            sdk: example.sdk,
            allow_unsafe: example.allow_unsafe,
            options: example.options,
        };
        self.settle_choice();
    }

    /// What a link has to carry.
    pub fn share(&self) -> Share {
        Share {
            files: self.sources(),
            selected: self.selected,
            choice: self.choice.clone(),
            recipes: self.rejected.recipes.iter().map(|(id, _)| id.clone()).collect(),
            edits: self.rejected.edits.clone(),
        }
    }

    /// The files as the engine takes them.
    pub fn sources(&self) -> Vec<SourceFile> {
        let source = |f: &File| SourceFile { path: f.path.clone(), text: f.lines.text().to_string() };
        self.files.iter().map(source).collect()
    }

    /// The file shown.
    pub fn file(&self) -> Option<&File> {
        self.files.get(self.selected)
    }

    /// Whether there is nothing to port.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|f| f.lines.text().trim().is_empty())
    }

    /// Something was typed into the file shown. Refused edits behind it move along; those inside it are forgotten.
    pub fn type_text(&mut self, splice: &Splice) {
        if self.files.is_empty() {
            self.files.push(File { path: "trainer.py".into(), lines: Lines::default() });
            self.project += 1;
        }
        let index = self.selected;
        let file = &mut self.files[index];
        let mut text = file.lines.text().to_string();
        text.replace_range(splice.start..splice.end, &splice.text);
        file.lines = Lines::new(text.into());
        let path = file.path.clone();
        let change = |rejected: &mut Rejected| {
            rejected.edits.retain_mut(|edit| edit.path != path || follow(edit, splice));
        };
        change(&mut self.rejected);
        self.past.iter_mut().chain(&mut self.future).for_each(change);
        match &mut self.unsent {
            Some(unsent) if !unsent.contains(&index) => unsent.push(index),
            _ => {}
        }
        self.notice = None;
    }

    /// Gives the file shown another path.
    pub fn rename(&mut self, path: &str) {
        let path = path.trim().trim_start_matches('/');
        let index = self.selected;
        if path.is_empty() || self.files.iter().any(|f| f.path == path) || index >= self.files.len() {
            return;
        }
        let old = std::mem::replace(&mut self.files[index].path, path.to_owned());
        for edit in self.rejected.edits.iter_mut().filter(|e| e.path == old) {
            edit.path = path.to_owned();
        }
        self.unsent = None;
    }

    /// Shows another file.
    pub fn select(&mut self, index: usize) {
        if index < self.files.len() && index != self.selected {
            self.selected = index;
            self.view = None;
            self.unfolded.clear();
        }
    }

    /// Takes a file out of the project.
    pub fn close(&mut self, index: usize) {
        if index < self.files.len() {
            let gone = self.files.remove(index);
            self.rejected.edits.retain(|edit| edit.path != gone.path);
            if self.selected >= index {
                self.selected = self.selected.saturating_sub(1);
            }
            self.view = None;
            self.set_outcome(None);
            self.unfolded.clear();
            self.project += 1;
            self.unsent = None;
        }
    }

    /// What the worker lacks; it counts as sent from now on.
    pub fn take_unsent(&mut self) -> Delivery {
        if self.unsent.as_ref().is_none_or(|unsent| !unsent.is_empty()) {
            self.matrix.done = 0;
            self.trials.forget();
        }
        match self.unsent.replace(Vec::new()) {
            Some(some) => Delivery::Some(some),
            None => Delivery::All,
        }
    }

    /// A new worker knows nothing.
    pub fn forget_sent(&mut self) {
        self.unsent = None;
    }

    /// The engine said what it can do.
    pub fn learn(&mut self, catalogue: Catalogue) {
        self.catalogue = Arc::new(catalogue);
        self.settle_choice();
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
            self.choice.target = target;
            self.settle_choice();
            self.select(file);
            self.panel = Panel::Changes;
            self.jump_after_port = Some(Jump::New(line.saturating_sub(1) as u32));
        }
        there
    }

    /// Turns off edits of the file shown, by id.
    pub fn reject_edits(&mut self, ids: &[String]) {
        let Some(file) = self.outcome_of(self.selected).cloned() else { return };
        let mut next = self.rejected.clone();
        for edit in file.edits.into_iter().filter(|e| ids.contains(&e.id)) {
            if !next.edits.iter().any(|e| e.id == edit.id && e.path == file.path) {
                let path = file.path.clone();
                next.edits.push(RejectedEdit { path, id: edit.id, recipe: edit.recipe, start: edit.start });
            }
        }
        sort_few(&mut next.edits, |a, b| (&a.path, a.start, &a.id) < (&b.path, b.start, &b.id));
        self.set_rejected(next);
    }

    /// Turns edits of the file shown on again.
    pub fn accept_edits(&mut self, ids: &[String]) {
        let Some(path) = self.file().map(|f| f.path.clone()) else { return };
        let mut next = self.rejected.clone();
        next.edits.retain(|e| e.path != path || !ids.contains(&e.id));
        self.set_rejected(next);
    }

    /// Turns a whole recipe off or on. Turning it on takes back its single refusals too.
    pub fn switch_recipe(&mut self, id: &str, on: bool) {
        let mut next = self.rejected.clone();
        if on {
            next.recipes.retain(|(off, _)| off != id);
            next.edits.retain(|edit| edit.recipe != id);
        } else if !next.recipes.iter().any(|(off, _)| off == id) {
            let had = self.tally().iter().find(|entry| entry.id == id).map_or(0, |entry| entry.applied);
            next.recipes.push((id.to_owned(), had));
        }
        self.set_rejected(next);
    }

    fn set_rejected(&mut self, next: Rejected) {
        if next != self.rejected {
            self.past.push(std::mem::replace(&mut self.rejected, next));
            self.future.clear();
        }
    }

    /// Takes the last accept or reject back. Returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(last) = self.past.pop() else { return false };
        self.future.push(std::mem::replace(&mut self.rejected, last));
        true
    }

    /// Does the last undone accept or reject again. Returns whether there was one.
    pub fn redo(&mut self) -> bool {
        let Some(next) = self.future.pop() else { return false };
        self.past.push(std::mem::replace(&mut self.rejected, next));
        true
    }

    /// Whether there is something to undo, and to redo.
    pub fn can_undo(&self) -> (bool, bool) {
        (!self.past.is_empty(), !self.future.is_empty())
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

    /// A port has come, or is worth nothing any more.
    pub fn set_outcome(&mut self, outcome: Option<Arc<Outcome>>) {
        self.outcome = outcome;
        self.ports += 1;
    }

    /// What the last port says of a file.
    pub fn outcome_of(&self, index: usize) -> Option<&FileOutcome> {
        self.outcome.as_ref()?.files.get(index)
    }

    /// The recipes of this port, in the order of the guides, and how many edits each has.
    pub fn tally(&self) -> Vec<Tally> {
        let mut tally: Vec<Tally> = Vec::new();
        let mut count = |id: &str, applied: usize, refused: usize, off: bool| {
            let at = tally.iter().position(|entry| entry.id == id).unwrap_or_else(|| {
                tally.push(Tally { id: id.to_owned(), ..Tally::default() });
                tally.len() - 1
            });
            tally[at].applied += applied;
            tally[at].refused += refused;
            tally[at].off |= off;
        };
        let edits = self.outcome.iter().flat_map(|o| &o.files).flat_map(|f| &f.edits);
        edits.for_each(|edit| count(&edit.recipe, 1, 0, false));
        self.rejected.edits.iter().for_each(|edit| count(&edit.recipe, 0, 1, false));
        self.rejected.recipes.iter().for_each(|(id, had)| count(id, 0, *had, true));
        let place = |entry: &Tally| self.catalogue.recipes.iter().position(|recipe| recipe.id == entry.id);
        sort_few(&mut tally, |a, b| place(a) < place(b));
        tally
    }

    /// Whether the file is shown without folds.
    pub fn shows_whole(&self) -> bool {
        self.unfolded.iter().any(|range| range.end == u32::MAX)
    }

    /// Folds everything, or nothing.
    pub fn flip_whole(&mut self) {
        let whole = self.shows_whole();
        self.unfolded.clear();
        if !whole {
            self.unfolded.push(0..u32::MAX);
        }
    }

    /// Changed places, and messages that want a person, in the whole project.
    pub fn totals(&self) -> (usize, usize) {
        let files = || self.outcome.iter().flat_map(|o| &o.files);
        let hunks = files().map(|f| f.hunks).sum();
        (hunks, files().flat_map(|f| &f.diagnostics).filter(|d| needs_person(d)).count())
    }

    /// What the result pane has to say of the file shown.
    pub fn phase(&self) -> Phase {
        if let Engine::Broken(why) = &self.engine {
            return Phase::Broken(why.clone());
        }
        if self.is_empty() {
            return Phase::Empty;
        }
        if self.engine == Engine::Starting {
            return Phase::Starting;
        }
        let (Some(file), Some(_)) = (self.outcome_of(self.selected), &self.view) else {
            return if self.run == Run::Stopped { Phase::Stopped } else { Phase::Working };
        };
        if file.changed {
            return Phase::Changes;
        }
        match file.diagnostics.iter().find(|d| d.severity == Severity::Error) {
            Some(error) => Phase::Failed { message: error.message.clone(), line: error.line, column: error.column },
            None => Phase::Nothing,
        }
    }

    /// The sentence that is announced after a port.
    pub fn summary(&self) -> String {
        let Some(outcome) = &self.outcome else { return String::new() };
        let (changes, needs) = self.totals();
        let failed =
            outcome.files.iter().filter(|f| f.diagnostics.iter().any(|d| d.severity == Severity::Error)).count();
        let changed = outcome.files.iter().filter(|f| f.changed).count();
        let mut text = match (changes, changed) {
            (0, _) => "No changes".to_owned(),
            (n, files) if outcome.files.len() > 1 => format!("{} in {}", count(n, "change"), count(files, "file")),
            (n, _) => count(n, "change"),
        };
        if needs > 0 {
            text += &format!(", {needs} {} you", if needs == 1 { "needs" } else { "need" });
        }
        if failed > 0 {
            text += &format!("; {} could not be ported", count(failed, "file"));
        }
        text
    }
}

/// Whether a message wants a person before the port runs right.
pub fn needs_person(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity <= Severity::Warning
}

/// `1 change`, `2 changes`.
pub fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Moves a refused edit along with typing; false when the typing went through it. Its id ends in its offset.
fn follow(edit: &mut RejectedEdit, splice: &Splice) -> bool {
    if edit.start < splice.start {
        return true;
    }
    if edit.start < splice.end {
        return false;
    }
    let start = edit.start - (splice.end - splice.start) + splice.text.len();
    if let Some(name) = edit.id.strip_suffix(&format!("@{}", edit.start)) {
        edit.id = format!("{name}@{start}");
    }
    edit.start = start;
    true
}

#[cfg(test)]
mod tests;
