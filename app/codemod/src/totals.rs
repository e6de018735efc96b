//! The numbers of a port, in places: what was done, what is to do, and what is not possible.
//!
//! A place that was done is a changed place of the diff; one that is to do, or not possible, is where a message about it
//! stands. So the numbers are the same wherever a port is shown.

use crate::diff::diff_texts;
use crate::ported::{PortedFile, Severity};
use crate::recipe::RecipeSet;
use serde::{Deserialize, Serialize};
use sorting::SortedMap;

/// The section of the comments at open places.
pub(crate) const COMMENTS: &str = "engine#annotation";

/// The status of a target's port at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellState {
    /// Unchanged.
    #[default]
    Untouched,
    /// The port changed it.
    Done,
    /// Manual work.
    NeedsYou,
    /// The file can't be ported to this target.
    NotPossible,
}

/// The numbers of a port to one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Totals {
    /// Target id.
    pub target: String,
    /// All places.
    #[serde(flatten)]
    pub all: Places,
    /// The places by their recipes: those that are to do first, then the most frequent.
    pub kinds: Vec<KindTotal>,
}

/// The places of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct KindTotal {
    /// Recipe; `engine#…` for the engine's own messages.
    pub recipe: String,
    /// Heading of its section.
    pub title: String,
    /// Its places. Several recipes may have changed one.
    #[serde(flatten)]
    pub places: Places,
}

/// Numbers of places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Places {
    /// Changed.
    pub done: usize,
    /// Manual work.
    #[serde(rename = "needs-you")]
    pub to_do: usize,
    /// In files that can't be ported.
    pub not_possible: usize,
}

impl Places {
    /// The number of places with a state; there is none for [`CellState::Untouched`].
    #[must_use]
    pub fn with(&self, state: CellState) -> usize {
        match state {
            CellState::Untouched => 0,
            CellState::Done => self.done,
            CellState::NeedsYou => self.to_do,
            CellState::NotPossible => self.not_possible,
        }
    }

    fn add(&mut self, state: CellState) {
        match state {
            CellState::Untouched => {}
            CellState::Done => self.done += 1,
            CellState::NeedsYou => self.to_do += 1,
            CellState::NotPossible => self.not_possible += 1,
        }
    }
}

impl Totals {
    /// Counts the places of a port: the text of each file before it, and the file.
    #[must_use]
    pub fn of<'f>(target: &str, files: impl Iterator<Item = (&'f str, &'f PortedFile)>, recipes: &RecipeSet) -> Self {
        let mut totals = Self { target: target.to_owned(), ..Self::default() };
        for (text, file) in files {
            let hunks = if file.changed { diff_texts(text, &file.text, &file.edits).hunks } else { Vec::new() };
            let recipe_of: SortedMap<_, _> = file.edits.iter().map(|edit| (&*edit.id, &*edit.recipe)).collect();
            for hunk in hunks {
                let makers = hunk.edits.iter().filter_map(|edit| recipe_of.get(edit.as_str()).copied());
                let makers: Vec<&str> = makers.filter(|recipe| *recipe != COMMENTS).collect();
                // A comment at an open place does nothing for it.
                if hunk.edits.is_empty() || !makers.is_empty() {
                    totals.add(CellState::Done, makers.into_iter(), recipes);
                }
            }
            for diagnostic in &file.diagnostics {
                let state = CellState::of(diagnostic.severity);
                totals.add(state, std::iter::once(&*diagnostic.recipe), recipes);
            }
        }
        totals.put_in_order();
        totals
    }

    /// Counts a message about a file that could not be read.
    pub fn add_refused(&mut self, severity: Severity, recipe: &str, recipes: &RecipeSet) {
        self.add(CellState::of(severity), std::iter::once(recipe), recipes);
        self.put_in_order();
    }

    fn add<'r>(&mut self, state: CellState, of: impl Iterator<Item = &'r str>, recipes: &RecipeSet) {
        if state == CellState::Untouched {
            return;
        }
        self.all.add(state);
        let mut counted: Vec<&str> = Vec::new();
        for recipe in of {
            if counted.contains(&recipe) {
                continue;
            }
            counted.push(recipe);
            let at = self.kinds.iter().position(|kind| kind.recipe == recipe).unwrap_or_else(|| {
                let title = recipes.title(&self.target, recipe);
                self.kinds.push(KindTotal { recipe: recipe.to_owned(), title, places: Places::default() });
                self.kinds.len() - 1
            });
            self.kinds[at].places.add(state);
        }
    }

    fn put_in_order(&mut self) {
        let key = |KindTotal { places: Places { done, to_do, not_possible }, recipe, .. }: &KindTotal| {
            (std::cmp::Reverse((*not_possible, *to_do, *done)), recipe.clone())
        };
        sorting::by_key(&mut self.kinds, key);
    }
}

impl CellState {
    /// The state of a place with a message.
    #[must_use]
    pub fn of(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::NotPossible,
            Severity::Warning => Self::NeedsYou,
            Severity::Info | Severity::Hint => Self::Untouched,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Totals;
    use crate::{Options, RecipeSet, SourceFile, port};

    /// The numbers of all places, and of each kind.
    fn check(target: &str, text: &str, expected: &[(&str, [usize; 3])]) {
        let file = SourceFile { path: "a.py".to_owned(), text: text.to_owned() };
        let options = Options { target: target.to_owned(), ..Options::default() };
        let set = RecipeSet::embedded();
        let ported = port(&[file], set, &options);
        let totals = Totals::of(target, std::iter::once((text, &ported.files[0])), set);
        let all = [("all", totals.all)].into_iter();
        let of_kind = totals.kinds.iter().map(|kind| (kind.recipe.as_str(), kind.places));
        let found: Vec<_> = all.chain(of_kind).map(|(name, p)| (name, [p.done, p.to_do, p.not_possible])).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_place_is_counted_once_and_for_each_of_its_kinds() {
        // Two edits in one run of changed lines, and a place that is only reported.
        check(
            "hpu",
            "import torch\n\n\nnet = build().cuda()\nprint(torch.cuda.device_count())\n\n\nold = torch.jit.script(net)\n",
            &[
                ("all", [2, 1, 0]),
                ("hpu#torch-jit", [0, 1, 0]),
                ("hpu#is-available", [1, 0, 0]),
                ("hpu#load-bridge", [1, 0, 0]),
                ("hpu#model-to-device", [1, 0, 0]),
            ],
        );
    }

    #[test]
    fn a_file_with_faults_is_not_possible() {
        check("hpu", "import torch\nnet.cuda(\n", &[("all", [0, 0, 1]), ("engine#syntax", [0, 0, 1])]);
    }
}
