//! Generates inputs from an input.

mod bytes;
mod expressions;
mod layout;
mod project;
mod statements;

use crate::fuzz::random::Random;
use python::{Index, Tree};
use std::ops::Range;

pub(crate) use bytes::bytes;
pub(crate) use project::project;

/// One way to mutate a program, possibly with parts of another one; none if the program has no place for it.
type Change = fn(&Index<'_>, &Index<'_>, &mut Random) -> Option<String>;

/// Another program: statements and expressions of it changed, moved, wrapped, formatted differently, or taken from
/// `other`.
pub(crate) fn program(text: &str, other: &str, random: &mut Random) -> String {
    let other = Tree::parse(other);
    let other = other.index();
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        let tree = Tree::parse(&text);
        let index = tree.index();
        let changes = match random.below(10) {
            0..4 => statements::CHANGES,
            4..8 => expressions::CHANGES,
            _ => layout::CHANGES,
        };
        // A mutation without a place does not count: another is drawn.
        let changed = (0..4).find_map(|_| random.pick(changes).and_then(|change| change(&index, &other, random)));
        if let Some(changed) = changed.filter(|changed| changed.len() < MOST_BYTES) {
            text = changed;
        }
    }
    text
}

/// A program that grows without limit only gets slower.
const MOST_BYTES: usize = 24 << 10;

/// The text with a range of it replaced.
fn replaced(text: &str, range: Range<usize>, by: &str) -> Option<String> {
    Some([text.get(..range.start)?, by, text.get(range.end..)?].concat())
}
