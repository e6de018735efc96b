//! Locations in a text for display, and files that can't be ported at all.

use crate::definitions::{Definitions, Said, Sentence};
use crate::messages::{self, ends_early, file_is_binary, file_too_large};
use crate::ported::{Diagnostic, Severity, SourceFile, Span};
use crate::rope::Rope;
use python::lines::LineStarts;
use python::notebook::{CellLines, is_notebook};
use python::tree::{Id, Index, Tree, kinds};
use sorting::SortedMap;
use std::cell::Cell;
use std::ops::Range;

/// Largest file that is ported, in bytes.
pub(crate) const LARGEST: usize = 8 * MIB;

/// Lines that are tried as the cause of an error above them: each costs a parse.
const MOST_HEADERS: usize = 8;

const MIB: usize = 1024 * 1024;

/// The lines of a text.
struct Lines<'a> {
    text: &'a str,
    starts: LineStarts,
    /// Those of a notebook.
    cells: Option<CellLines>,
    /// The last byte that was asked about, and the characters before it in its line: the next one is often behind it.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    fn new(path: &str, text: &'a str) -> Self {
        let cells = is_notebook(path).then(|| CellLines::of(text));
        Self { text, starts: LineStarts::new(text), cells, last: Cell::default() }
    }

    /// Line and column, from 1, columns in characters.
    fn position(&self, offset: usize) -> (usize, usize) {
        let (row, start) = self.starts.row(offset);
        let start = if start == 0 && self.text.starts_with('\u{feff}') { 3.min(offset) } else { start };
        let (last, before) = self.last.get();
        let (from, before) = if (start..=offset).contains(&last) { (last, before) } else { (start, 0) };
        let column = before + self.text[from..offset].chars().count();
        self.last.set((offset, column));
        (row + 1, column + 1)
    }

    fn span(&self, range: &Range<usize>) -> Span {
        let (line, column) = self.position(range.start);
        let (end_line, end_column) = self.position(range.end);
        let cell = self.cells.as_ref().and_then(|cells| cells.place(line));
        Span { line, column, end_line, end_column, cell }
    }
}

/// A message about a range of bytes of the current text.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    pub(crate) range: Range<usize>,
    pub(crate) severity: Severity,
    /// Its recipe; none for the engine's own, which belong to the section with the message.
    pub(crate) recipe: Option<String>,
    pub(crate) message: Sentence,
    /// [`Diagnostic::stops_step`].
    pub(crate) stops_step: bool,
    /// It also holds for code that nothing uses: the file can't be loaded.
    pub(crate) of_unused_too: bool,
    /// Code within its range that the rule says nothing about: what unrestricted metavariables stand for.
    pub(crate) any: Vec<Range<usize>>,
}

impl Remark {
    /// That manual work is needed.
    pub(crate) fn warning(range: Range<usize>, recipe: &str, message: impl Into<Sentence>) -> Self {
        let recipe = Some(recipe.to_owned());
        Self {
            range,
            severity: Severity::Warning,
            recipe,
            message: message.into(),
            stops_step: false,
            of_unused_too: false,
            any: Vec::new(),
        }
    }

    /// A message of the engine itself.
    pub(crate) fn of_engine(range: Range<usize>, severity: Severity, said: Said) -> Self {
        Self { recipe: None, severity, ..Self::warning(range, "", said) }
    }
}

/// Determines the locations of messages, in the original and in the ported text.
pub(crate) struct Places<'a> {
    rope: &'a Rope<'a>,
    original: Lines<'a>,
    ported: Lines<'a>,
    definitions: &'a Definitions,
}

impl<'a> Places<'a> {
    /// `text` is the rope's, of the file with this path; the definitions have the messages.
    pub(crate) fn new(path: &str, rope: &'a Rope<'a>, text: &'a str, definitions: &'a Definitions) -> Self {
        Self { rope, original: Lines::new(path, rope.original), ported: Lines::new(path, text), definitions }
    }

    /// A message about a byte of the original, and its counterpart in the port.
    pub(crate) fn of_original(&self, at: usize, remark: Remark) -> Diagnostic {
        Diagnostic { original: self.of_byte(at), ..self.diagnostic(remark) }
    }

    /// A byte of the original.
    pub(crate) fn of_byte(&self, at: usize) -> Span {
        self.original.span(&(at..at))
    }

    pub(crate) fn diagnostic(&self, remark: Remark) -> Diagnostic {
        let Remark { range, severity, recipe, message, stops_step, of_unused_too: _, any: _ } = remark;
        let original = self.rope.original_of(self.ported.text, &range);
        let (message, section) = match message {
            Sentence::Text(text) => (text, ""),
            Sentence::Said(said) => self.definitions.message(&said),
        };
        let recipe = recipe.unwrap_or_else(|| section.to_owned());
        Diagnostic {
            original: self.original.span(&original),
            ported: self.ported.span(&range),
            severity,
            recipe,
            message,
            stops_step,
        }
    }
}

/// A file that is not text for the engine: too long, or with bytes that do not occur in source code.
pub(crate) fn unreadable(source: &SourceFile) -> Option<Remark> {
    let text = &source.text;
    if text.len() > LARGEST {
        // Integers: printing and parsing fractions would add tables of 20 KiB to the page.
        let tenths = text.len() / (MIB / 10);
        let size = format!("{}.{}", tenths / 10, tenths % 10);
        let end = text.char_indices().nth(1).map_or(text.len(), |(n, _)| n);
        return Some(Remark::of_engine(
            0..end.min(text.len()),
            Severity::Error,
            file_too_large(size, (LARGEST / MIB).to_string()),
        ));
    }
    text.find('\0').map(|at| Remark::of_engine(at..at + 1, Severity::Error, file_is_binary()))
}

/// A style was requested whose test for the target is impossible.
pub(crate) fn no_test(message: Said) -> Remark {
    Remark::of_engine(0..0, Severity::Error, message)
}

/// Why a text is not Python 3, if so.
pub(crate) fn not_python(text: &str, tree: &Tree) -> Option<Remark> {
    // Only a text with these words can be Python 2; searching the tree costs a traversal.
    let suspicious = ["print ", "exec ", "print\t"].iter().any(|w| text.contains(w));
    if suspicious && let Some(range) = python_2(tree) {
        let line = text[range.clone()].find('\n').map_or(range.end, |n| range.start + n);
        return Some(Remark::of_engine(range.start..line, Severity::Error, messages::python_2()));
    }
    if let Some(at) = lone_return(text, tree) {
        return Some(Remark::of_engine(at..at + 1, Severity::Error, messages::ends_lines_in_cr()));
    }
    if !tree.has_error() {
        return None;
    }
    let mut range = tree.first_error().unwrap_or(0..0);
    // Text after an open bracket is parsed as its contents, so the first error is somewhere after it. As in CPython,
    // one on the bracket's own line is a separate error.
    let goes_on = |at: &usize| text.get(*at..range.end.min(text.len())).is_some_and(|read| read.contains('\n'));
    if let Some(at) = python::open_bracket(text).filter(goes_on) {
        let said = messages::never_closed(&text[at..=at]);
        return Some(Remark::of_engine(at..at + 1, Severity::Error, said));
    }
    // The parser's own error is often in a line above it.
    if let Some(header) = header_without_colon(text, range.start) {
        range = header;
    }
    let end = text[range.start..].char_indices().nth(1).map_or(text.len(), |(n, _)| range.start + n);
    let shown: String = text[range.start..].lines().next().unwrap_or("").trim().chars().take(40).collect();
    let said = if text[range.start..].trim().is_empty() { ends_early() } else { messages::not_python(shown) };
    Some(Remark::of_engine(range.start..range.end.min(end).max(range.start), Severity::Error, said))
}

/// The first line from `at` on that would begin a block if it ended with a colon. All above it is then Python.
fn header_without_colon(text: &str, at: usize) -> Option<Range<usize>> {
    let begins = ["if ", "elif ", "for ", "while ", "with ", "def ", "class ", "async "];
    let from = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut start = from;
    let lines = text[from..].split_inclusive('\n').filter_map(|line| {
        let at = start + line.len() - line.trim_start().len();
        start += line.len();
        let own = line.trim();
        (begins.iter().any(|word| own.starts_with(word))
            && !own.contains([':', '#'])
            && !own.ends_with(['(', '[', '{', ',', '\\']))
        .then(|| at..at + own.len())
    });
    let is_it = |line: &Range<usize>| !Tree::parse(&format!("{}: pass\n", &text[..line.end])).has_error();
    lines.take(MOST_HEADERS).find(is_it)
}

/// A statement that only exists in Python 2. `print >> file, x` is an expression in Python 3.
fn python_2(tree: &Tree) -> Option<Range<usize>> {
    let k = kinds();
    let index = tree.index();
    let prints = index.of_kind(k.print_statement).iter().filter(|id| !prints_into_a_stream(&index, **id));
    let printed = prints.chain(index.of_kind(k.exec_statement)).min();
    printed.map(|id| index.range(*id))
}

/// Whether a print statement is `print >> file, x`.
pub(crate) fn prints_into_a_stream(index: &Index<'_>, statement: Id) -> bool {
    index.children(statement).next().is_some_and(|first| index.kind(first) == kinds().chevron)
}

/// Where a line ends with only CR, as the first of the two lines of `\r\r\n` does. Python begins a new line there; the
/// parser continues, even into the next line of a comment.
fn lone_return(text: &str, tree: &Tree) -> Option<usize> {
    let ends = |at: &usize| !text[at + 1..].starts_with('\n');
    let mut lone = text.match_indices('\r').map(|(at, _)| at).filter(ends).peekable();
    lone.peek()?;
    let index = tree.index();
    // In a string it is an ordinary character.
    lone.find(|at| {
        let place = index.innermost(&(*at..at + 1));
        !place
            .into_iter()
            .flat_map(|id| std::iter::once(id).chain(index.ancestors(id)))
            .any(|id| index.kind(id) == kinds().string)
    })
}

/// Every comment line of a file: its node, where it begins and its text.
pub(crate) fn comment_lines<'t>(index: &Index<'t>) -> impl Iterator<Item = (Id, usize, &'t str)> {
    let text = index.text;
    index.of_kind(kinds().comment).iter().flat_map(move |id| {
        // The tree has many lines of comments as one.
        let range = index.range(*id);
        let lines = text[range.clone()].split_inclusive('\n').scan(range.start, |next, line| {
            let at = *next + (line.len() - line.trim_start().len());
            *next += line.len();
            Some((*id, at, line.trim()))
        });
        lines.filter(|(_, _, line)| !line.is_empty())
    })
}

/// The number of occurrences of each comment in a file.
pub(crate) fn comments(index: &Index<'_>) -> SortedMap<String, usize> {
    let mut counts: SortedMap<String, usize> = SortedMap::new();
    for (_, _, text) in comment_lines(index) {
        *counts.entry(text.to_owned()).or_default() += 1;
    }
    counts
}
