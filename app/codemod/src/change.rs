//! What a rule wants to do at one place, before it is decided how that looks in the chosen style.

use crate::facts::{FileView, line_indent};
use crate::order::Set;
use crate::ported::Applicability;
use crate::tree::{Id, Tree, kinds};
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

/// One change of the text. Lines of new code are separated by `\n` and indented by the file's own unit.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A part of a statement.
    Expression { node: Id, range: Range<usize>, text: String },
    /// New statements before or after one.
    Insert { at: Id, after: bool, text: String },
    /// Statements of one block, replaced; an empty text deletes them.
    Replace { first: Id, last: Id, text: String },
    /// A new clause before an existing one.
    Clause { before: Id, text: String },
    /// Statements of one block under a new header, or with none, into the block in front of them.
    Wrap { first: Id, last: Id, header: String },
    /// Text anywhere, for files that are no Python and for imports.
    Raw { range: Range<usize>, text: String },
}

impl Change {
    /// The code that it brings.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Expression { text, .. }
            | Self::Insert { text, .. }
            | Self::Replace { text, .. }
            | Self::Clause { text, .. }
            | Self::Raw { text, .. }
            | Self::Wrap { header: text, .. } => text,
        }
    }

    /// The bytes that no other change may touch in the same round.
    pub(crate) fn extents(&self, view: &FileView<'_>) -> Vec<Range<usize>> {
        match self {
            Self::Wrap { first, last, .. } => {
                std::iter::once(view.index.item(*first).start..view.index.item(*last).end).collect()
            }
            _ => splices(view, self).into_iter().map(|s| s.range).collect(),
        }
    }

    /// Whether it would write over a comment that it does not write again.
    pub(crate) fn swallows_comment(&self, view: &FileView<'_>) -> bool {
        let (range, text) = match self {
            Self::Expression { range, text, .. } => (range.clone(), text),
            Self::Replace { first, last, text } if !text.is_empty() => {
                (view.index.item(*first).start..view.index.item(*last).end, text)
            }
            _ => return false,
        };
        view.index.of_kind(kinds().comment).iter().any(|c| {
            let item = view.index.item(*c);
            range.start <= item.start && item.end <= range.end && !text.contains(view.index.text_of(*c))
        })
    }

    /// A node at which the change happens.
    pub(crate) fn node(&self) -> Option<Id> {
        match self {
            Self::Expression { node, .. } => Some(*node),
            Self::Insert { at, .. } => Some(*at),
            Self::Replace { first, .. } | Self::Wrap { first, .. } => Some(*first),
            Self::Clause { before, .. } => Some(*before),
            Self::Raw { .. } => None,
        }
    }
}

/// A replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// Indents every line but the first, and ends lines as the file does. Lines that begin inside a string stay.
pub(crate) fn at_indent(text: &str, indent: &str, newline: &str) -> String {
    let inside = lines_in_strings(text);
    let mut out = String::new();
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            out.push_str(newline);
            if !line.is_empty() && !inside.contains(&n) {
                out.push_str(indent);
            }
        }
        out.push_str(line);
    }
    out
}

/// Takes one indentation off every line but the first; lines that begin inside a string stay.
pub(crate) fn dedent(text: &str, indent: &str) -> String {
    let inside = lines_in_strings(text);
    let mut out = String::new();
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        let shift = n > 0 && !inside.contains(&n);
        out.push_str(if shift { line.strip_prefix(indent).unwrap_or(line) } else { line });
    }
    out
}

/// Numbers, from 0, of the lines whose first character is inside a string: moving them would change what it says.
pub(crate) fn lines_in_strings(text: &str) -> Set<usize> {
    // Only these can run over a line.
    if !(text.contains("\"\"\"") || text.contains("'''") || text.contains("\\\n")) {
        return Set::new();
    }
    let tree = Tree::parse(text);
    let index = tree.index();
    let mut lines = Set::new();
    for string in index.of_kind(kinds().string) {
        let range = index.range(*string);
        let first = text[..range.start].matches('\n').count();
        let breaks = text[range].matches('\n').count();
        lines.extend(first + 1..=first + breaks);
    }
    lines
}

/// End of the line that holds an offset, before its line break.
pub(crate) fn line_end(text: &str, offset: usize) -> usize {
    let end = text[offset..].find('\n').map_or(text.len(), |n| offset + n);
    if text[..end].ends_with('\r') && end > offset { end - 1 } else { end }
}

/// Start of the line that holds an offset.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |n| n + 1)
}

/// Whether a statement has its lines to itself: no `;` neighbour and no header in front of it.
pub(crate) fn owns_its_lines(view: &FileView<'_>, first: Id, last: Id) -> bool {
    let text = view.index.text;
    let (start, end) = (view.index.item(first).start, view.index.item(last).end);
    let before = &text[line_start(text, start)..start];
    let after = text[end..line_end(text, end)].trim_start();
    before.trim_start_matches('\u{feff}').trim().is_empty() && (after.is_empty() || after.starts_with('#'))
}

/// How one change is written into the text as it is (in place).
pub(crate) fn splices(view: &FileView<'_>, change: &Change) -> Vec<Splice> {
    let text = view.index.text;
    let newline = view.layout.newline;
    match change {
        Change::Expression { range, text, .. } | Change::Raw { range, text } => {
            vec![Splice { range: range.clone(), text: text.clone() }]
        }
        Change::Insert { at, after, text: new } => {
            let item = view.index.item(*at);
            let indent = line_indent(text, item.start);
            if !owns_its_lines(view, *at, *at) {
                return beside(view, *at, *after, new);
            }
            if *after {
                let end = statement_end(view, *at);
                let lead = if new.starts_with('\n') { "" } else { indent };
                vec![Splice { range: end..end, text: format!("{newline}{lead}{}", at_indent(new, indent, newline)) }]
            } else {
                let new = at_indent(new, indent, newline);
                vec![Splice { range: item.start..item.start, text: format!("{new}{newline}{indent}") }]
            }
        }
        Change::Replace { first, last, text: new } if !new.is_empty() => {
            let (start, end) = (view.index.item(*first).start, view.index.item(*last).end);
            let indent = line_indent(text, start);
            vec![Splice { range: start..end, text: at_indent(new, indent, newline) }]
        }
        Change::Replace { first, last, .. } => vec![deletion(view, *first, *last)],
        Change::Wrap { first, last, header } => wrapping(view, *first, *last, header),
        Change::Clause { before, text: new } => {
            let start = view.index.item(*before).start;
            let indent = line_indent(text, start);
            vec![Splice { range: start..start, text: format!("{}{newline}{indent}", at_indent(new, indent, newline)) }]
        }
    }
}

/// Statements that share their line: the new one takes a line of its own where the line belongs to a block, and joins the
/// line where it hangs on a header (`if x: a`) and has no block itself.
fn beside(view: &FileView<'_>, at: Id, after: bool, new: &str) -> Vec<Splice> {
    let index = &view.index;
    let text = index.text;
    let newline = view.layout.newline;
    let item = index.item(at);
    if hangs_on_header(view, at) {
        let joined = new.replace('\n', "; ");
        return vec![if after {
            Splice { range: item.end..item.end, text: format!("; {joined}") }
        } else {
            Splice { range: item.start..item.start, text: format!("{joined}; ") }
        }];
    }
    let indent = line_indent(text, item.start);
    let new = at_indent(new, indent, newline);
    let siblings: Vec<Id> = index.parent(at).map_or_else(Vec::new, |b| index.parts(b).collect());
    let n = siblings.iter().position(|s| *s == at).unwrap_or(0);
    let same_line = |a: usize, b: usize| !text[a.min(b)..a.max(b)].contains('\n');
    let next = siblings.get(n + 1).map(|s| index.item(*s).start).filter(|s| same_line(item.end, *s));
    let previous = n.checked_sub(1).map(|p| index.item(siblings[p]).end).filter(|e| same_line(*e, item.start));
    vec![match (after, next, previous) {
        (true, Some(next), _) => {
            Splice { range: item.end..next, text: format!("{newline}{indent}{new}{newline}{indent}") }
        }
        (true, None, _) => {
            let end = statement_end(view, at);
            Splice { range: end..end, text: format!("{newline}{indent}{new}") }
        }
        (false, _, Some(previous)) => {
            Splice { range: previous..item.start, text: format!("{newline}{indent}{new}{newline}{indent}") }
        }
        (false, _, None) => Splice { range: item.start..item.start, text: format!("{new}{newline}{indent}") },
    }]
}

/// Whether a statement stands on the line of the header it belongs to.
fn hangs_on_header(view: &FileView<'_>, at: Id) -> bool {
    let index = &view.index;
    let Some(block) = index.parent(at).filter(|b| index.kind(*b) == kinds().block) else { return false };
    let start = index.item(block).start;
    !index.text[line_start(index.text, start)..start].trim_start_matches('\u{feff}').trim().is_empty()
}

impl Change {
    /// Whether there is no place for it: a block of its own behind `if x: a` on one line.
    pub(crate) fn has_no_place(&self, view: &FileView<'_>) -> bool {
        match self {
            Self::Insert { at, text, .. } => text.trim_end().contains('\n') && hangs_on_header(view, *at),
            Self::Replace { first, last, text } => text.contains('\n') && !owns_its_lines(view, *first, *last),
            _ => false,
        }
    }
}

/// A header above statements, and one more level for each of their lines that does not begin inside a string.
fn wrapping(view: &FileView<'_>, first: Id, last: Id, header: &str) -> Vec<Splice> {
    let text = view.index.text;
    let (start, end) = (view.index.item(first).start, view.index.item(last).end);
    let (newline, unit) = (view.layout.newline, &view.layout.indent);
    let indent = line_indent(text, start);
    let strings: Vec<Range<usize>> = view
        .index
        .of_kind(kinds().string)
        .iter()
        .map(|s| view.index.range(*s))
        .filter(|r| r.start < end && r.end > start && text[r.clone()].contains('\n'))
        .collect();
    // Without a header the statements go into the block in front of them.
    let lead = if header.is_empty() { unit.clone() } else { format!("{header}{newline}{indent}{unit}") };
    let mut out = vec![Splice { range: start..start, text: lead }];
    let breaks = text[start..end].match_indices('\n').map(|(n, _)| start + n + 1);
    for at in breaks {
        let blank = text[at..line_end(text, at)].trim().is_empty();
        if !blank && !strings.iter().any(|r| r.start < at && at < r.end) {
            out.push(Splice { range: at..at, text: unit.clone() });
        }
    }
    out
}

/// End of a statement with the comment behind it on its last line.
pub(crate) fn statement_end(view: &FileView<'_>, id: Id) -> usize {
    let text = view.index.text;
    let end = view.index.item(id).end;
    let line = line_end(text, end);
    if text[end..line].trim_start().starts_with('#') || text[end..line].trim().is_empty() {
        text[..line].trim_end_matches([' ', '\t']).len().max(end)
    } else {
        end
    }
}

/// Removes statements with their lines; a block that would be empty keeps `pass`, and comments stay.
fn deletion(view: &FileView<'_>, first: Id, last: Id) -> Splice {
    let text = view.index.text;
    let (start, end) = (view.index.item(first).start, view.index.item(last).end);
    let alone = view.index.parent(first).is_some_and(|block| {
        view.index.kind(block) == kinds().block && view.index.parts(block).all(|s| s >= first && s <= last)
    });
    if alone {
        return Splice { range: start..end, text: "pass".to_owned() };
    }
    if !owns_its_lines(view, first, last) {
        // `a; b`: take the semicolon along.
        let line = line_end(text, end);
        let rest = &text[end..line];
        if let Some(n) = rest.find(';').filter(|n| rest[..*n].trim().is_empty()) {
            let after = &rest[n + 1..];
            let blanks = after.len() - after.trim_start().len();
            return Splice { range: start..end + n + 1 + blanks, text: String::new() };
        }
        let before = text[..start].trim_end();
        let cut = before.strip_suffix(';').map_or(start, |b| b.trim_end().len());
        return Splice { range: cut..end, text: String::new() };
    }
    let line = line_end(text, end);
    if text[end..line].trim_start().starts_with('#') {
        let comment = end + text[end..line].find('#').unwrap_or(0);
        return Splice { range: start..comment, text: String::new() };
    }
    let begin = line_start(text, start);
    let begin = if begin == 0 && text.starts_with('\u{feff}') { 3 } else { begin };
    let mut stop = line;
    for newline in ["\r\n", "\n"] {
        if text[stop..].starts_with(newline) {
            stop += newline.len();
            break;
        }
    }
    Splice { range: begin..stop, text: String::new() }
}
