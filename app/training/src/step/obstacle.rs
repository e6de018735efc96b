//! What keeps a training step from being followed.

use python::tree::Id;

/// One thing that keeps a step from being followed or rewritten as a whole. What is said of it to the user is a message of that
/// name in the target's guide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// `several_optimizers`.
    pub name: &'static str,
    /// Where it stands.
    pub at: Id,
    /// What the message may quote of the program, by the name of the slot.
    pub slots: Vec<(&'static str, String)>,
}

impl Obstacle {
    /// One whose message quotes nothing.
    pub fn new(name: &'static str, at: Id) -> Self {
        Self { name, at, slots: Vec::new() }
    }

    /// The same, with something for the message to quote.
    #[must_use]
    pub fn quoting(mut self, slot: &'static str, text: impl Into<String>) -> Self {
        self.slots.push((slot, text.into()));
        self
    }
}

/// What was found of a part of a step, or what is in the way.
pub type Found<T> = Result<T, Obstacle>;

/// An obstacle in place of what was looked for.
pub(crate) fn obstacle<T>(name: &'static str, at: Id) -> Found<T> {
    Err(Obstacle::new(name, at))
}
