//! The text during a port: pieces of the original and pieces written by recipes, so that the origin of every byte of
//! the result is known, over any number of rounds.

use crate::ported::{Applicability, Edit};
use std::collections::VecDeque;
use std::ops::Range;

/// The author of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Provenance {
    /// Recipe id.
    pub(crate) recipe: String,
    pub(crate) applicability: Applicability,
    /// [`Edit::id`].
    pub(crate) id: String,
}

#[derive(Clone, Debug)]
enum Piece {
    Kept(Range<usize>),
    New { text: String, by: Provenance },
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Kept(range) => range.len(),
            Self::New { text, .. } => text.len(),
        }
    }
    fn by(&self) -> Option<&Provenance> {
        match self {
            Self::Kept(_) => None,
            Self::New { by, .. } => Some(by),
        }
    }
    /// The part of this piece from `from` to `to`, counted in the piece's own bytes.
    fn slice(&self, from: usize, to: usize) -> Self {
        match self {
            Self::Kept(range) => Self::Kept(range.start + from..range.start + to),
            Self::New { text, by } => Self::New { text: text[from..to].to_owned(), by: by.clone() },
        }
    }
}

/// Takes pieces from the front up to a byte of the current text, splitting the last one.
fn take_until(rest: &mut VecDeque<Piece>, at: &mut usize, end: usize, mut sink: impl FnMut(Piece)) {
    while *at < end
        && let Some(piece) = rest.pop_front()
    {
        let len = piece.len();
        let want = end - *at;
        if len > want {
            sink(piece.slice(0, want));
            rest.push_front(piece.slice(want, len));
            *at = end;
        } else {
            sink(piece);
            *at += len;
        }
    }
}

/// The origin of a byte of the current text.
enum Source {
    /// The same byte of the original.
    Same(usize),
    /// It is new; this is where it was inserted.
    Near(usize),
}

/// The line of a byte, without its break.
fn line_around(text: &str, offset: usize) -> Range<usize> {
    let start = text.as_bytes()[..offset].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
    let end = text.as_bytes()[offset..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| offset + n);
    start..end
}

/// A replacement in the current text, with its author.
#[derive(Clone, Debug)]
pub(crate) struct Replacement {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
    pub(crate) by: Provenance,
}

/// The fate of a part of the original.
pub(crate) struct Fate<'r> {
    /// The author of the removal.
    pub(crate) by: &'r Provenance,
    /// Whether it was replaced.
    pub(crate) written: bool,
}

/// A text in pieces.
#[derive(Clone, Debug)]
pub(crate) struct Rope<'a> {
    pub(crate) original: &'a str,
    pieces: Vec<Piece>,
    /// Where each piece ends in the current text.
    ends: Vec<usize>,
    /// Where the kept text up to each piece ends in the original.
    kept: Vec<usize>,
}

impl<'a> Rope<'a> {
    pub(crate) fn new(original: &'a str) -> Self {
        Self {
            original,
            pieces: vec![Piece::Kept(0..original.len())],
            ends: vec![original.len()],
            kept: vec![original.len()],
        }
    }

    /// The piece that contains a byte of the current text; the number of pieces if there is no such byte.
    fn piece(&self, offset: usize) -> usize {
        self.ends.partition_point(|end| *end <= offset)
    }

    /// The end in the original of the last kept text before a piece, and its end in the current text.
    fn kept_before(&self, piece: usize) -> (usize, usize) {
        let kept = (0..piece).rev().find_map(|n| match &self.pieces[n] {
            Piece::Kept(range) => Some((range.end, self.ends[n])),
            Piece::New { .. } => None,
        });
        kept.unwrap_or((0, 0))
    }

    pub(crate) fn text(&self) -> String {
        let mut out = String::with_capacity(self.original.len() + 256);
        for piece in &self.pieces {
            out.push_str(match piece {
                Piece::Kept(range) => &self.original[range.clone()],
                Piece::New { text, .. } => text,
            });
        }
        out
    }

    /// Applies replacements that are sorted and do not overlap, in current bytes.
    pub(crate) fn apply(&mut self, replacements: &[Replacement]) {
        let mut out = Vec::with_capacity(self.pieces.len() + replacements.len() * 2);
        let mut rest: VecDeque<Piece> = std::mem::take(&mut self.pieces).into();
        let mut at = 0;
        for replacement in replacements {
            take_until(&mut rest, &mut at, replacement.range.start, |piece| out.push(piece));
            out.push(Piece::New { text: replacement.text.clone(), by: replacement.by.clone() });
            take_until(&mut rest, &mut at, replacement.range.end, |_| ());
        }
        out.extend(rest);
        let (mut end, mut kept) = (0, 0);
        self.ends.clear();
        self.kept.clear();
        for piece in &out {
            end += piece.len();
            if let Piece::Kept(range) = piece {
                kept = range.end;
            }
            self.ends.push(end);
            self.kept.push(kept);
        }
        self.pieces = out;
    }

    /// The byte of the original to which a byte of the current text corresponds or after which it comes.
    pub(crate) fn origin(&self, offset: usize) -> usize {
        let at = self.piece(offset);
        match self.pieces.get(at) {
            Some(Piece::Kept(range)) => range.end - (self.ends[at] - offset),
            _ => self.kept_before(at).0,
        }
    }

    /// The bytes of the original to which a range of the current `text` corresponds; empty if it is only in the current
    /// text.
    pub(crate) fn original_of(&self, text: &str, range: &Range<usize>) -> Range<usize> {
        match self.source(text, range.start) {
            Source::Same(start) if range.is_empty() => start..start,
            Source::Same(start) => {
                let last = text[range.clone()].chars().next_back().map_or(1, char::len_utf8);
                match self.source(text, range.end - last) {
                    Source::Same(at) => start..(at + last).max(start),
                    Source::Near(end) => start..end.max(start),
                }
            }
            Source::Near(near) => self.moved(text, range).unwrap_or(near..near),
        }
    }

    /// Where a range of new text stands in the original, if its line or the text itself is there, and once: code that was moved.
    fn moved(&self, text: &str, range: &Range<usize>) -> Option<Range<usize>> {
        let only = |wanted: &str| {
            let mut places = self.original.match_indices(wanted);
            places.next().map(|(start, _)| start).filter(|_| places.next().is_none())
        };
        let start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
        let start = start + text[start..range.start].find(|c: char| !c.is_whitespace()).unwrap_or(range.start - start);
        let end = text[range.end..].find('\n').map_or(text.len(), |length| range.end + length);
        let by_line = || only(text[start..end].trim_end()).map(|line| line + (range.start - start));
        let by_text = || only(&text[range.clone()]);
        // A name alone may be anything.
        let at = if text[range.clone()].contains(['(', '[', ' ']) { by_line().or_else(by_text) } else { None }?;
        Some(at..at + range.len()).filter(|found| self.original.get(found.clone()) == text.get(range.clone()))
    }

    fn source(&self, text: &str, offset: usize) -> Source {
        let at = self.piece(offset);
        if let Some(Piece::Kept(range)) = self.pieces.get(at) {
            return Source::Same(range.end - (self.ends[at] - offset));
        }
        let (last, start) = self.kept_before(at);
        let kept_behind = (at..self.pieces.len()).find_map(|n| match &self.pieces[n] {
            Piece::Kept(range) => Some((range.start, self.ends[n] - range.len())),
            Piece::New { .. } => None,
        });
        let (next, end) = kept_behind.unwrap_or((self.original.len(), self.ends.last().copied().unwrap_or(0)));
        self.rewritten(text, offset, &(start..end), &(last..next))
    }

    /// A byte of `written`, which replaces `replaced`: if a line of the old code has the same text, that is the place.
    fn rewritten(&self, text: &str, offset: usize, written: &Range<usize>, replaced: &Range<usize>) -> Source {
        let line = line_around(text, offset);
        let words = text[line.clone()].trim();
        let same = |text: &str, lines: Range<usize>| -> Vec<usize> {
            let mut starts = Vec::new();
            let mut at = line_around(text, lines.start).start;
            for line in text[at..line_around(text, lines.end).end].split_inclusive('\n') {
                if line.trim() == words {
                    starts.push(at + line.len() - line.trim_start().len());
                }
                at += line.len();
            }
            starts
        };
        let old = &self.original[replaced.clone()];
        let near = replaced.start + if old.trim().is_empty() { 0 } else { old.len() - old.trim_start().len() };
        let inside = text[line.start..offset].trim_start().len();
        let which = same(text, written.clone()).iter().take_while(|start| **start < line.start).count();
        match same(self.original, replaced.clone()).get(which) {
            Some(start) if !words.is_empty() && !old.is_empty() => {
                let inside = inside.min(words.len());
                if inside < words.len() { Source::Same(start + inside) } else { Source::Near(start + inside) }
            }
            _ => Source::Near(near),
        }
    }

    /// Where a byte of the original is in the current text; none if it was removed.
    pub(crate) fn place(&self, original: usize) -> Option<usize> {
        let at = self.kept.partition_point(|end| *end <= original);
        match self.pieces.get(at)? {
            Piece::Kept(range) if range.contains(&original) => Some(self.ends[at] - (range.end - original)),
            _ => None,
        }
    }

    /// The fate of a range of the original of which only white space is left; none if more of it is left.
    pub(crate) fn fate(&self, gone: &Range<usize>) -> Option<Fate<'_>> {
        let (mut by, mut written) = (None, false);
        let before = self.kept.partition_point(|end| *end < gone.start);
        let is_kept = |at: &usize| matches!(self.pieces[*at], Piece::Kept(_));
        let first = (0..before).rev().find(is_kept).unwrap_or(0);
        for piece in &self.pieces[first..] {
            match piece {
                Piece::New { text, by: author } => {
                    by = by.or(Some(author));
                    written |= !text.trim().is_empty();
                }
                Piece::Kept(range) => {
                    if range.start < gone.start {
                        (by, written) = (None, false);
                    }
                    let inside = range.start.max(gone.start)..range.end.min(gone.end);
                    if inside.start < inside.end && !self.original[inside].trim().is_empty() {
                        return None;
                    }
                    if range.end > gone.end {
                        break;
                    }
                }
            }
        }
        by.map(|by| Fate { by, written })
    }

    /// The author of the byte at an offset of the current text; none for the original's.
    pub(crate) fn author(&self, offset: usize) -> Option<&Provenance> {
        self.pieces.get(self.piece(offset))?.by()
    }

    /// All authors of text written or deleted in a range of the current text.
    pub(crate) fn authors(&self, range: &Range<usize>) -> Vec<Provenance> {
        let mut out: Vec<Provenance> = Vec::new();
        for by in self.authors_in(range) {
            if !out.contains(by) {
                out.push(by.clone());
            }
        }
        out
    }

    /// The first of them.
    pub(crate) fn first_author(&self, range: &Range<usize>) -> Option<&Provenance> {
        self.authors_in(range).next()
    }

    /// The author of each piece that meets a range of the current text.
    fn authors_in(&self, range: &Range<usize>) -> impl Iterator<Item = &Provenance> {
        let first = self.piece(range.start);
        let range = range.clone();
        let pieces = self.pieces[first..].iter().zip(&self.ends[first..]);
        let pieces = pieces.map(|(piece, end)| (piece, end - piece.len(), *end));
        let pieces = pieces.take_while(move |(_, start, _)| *start < range.end);
        let meets = move |start: usize, end: usize| if start == end { range.start < start } else { range.start < end };
        pieces.filter(move |(_, start, end)| meets(*start, *end)).filter_map(|(piece, ..)| piece.by())
    }

    /// The edits that transform the original into the current text, sorted and not overlapping.
    pub(crate) fn edits(&self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        let mut done = 0;
        let mut pending: Vec<(&str, &Provenance)> = Vec::new();
        let mut flush = |pending: &mut Vec<(&str, &Provenance)>, start: usize, end: usize| {
            let mut runs: Vec<(String, &Provenance)> = Vec::new();
            for (text, by) in pending.drain(..) {
                match runs.last_mut() {
                    Some((run, last)) if last.recipe == by.recipe && last.id == by.id => run.push_str(text),
                    _ => runs.push((text.to_owned(), by)),
                }
            }
            // A deletion that a later recipe wrote over leaves an empty run next to the real one.
            if runs.iter().any(|(t, _)| !t.is_empty()) && runs.len() > 1 {
                runs.retain(|(t, _)| !t.is_empty());
            }
            let mut start = start;
            for (text, by) in runs {
                if start == end && text.is_empty() {
                    continue;
                }
                edits.push(Edit {
                    id: by.id.clone(),
                    recipe: by.recipe.clone(),
                    applicability: by.applicability,
                    start,
                    end,
                    text,
                    comments_removed: Vec::new(),
                });
                start = end;
            }
        };
        for piece in &self.pieces {
            match piece {
                Piece::Kept(range) => {
                    if range.is_empty() && range.start <= done {
                        continue;
                    }
                    flush(&mut pending, done, range.start);
                    done = range.end;
                }
                Piece::New { text, by } => pending.push((text, by)),
            }
        }
        flush(&mut pending, done, self.original.len());
        edits
    }
}

/// The text after edits of the original.
pub(crate) fn apply_edits(original: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(original.len() + 256);
    let mut done = 0;
    for edit in edits {
        out.push_str(&original[done..edit.start]);
        out.push_str(&edit.text);
        done = edit.end;
    }
    out.push_str(&original[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(id: &str) -> Provenance {
        Provenance { recipe: id.to_owned(), applicability: Applicability::Safe, id: id.to_owned() }
    }

    fn check(original: &str, rounds: &[&[(Range<usize>, &str)]], expected: &str) {
        let mut rope = Rope::new(original);
        for (n, round) in rounds.iter().enumerate() {
            let replacements: Vec<_> = round
                .iter()
                .map(|(range, text)| Replacement {
                    range: range.clone(),
                    text: (*text).to_owned(),
                    by: by(&n.to_string()),
                })
                .collect();
            rope.apply(&replacements);
        }
        assert_eq!(rope.text(), expected);
        assert_eq!(apply_edits(original, &rope.edits()), expected);
    }

    #[test]
    fn one_round() {
        check("abcdef", &[&[(1..2, "X"), (4..4, "--")]], "aXcd--ef");
        check("abc", &[&[(0..0, "<"), (3..3, ">")]], "<abc>");
        check("abc", &[&[(0..3, "")]], "");
    }

    #[test]
    fn a_later_round_writes_over_an_earlier_one() {
        check("abcdef", &[&[(1..2, "XYZ")], &[(2..5, "_")]], "aX_def");
        check("abcdef", &[&[(1..5, "")], &[(1..1, "new")]], "anewf");
        check("abcdef", &[&[(2..2, "12"), (4..4, "34")], &[(1..8, "")]], "aef");
    }

    /// Where `word` of the text after one replacement of `old` by `new` is in the original, as the text there.
    fn check_original(original: &str, old: &str, new: &str, word: &str, line: usize, there: &str) {
        let start = original.find(old).unwrap();
        let mut rope = Rope::new(original);
        rope.apply(&[Replacement { range: start..start + old.len(), text: new.to_owned(), by: by("r") }]);
        let text = rope.text();
        let at = text.find(word).unwrap();
        let found = rope.original_of(&text, &(at..at + word.len()));
        let row = original[..found.start].matches('\n').count() + 1;
        assert_eq!((row, &original[found]), (line, there), "{text}");
    }

    #[test]
    fn places_of_the_current_text_in_the_original() {
        check_original("a\nb\nc é\n", "a\n", "a\nx\ny\n", "c é", 3, "c é");
        // New text next to old text, or in place of it.
        check_original("a\nb\nc\n", "b", "b\nnew", "new", 2, "");
        check_original("a\n  old(1)\nc\n", "  old(1)\n", "  new(1)\n  new(2)\n", "new(2)", 2, "");
        // Lines that were only moved, in order.
        check_original("a\nif x:\n  f(1)\n  é; g(2)\n", "  f(1)\n  é; g(2)\n", "f(1)\né; g(2)\n", "g(2)", 4, "g(2)");
        // A multi-byte last character, in a line that was moved.
        check_original("if x:\n  f(η)\n", "if x:\n  f(η)\n", "f(η)\n", "f(η", 2, "f(η");
        check_original("f()\nx\nf()\n", "f()\nx\nf()", "  f()\n  y\n  f()  ", "f()  ", 3, "f()");
        check_original("", "", "new\n", "new", 1, "");
    }

    #[test]
    fn moved_code_has_its_old_place() {
        let mut rope = Rope::new("import a\nx = f(1)\n");
        rope.apply(&[
            Replacement { range: 9..18, text: String::new(), by: by("r") },
            Replacement { range: 0..0, text: "def g():\n    f(1)\n".to_owned(), by: by("r") },
        ]);
        let text = "def g():\n    f(1)\nimport a\n";
        assert_eq!(rope.original_of(text, &(13..17)), 13..17);
    }

    #[test]
    fn origin_of_new_text_is_the_place_it_was_put() {
        let mut rope = Rope::new("abcdef");
        rope.apply(&[Replacement { range: 2..3, text: "1234".to_owned(), by: by("r") }]);
        assert_eq!(rope.origin(1), 1);
        assert_eq!(rope.origin(4), 2);
        assert_eq!(rope.origin(6), 3);
        assert_eq!(rope.origin(7), 4);
    }
}
