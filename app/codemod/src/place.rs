//! Places in a text as people read them, and files that can't be ported at all.

use crate::order::Map;
use crate::ported::{Diagnostic, Severity, SourceFile, Span};
use crate::rope::Rope;
use crate::tree::{Index, LineStarts, Tree, kinds};
use std::ops::Range;

/// Largest file that is ported, in bytes.
pub(crate) const LARGEST: usize = 8 * MIB;

const MIB: usize = 1024 * 1024;

/// Line and column, from 1, columns in characters.
fn position(text: &str, starts: &LineStarts, offset: usize) -> (usize, usize) {
    let (row, start) = starts.row(offset);
    let start = if start == 0 && text.starts_with('\u{feff}') { 3.min(offset) } else { start };
    (row + 1, text[start..offset].chars().count() + 1)
}

fn span(text: &str, starts: &LineStarts, range: &Range<usize>) -> Span {
    let (line, column) = position(text, starts, range.start);
    let (end_line, end_column) = position(text, starts, range.end);
    Span { line, column, end_line, end_column }
}

/// Something to say about a range of bytes of the current text.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    pub(crate) range: Range<usize>,
    pub(crate) severity: Severity,
    pub(crate) recipe: String,
    pub(crate) message: String,
    /// [`Diagnostic::stops_step`].
    pub(crate) stops_step: bool,
}

impl Remark {
    /// That a person is needed.
    pub(crate) fn warning(range: Range<usize>, recipe: &str, message: impl Into<String>) -> Self {
        Self {
            range,
            severity: Severity::Warning,
            recipe: recipe.to_owned(),
            message: message.into(),
            stops_step: false,
        }
    }

    fn error(range: Range<usize>, recipe: &str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, ..Self::warning(range, recipe, message) }
    }
}

/// Finds the places of remarks, in the original and in the ported text.
pub(crate) struct Places<'a> {
    rope: &'a Rope<'a>,
    original: LineStarts,
    text: &'a str,
    ported: LineStarts,
}

impl<'a> Places<'a> {
    /// `text` is the rope's.
    pub(crate) fn new(rope: &'a Rope<'a>, text: &'a str) -> Self {
        Self { rope, original: LineStarts::new(rope.original), text, ported: LineStarts::new(text) }
    }

    /// A remark on a byte of the original, beside what became of it.
    pub(crate) fn of_original(&self, at: usize, remark: Remark) -> Diagnostic {
        Diagnostic { original: span(self.rope.original, &self.original, &(at..at)), ..self.diagnostic(remark) }
    }

    pub(crate) fn diagnostic(&self, remark: Remark) -> Diagnostic {
        let Remark { range, severity, recipe, message, stops_step } = remark;
        let original = self.rope.original_of(self.text, &range);
        Diagnostic {
            original: span(self.rope.original, &self.original, &original),
            ported: span(self.text, &self.ported, &range),
            severity,
            recipe,
            message,
            stops_step,
        }
    }
}

/// A file that is no text for the engine: too long, or with bytes that no source has.
pub(crate) fn unreadable(source: &SourceFile) -> Option<Remark> {
    let text = &source.text;
    if text.len() > LARGEST {
        // Whole numbers: printing and reading fractions brings tables of 20 KiB into the page.
        let tenths = text.len() / (MIB / 10);
        let message = format!(
            "the file has {}.{} MiB, more than the {} MiB that are ported at once: split it",
            tenths / 10,
            tenths % 10,
            LARGEST / MIB
        );
        let end = text.char_indices().nth(1).map_or(text.len(), |(n, _)| n);
        return Some(Remark::error(0..end.min(text.len()), "engine#too-large", message));
    }
    text.find('\0').map(|at| {
        Remark::error(at..at + 1, "engine#binary", "there is a NUL byte here: this is no source text, or it is UTF-16")
    })
}

/// Branch style was asked for, and there is nothing to branch on.
pub(crate) fn no_modes() -> Remark {
    let message = "branch style needs a project that chooses between compute modes, by an enum or a chain of strings, and \
                   none was found: nothing is changed. Port in place, or give the whole project";
    Remark::error(0..0, "engine#no-compute-modes", message)
}

/// Why a text is not Python 3, if so.
pub(crate) fn not_python(text: &str, tree: &Tree) -> Option<Remark> {
    // Only a text with these words can be Python 2; asking the tree costs a walk.
    let suspicious = ["print ", "exec ", "print\t"].iter().any(|w| text.contains(w));
    if suspicious && let Some(range) = python_2(tree) {
        let line = text[range.clone()].find('\n').map_or(range.end, |n| range.start + n);
        let message = "this is Python 2: port it to Python 3 first (`2to3` does most of it)";
        return Some(Remark::error(range.start..line, "engine#python-2", message));
    }
    if !tree.has_error() {
        return None;
    }
    let range = tree.first_error().unwrap_or(0..0);
    let end = text[range.start..].char_indices().nth(1).map_or(text.len(), |(n, _)| range.start + n);
    let shown: String = text[range.start..].lines().next().unwrap_or("").trim().chars().take(40).collect();
    let message = if text[range.start..].trim().is_empty() {
        "the file ends in the middle of a statement: paste the rest".to_owned()
    } else {
        format!("this is not Python from here on: `{shown}`. The file is left as it was")
    };
    Some(Remark::error(range.start..range.end.min(end).max(range.start), "engine#syntax", message))
}

/// A statement that only Python 2 has.
fn python_2(tree: &Tree) -> Option<Range<usize>> {
    let k = kinds();
    let index = tree.index();
    let printed = index.of_kind(k.print_statement).iter().chain(index.of_kind(k.exec_statement)).min();
    printed.map(|id| index.range(*id))
}

/// How often each comment stands in a file.
pub(crate) fn comments(index: &Index<'_>) -> Map<String, usize> {
    let mut counts: Map<String, usize> = Map::new();
    for id in index.of_kind(kinds().comment) {
        *counts.get_or_default(index.text_of(*id).trim_end().to_owned()) += 1;
    }
    counts
}
