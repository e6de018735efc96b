//! The edit of a rule at one place, before its form in the selected style is determined.

use crate::ported::Applicability;
use python::Change;
use std::ops::Range;

/// An edit of one rule at one place: applied completely or not at all.
#[derive(Clone, Debug)]
pub(crate) struct Fix {
    /// Position of the recipe in the guide; if two fixes overlap, the lower one takes precedence.
    pub(crate) rank: usize,
    pub(crate) recipe: String,
    /// Line of the rule in its guide.
    pub(crate) rule: usize,
    pub(crate) applicability: Applicability,
    /// Where the rule matched, in the current text.
    pub(crate) at: usize,
    /// The bytes of a matched expression that no other fix may change in the round; empty for a match of statements.
    pub(crate) owned: Range<usize>,
    /// [`crate::ported::Edit::id`].
    pub(crate) id: String,
    /// Applied together with the others of its recipe or not at all: if one has to wait for the next round, all do.
    pub(crate) atomic: bool,
    pub(crate) lift: Lift,
    pub(crate) changes: Vec<Change>,
    /// Import lines that the new code needs.
    pub(crate) imports: Vec<String>,
    /// Functions that the new code needs.
    pub(crate) blocks: Vec<BroughtBlock>,
}

/// A `python block` that a rule adds.
#[derive(Clone, Debug)]
pub(crate) struct BroughtBlock {
    pub(crate) name: String,
    /// With the file's indentation and quotes.
    pub(crate) text: String,
}

impl Fix {
    /// Whether it only puts statements under a header.
    pub(crate) fn wraps(&self) -> bool {
        self.changes.iter().any(|c| matches!(c, Change::Wrap { .. }))
    }
}

/// How the styles that keep the code for other devices treat a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lift {
    /// Put under the guard.
    Guarded,
    /// Written with its guard: applied unchanged, where the target is possible.
    AsWritten,
    /// Correct on every device: applied unchanged. Code that it would remove is kept where every device runs it.
    Neutral,
    /// Correct for every mode: applied unchanged, everywhere.
    Shared,
}
