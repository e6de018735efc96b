//! What the user rejected, with its history.

use crate::port::state::lines::{Lines, Splice};
use crate::port::state::{Guides, State, Undo};
use serde::{Deserialize, Serialize};

/// An edit that the user rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedEdit {
    /// Its file.
    pub path: String,
    /// Its id.
    pub id: String,
    /// Its recipe.
    pub recipe: String,
    /// Its start in the original.
    pub start: usize,
    /// A number shared by edits that were rejected together; 0 if that is no longer known.
    #[serde(skip)]
    pub group: usize,
}

/// What the user rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    /// Whole recipes.
    pub recipes: Vec<String>,
    /// Single edits.
    pub edits: Vec<RejectedEdit>,
}

/// The changes to which a recipe contributed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The recipe.
    pub id: String,
    /// The number of changes in the port.
    pub applied: usize,
    /// The number of changes that were rejected individually.
    pub refused: usize,
    /// Whether the recipe is turned off.
    pub off: bool,
}

impl RejectedEdit {
    /// Adjusts the position to typing; returns false if the typing overlaps the edit. Its id ends in its offset.
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
    /// Adds an edit, ordered by file and line.
    pub(super) fn put(&mut self, edit: RejectedEdit) {
        let place = |edit: &RejectedEdit| (edit.path.clone(), edit.start, edit.id.clone());
        let here = place(&edit);
        self.edits.insert(self.edits.partition_point(|other| place(other) < here), edit);
    }

    /// The rejected edits of a file, grouped by change: one click accepts what one click rejected. If the groups are
    /// not known, edits in adjacent lines count as one change.
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

    /// Adjusts the edits of a file to typing in it; those that the typing overlaps are dropped.
    pub(super) fn follow(&mut self, path: &str, splice: &Splice) {
        self.edits.retain_mut(|edit| edit.path != path || edit.follow(splice));
    }
}

impl State {
    /// Rejects edits of the current file, by id.
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

    /// Accepts rejected edits of the current file again.
    pub fn accept_edits(&mut self, ids: &[String]) {
        let Some(path) = self.file().map(|f| f.path.clone()) else { return };
        let mut next = self.rejected.clone();
        next.edits.retain(|e| e.path != path || !ids.contains(&e.id));
        self.set_rejected(next);
    }

    /// Turns a whole recipe off or on. Turning it on also accepts its individually rejected edits.
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
        self.decide(next, self.choice.guides.clone());
    }

    /// Applies a decision that can be undone.
    pub(super) fn decide(&mut self, rejected: Rejected, guides: Guides) {
        if rejected != self.rejected || guides != self.choice.guides {
            let before = self.replace_decision((rejected, guides));
            self.past.push(before);
            self.future.clear();
        }
    }

    fn replace_decision(&mut self, (rejected, guides): (Rejected, Guides)) -> (Rejected, Guides) {
        self.touch();
        // It offers to undo an earlier one.
        self.notice.take_if(|notice| notice.undo == Some(Undo::Decision));
        if guides != self.choice.guides {
            // The worker then starts its tables of targets and options anew.
            self.unsent = None;
        }
        (std::mem::replace(&mut self.rejected, rejected), std::mem::replace(&mut self.choice.guides, guides))
    }

    /// Undoes the last rejection or acceptance, or change of the guides. Returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(last) = self.past.pop() else { return false };
        let now = self.replace_decision(last);
        self.future.push(now);
        true
    }

    /// Redoes the last one that was undone. Returns whether there was one.
    pub fn redo(&mut self) -> bool {
        let Some(next) = self.future.pop() else { return false };
        let now = self.replace_decision(next);
        self.past.push(now);
        true
    }

    /// Whether something can be undone, and redone.
    pub fn can_undo(&self) -> (bool, bool) {
        (!self.past.is_empty(), !self.future.is_empty())
    }

    /// The recipes of this port, in the order of the guides, with the number of changes to which each contributed.
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
