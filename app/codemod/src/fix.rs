//! What a rule wants to do at one place, before it is decided how that looks in the chosen style.

use crate::ported::Applicability;
use python::Change;
use std::ops::Range;

/// A wish of one rule at one place: applied whole or not at all.
#[derive(Clone, Debug)]
pub(crate) struct Fix {
    /// Position of the recipe in the guide; lower goes first where two fixes meet.
    pub(crate) rank: usize,
    pub(crate) recipe: String,
    /// Line of the rule in its guide.
    pub(crate) rule: usize,
    pub(crate) applicability: Applicability,
    /// Where the rule matched, in the current text.
    pub(crate) at: usize,
    /// What a matched expression keeps to itself for the round; empty for a match of statements.
    pub(crate) owned: Range<usize>,
    /// [`crate::ported::Edit::id`].
    pub(crate) id: String,
    pub(crate) lift: Lift,
    pub(crate) changes: Vec<Change>,
    /// Import lines that the new code needs.
    pub(crate) imports: Vec<String>,
    /// Functions that the new code needs.
    pub(crate) blocks: Vec<BroughtBlock>,
}

/// A `python block` that a rule brings along.
#[derive(Clone, Debug)]
pub(crate) struct BroughtBlock {
    pub(crate) name: String,
    /// In the file's indentation and quotes.
    pub(crate) text: String,
}

impl Fix {
    /// Whether it only puts statements under a header.
    pub(crate) fn wraps(&self) -> bool {
        self.changes.iter().any(|c| matches!(c, Change::Wrap { .. }))
    }
}

/// What the branch style does with a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lift {
    /// Put under the guard.
    Guarded,
    /// Written with its guard: taken as it is, where the target can come.
    AsWritten,
    /// Right for every mode: taken as it is, everywhere.
    Shared,
}
