//! The visible lines of the source, with their colours and the port's messages.

use crate::port::state::{State, needs_person};
use crate::shared::text::hash_of;
use std::ops::Range;

/// A line of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct PaintedLine {
    /// Its number, from 0.
    pub number: usize,
    /// Its text.
    pub text: String,
    /// Its colours.
    pub colours: Vec<u32>,
    /// Whether there is a message about it, and whether one of these requires action.
    pub mark: Option<bool>,
    /// Equal for lines with the same contents, if the same number of such lines precede them.
    pub key: u64,
}

impl State {
    /// The lines of a window. Colours and messages come from the last port; a line that was typed since has none yet.
    pub fn painted(&self, window: Range<usize>) -> Vec<PaintedLine> {
        let Some(lines) = self.file().map(|file| &file.lines) else { return Vec::new() };
        let view = self.view.as_deref();
        let messages = self.outcome_of(self.selected).map(|file| &file.diagnostics[..]).unwrap_or_default();
        let mut painted: Vec<PaintedLine> = Vec::new();
        for number in window.start..window.end.min(lines.len()) {
            let text = lines.line(number);
            // The line was at the same distance from the start or from the end.
            let old = view.and_then(|view| {
                let from_end = (number + view.old.len()).checked_sub(lines.len());
                [Some(number), from_end].into_iter().flatten().find(|old| view.old.line(*old) == text)
            });
            let colours = match (view, old) {
                (Some(view), Some(old)) => view.old_colours.line(old).to_vec(),
                _ => Vec::new(),
            };
            let here = messages.iter().filter(|d| old.is_some_and(|old| d.original.line == old + 1));
            let mark = here.map(needs_person).reduce(|a, b| a || b);
            let twins = painted.iter().filter(|line| line.text == text && line.colours == colours).count();
            let key = hash_of(&(text, &colours, twins));
            painted.push(PaintedLine { number, text: text.to_owned(), colours, mark, key });
        }
        painted
    }
}
