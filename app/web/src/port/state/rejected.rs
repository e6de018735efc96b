//! What the user turned off, with its history.

use crate::port::state::State;
use crate::port::state::lines::Splice;
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
}

/// What the user turned off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    /// Recipes, each with the number of edits it had.
    pub recipes: Vec<(String, usize)>,
    /// Single edits.
    pub edits: Vec<RejectedEdit>,
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
        for edit in file.edits.into_iter().filter(|e| ids.contains(&e.id)) {
            if !next.edits.iter().any(|e| e.id == edit.id && e.path == file.path) {
                let path = file.path.clone();
                next.edits.push(RejectedEdit { path, id: edit.id, recipe: edit.recipe, start: edit.start });
            }
        }
        next.edits.sort_by(|a, b| (&a.path, a.start, &a.id).cmp(&(&b.path, b.start, &b.id)));
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
        tally.sort_by_key(place);
        tally
    }
}
