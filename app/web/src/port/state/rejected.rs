//! What the user turned off, with its history.

use crate::port::state::State;
use crate::port::state::lines::{Lines, Splice};
use serde::{Deserialize, Serialize};

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
    /// A number that edits share which were turned off together; 0 where that is not known any more.
    #[serde(skip)]
    pub group: usize,
}

/// What the user turned off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    /// Whole recipes.
    pub recipes: Vec<String>,
    /// Single edits.
    pub edits: Vec<RejectedEdit>,
}

/// The changes in which one recipe has a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The recipe.
    pub id: String,
    /// Changes that are in the port.
    pub applied: usize,
    /// Changes that were rejected one by one.
    pub refused: usize,
    /// The recipe is turned off.
    pub off: bool,
}

impl RejectedEdit {
    /// Moves along with typing; false when the typing went through it. Its id ends in its offset.
    fn follow(&mut self, splice: &Splice) -> bool {
        if self.start < splice.start {
            return true;
        }
        if self.start < splice.end {
            return false;
        }
        let start = self.start - (splice.end - splice.start) + splice.text.len();
        if let Some(name) = self.id.strip_suffix(&format!("@{}", self.start)) {
            self.id = format!("{name}@{start}");
        }
        self.start = start;
        true
    }
}

impl Rejected {
    /// Adds an edit, in the order of files and lines.
    pub(super) fn put(&mut self, edit: RejectedEdit) {
        let place = |edit: &RejectedEdit| (edit.path.clone(), edit.start, edit.id.clone());
        let here = place(&edit);
        self.edits.insert(self.edits.partition_point(|other| place(other) < here), edit);
    }

    /// The edits of a file that were turned off, those of one change together: what one click rejected, one click accepts.
    /// Where it is not known what was one change, edits of lines that touch are.
    pub(super) fn together(&self, path: &str, old: &Lines) -> Vec<Vec<&RejectedEdit>> {
        let mut groups: Vec<Vec<&RejectedEdit>> = Vec::new();
        for edit in self.edits.iter().filter(|edit| edit.path == path) {
            let touches = |last: &RejectedEdit| old.line_of(edit.start).abs_diff(old.line_of(last.start)) <= 1;
            let of = groups.iter_mut().find(|group| {
                group.last().is_some_and(|last| last.group == edit.group && (edit.group > 0 || touches(last)))
            });
            match of {
                Some(group) => group.push(edit),
                None => groups.push(vec![edit]),
            }
        }
        groups
    }

    /// Moves the edits of a file along with typing into it; those that the typing went through are forgotten.
    pub(super) fn follow(&mut self, path: &str, splice: &Splice) {
        self.edits.retain_mut(|edit| edit.path != path || edit.follow(splice));
    }
}

impl State {
    /// Turns off edits of the file shown, by id.
    pub fn reject_edits(&mut self, ids: &[String]) {
        let Some(file) = self.outcome_of(self.selected).cloned() else { return };
        let mut next = self.rejected.clone();
        let group = next.edits.iter().map(|edit| edit.group).max().unwrap_or(0) + 1;
        for edit in file.edits.into_iter().filter(|e| ids.contains(&e.id)) {
            if !next.edits.iter().any(|e| e.id == edit.id && e.path == file.path) {
                let path = file.path.clone();
                next.put(RejectedEdit { path, id: edit.id, recipe: edit.recipe, start: edit.start, group });
            }
        }
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
            next.recipes.retain(|off| off != id);
            next.edits.retain(|edit| edit.recipe != id);
        } else if !next.recipes.iter().any(|off| off == id) {
            next.recipes.push(id.to_owned());
        }
        self.set_rejected(next);
    }

    fn set_rejected(&mut self, next: Rejected) {
        if next != self.rejected {
            self.touch();
            self.past.push(std::mem::replace(&mut self.rejected, next));
            self.future.clear();
        }
    }

    /// Takes the last accept or reject back. Returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(last) = self.past.pop() else { return false };
        self.touch();
        self.future.push(std::mem::replace(&mut self.rejected, last));
        true
    }

    /// Does the last undone accept or reject again. Returns whether there was one.
    pub fn redo(&mut self) -> bool {
        let Some(next) = self.future.pop() else { return false };
        self.touch();
        self.past.push(std::mem::replace(&mut self.rejected, next));
        true
    }

    /// Whether there is something to undo, and to redo.
    pub fn can_undo(&self) -> (bool, bool) {
        (!self.past.is_empty(), !self.future.is_empty())
    }

    /// The recipes of this port, in the order of the guides, and in how many changes each has a part.
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
        let parts = self.outcome.iter().flat_map(|o| &o.files).flat_map(|f| &f.parts);
        parts.for_each(|(id, changes)| count(id, *changes, 0, false));
        for file in &self.files {
            for together in self.rejected.together(&file.path, &file.lines) {
                for (at, edit) in together.iter().enumerate() {
                    let again = together[..at].iter().any(|before| before.recipe == edit.recipe);
                    count(&edit.recipe, 0, usize::from(!again), false);
                }
            }
        }
        self.rejected.recipes.iter().for_each(|id| count(id, 0, 0, true));
        let place = |entry: &Tally| self.catalogue.recipes.iter().position(|recipe| recipe.id == entry.id);
        let mut ordered: Vec<Tally> = Vec::with_capacity(tally.len());
        for entry in tally {
            let here = place(&entry);
            ordered.insert(ordered.partition_point(|other| place(other) <= here), entry);
        }
        ordered
    }
}
