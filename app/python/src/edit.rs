//! Changes of a file's text: expressions and statements replaced, inserted, removed and wrapped, with the file's own
//! indentation and line endings.

use crate::file::PythonFile;
use crate::lines::{begins_cell, line_end, line_indent, line_start};
use crate::tree::{Id, Tree, kinds};
use sorting::SortedSet;
use std::ops::Range;

/// One change of the text. Lines of new code are separated by `\n` and indented by the file's own unit.
#[derive(Clone, Debug)]
pub enum Change {
    /// A part of a statement.
    Expression {
        /// The expression.
        node: Id,
        /// Its bytes.
        range: Range<usize>,
        /// The text that replaces it.
        text: String,
    },
    /// New statements before or after one.
    Insert {
        /// The statement next to which they are inserted.
        at: Id,
        /// Whether they are inserted after it.
        after: bool,
        /// The new statements.
        text: String,
    },
    /// Statements of one block, replaced; an empty text deletes them.
    Replace {
        /// The first statement that is replaced.
        first: Id,
        /// The last one.
        last: Id,
        /// The text that replaces them.
        text: String,
    },
    /// A new clause before an existing one.
    Clause {
        /// The clause that follows.
        before: Id,
        /// The new clause, its header included.
        text: String,
    },
    /// Statements of one block under a new header, or, without one, moved into the block before them.
    Wrap {
        /// The first statement that moves in.
        first: Id,
        /// The last one.
        last: Id,
        /// The header, with its colon; empty for none.
        header: String,
    },
    /// Text anywhere, for non-Python files and for imports.
    Raw {
        /// The bytes that are replaced.
        range: Range<usize>,
        /// The text that replaces them.
        text: String,
    },
}

impl Change {
    /// The new code.
    pub fn text(&self) -> &str {
        match self {
            Self::Expression { text, .. }
            | Self::Insert { text, .. }
            | Self::Replace { text, .. }
            | Self::Clause { text, .. }
            | Self::Raw { text, .. }
            | Self::Wrap { header: text, .. } => text,
        }
    }

    /// The bytes that no other change may overlap in the same round.
    pub fn extents(&self, file: &PythonFile<'_>) -> Vec<Range<usize>> {
        match self {
            Self::Wrap { first, last, .. } => {
                std::iter::once(file.index.item(*first).start..file.index.item(*last).end).collect()
            }
            // What is written there does not matter.
            _ => splices_with(file, self, |_, _, _| String::new()).into_iter().map(|s| s.range).collect(),
        }
    }

    /// Whether it would overwrite a comment without rewriting it.
    pub fn swallows_comment(&self, file: &PythonFile<'_>) -> bool {
        let (range, text) = match self {
            Self::Expression { range, text, .. } => (range.clone(), text),
            Self::Replace { first, last, text } if !text.is_empty() => {
                (file.index.item(*first).start..file.index.item(*last).end, text)
            }
            _ => return false,
        };
        let comments = file.index.of_kind(kinds().comment);
        let first = comments.partition_point(|c| file.index.item(*c).start < range.start);
        let inside = comments[first..].iter().take_while(|c| file.index.item(**c).end <= range.end);
        inside.into_iter().any(|c| !text.contains(file.index.text_of(*c).trim_end()))
    }

    /// A node at the location of the change.
    pub fn node(&self) -> Option<Id> {
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
pub struct Splice {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// The text that replaces them.
    pub text: String,
}

/// Indents every line but the first, and uses the file's line endings. Lines that begin inside a string are unchanged.
pub fn at_indent(text: &str, indent: &str, newline: &str) -> String {
    let inside = if indent.is_empty() { SortedSet::new() } else { lines_in_strings(text) };
    let mut out = String::new();
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            out.push_str(newline);
            if !line.is_empty() && !inside.contains(&n) {
                out.push_str(indent);
            }
        }
        // Lines that were copied from the file have its line endings.
        out.push_str(line.strip_suffix('\r').unwrap_or(line));
    }
    out
}

/// Removes one level of indentation from every line but the first; lines that begin inside a string are unchanged.
pub fn dedent(text: &str, indent: &str) -> String {
    let inside = lines_in_strings(text);
    let mut out = String::new();
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        let shift = n > 0 && !inside.contains(&n);
        let line = line.strip_suffix('\r').unwrap_or(line);
        out.push_str(if shift { line.strip_prefix(indent).unwrap_or(line) } else { line });
    }
    out
}

/// The same for a part of a text, by the indentation of the line in which it begins.
pub fn unindented(text: &str, part: Range<usize>) -> String {
    let indent = line_indent(text, part.start);
    dedent(&text[part], indent)
}

/// Sorts splices by their places in the text.
pub fn order(splices: &mut [Splice]) {
    sorting::by_key(splices, |splice| (splice.range.start, splice.range.end));
}

/// A part of a text with splices applied. Of two that overlap, the one that begins first counts.
pub fn spliced(text: &str, part: Range<usize>, mut splices: Vec<Splice>) -> String {
    order(&mut splices);
    let mut out = String::new();
    let mut at = part.start;
    for splice in splices {
        if splice.range.start >= at {
            out.push_str(&text[at..splice.range.start]);
            out.push_str(&splice.text);
            at = splice.range.end;
        }
    }
    out + &text[at..part.end]
}

/// Maps a position in a text with splices applied to one in the text without them; a position inside a splice maps to
/// the splice's start. The splices are in the order of the text.
pub fn place_without(splices: &[Splice], at: usize) -> usize {
    let (mut old, mut new) = (0, 0);
    for Splice { range, text } in splices {
        let start = new + range.start - old;
        if at < start + text.len() {
            return if at < start { at - new + old } else { range.start };
        }
        (old, new) = (range.end, start + text.len());
    }
    at - new + old
}

/// Numbers, from 0, of the lines whose first character is inside a string: indenting them would change the string.
pub fn lines_in_strings(text: &str) -> SortedSet<usize> {
    // Only these can span lines.
    if !(text.contains("\"\"\"") || text.contains("'''") || text.contains("\\\n") || text.contains("\\\r\n")) {
        return SortedSet::new();
    }
    let tree = Tree::parse(text);
    let index = tree.index();
    let mut lines = SortedSet::new();
    for string in index.of_kind(kinds().string) {
        let range = index.range(*string);
        let first = text[..range.start].matches('\n').count();
        let breaks = text[range].matches('\n').count();
        lines.extend(first + 1..=first + breaks);
    }
    lines
}

/// Whether a statement has its lines to itself: no `;` neighbour and no header before it.
pub fn owns_its_lines(file: &PythonFile<'_>, first: Id, last: Id) -> bool {
    let text = file.index.text;
    let (start, end) = (file.index.item(first).start, file.index.item(last).end);
    let before = &text[line_start(text, start)..start];
    let after = text[end..line_end(text, end)].trim_start();
    before.trim_start_matches('\u{feff}').trim().is_empty() && (after.is_empty() || after.starts_with('#'))
}

/// How one change is written into the text as it is (in place).
pub fn splices(file: &PythonFile<'_>, change: &Change) -> Vec<Splice> {
    splices_with(file, change, at_indent)
}

type Indenting = fn(&str, &str, &str) -> String;

/// The same, with new lines indented by a function like [`at_indent`].
fn splices_with(file: &PythonFile<'_>, change: &Change, at_indent: Indenting) -> Vec<Splice> {
    let text = file.index.text;
    let newline = file.layout.newline;
    match change {
        Change::Expression { range, text, .. } | Change::Raw { range, text } => {
            vec![Splice { range: range.clone(), text: text.clone() }]
        }
        Change::Insert { at, after, text: new } => {
            let item = file.index.item(*at);
            let indent = line_indent(text, item.start);
            if !owns_its_lines(file, *at, *at) {
                return beside(file, *at, *after, new, at_indent);
            }
            if *after {
                let end = statement_end(file, *at);
                let lead = if new.starts_with('\n') { "" } else { indent };
                vec![Splice { range: end..end, text: format!("{newline}{lead}{}", at_indent(new, indent, newline)) }]
            } else {
                let new = at_indent(new, indent, newline);
                vec![Splice { range: item.start..item.start, text: format!("{new}{newline}{indent}") }]
            }
        }
        Change::Replace { first, last, text: new } if !new.is_empty() => {
            let (start, end) = (file.index.item(*first).start, file.index.item(*last).end);
            let indent = line_indent(text, start);
            vec![Splice { range: start..end, text: at_indent(new, indent, newline) }]
        }
        Change::Replace { first, last, .. } => deletions(file, *first, *last),
        Change::Wrap { first, last, header } => wrapping(file, *first, *last, header),
        Change::Clause { before, text: new } => {
            let start = file.index.item(*before).start;
            let indent = line_indent(text, start);
            vec![Splice { range: start..start, text: format!("{}{newline}{indent}", at_indent(new, indent, newline)) }]
        }
    }
}

/// Statements that share their line: the new one gets its own line if the line belongs to a block, and joins the line
/// if that follows a header (`if x: a`) without a block of its own.
fn beside(file: &PythonFile<'_>, at: Id, after: bool, new: &str, at_indent: Indenting) -> Vec<Splice> {
    let index = &file.index;
    let text = index.text;
    let newline = file.layout.newline;
    let item = index.item(at);
    if hangs_on_header(file, at) {
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
            let end = statement_end(file, at);
            Splice { range: end..end, text: format!("{newline}{indent}{new}") }
        }
        (false, _, Some(previous)) => {
            Splice { range: previous..item.start, text: format!("{newline}{indent}{new}{newline}{indent}") }
        }
        (false, _, None) => Splice { range: item.start..item.start, text: format!("{new}{newline}{indent}") },
    }]
}

/// Whether a statement is on the line of its header.
fn hangs_on_header(file: &PythonFile<'_>, at: Id) -> bool {
    let index = &file.index;
    let Some(block) = index.parent(at).filter(|b| index.kind(*b) == kinds().block) else { return false };
    let start = index.item(block).start;
    !index.text[line_start(index.text, start)..start].trim_start_matches('\u{feff}').trim().is_empty()
}

impl Change {
    /// Whether it can't be inserted: a block after `if x: a` on one line.
    pub fn has_no_place(&self, file: &PythonFile<'_>) -> bool {
        match self {
            Self::Insert { at, text, .. } => text.trim_end().contains('\n') && hangs_on_header(file, *at),
            Self::Replace { first, last, text } => text.contains('\n') && !owns_its_lines(file, *first, *last),
            _ => false,
        }
    }
}

/// A header above statements, with each of their lines indented one more level unless it begins inside a string.
fn wrapping(file: &PythonFile<'_>, first: Id, last: Id, header: &str) -> Vec<Splice> {
    let text = file.index.text;
    let (start, end) = (file.index.item(first).start, file.index.item(last).end);
    let (newline, unit) = (file.layout.newline, &file.layout.indent);
    let indent = line_indent(text, start);
    let strings: Vec<Range<usize>> = file
        .index
        .of_kind(kinds().string)
        .iter()
        .map(|s| file.index.range(*s))
        .filter(|r| r.start < end && r.end > start && text[r.clone()].contains('\n'))
        .collect();
    // Without a header the statements are moved into the block before them.
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

/// Where an additional argument of a call is inserted, and the inserted text: after the last one, on its own line if
/// that one is. None if the call has no list of arguments.
pub fn appended_argument(file: &PythonFile<'_>, call: Id, argument: &str) -> Option<(Range<usize>, String)> {
    let index = &file.index;
    let list = index.arguments(call).list()?;
    let Some(last) = index.arguments(call).ids().last() else {
        let at = index.item(list).start + 1;
        return Some((at..at, argument.to_owned()));
    };
    let (start, end) = (index.item(last).start, index.item(last).end);
    let (line, indent) = (line_start(index.text, start), line_indent(index.text, start));
    let has_line = line + indent.len() == start && line > index.item(list).start;
    let gap = if has_line { format!("{}{indent}", file.layout.newline) } else { " ".to_owned() };
    Some((end..end, format!(",{gap}{argument}")))
}

/// End of a statement, including a comment after it on its last line.
pub fn statement_end(file: &PythonFile<'_>, id: Id) -> usize {
    let text = file.index.text;
    let end = file.index.item(id).end;
    let line = line_end(text, end);
    if text[end..line].trim_start().starts_with('#') || text[end..line].trim().is_empty() {
        text[..line].trim_end_matches([' ', '\t']).len().max(end)
    } else {
        end
    }
}

/// The comment lines directly above a statement, and the comment after it with the white space in between.
pub fn remarks_on<'t>(file: &PythonFile<'t>, statement: Id) -> (Vec<&'t str>, &'t str) {
    let index = &file.index;
    let (text, start, end) = (index.text, index.item(statement).start, index.item(statement).end);
    let mut above = Vec::new();
    let mut at = line_start(text, start);
    while let Some(line) = text[..at].lines().next_back() {
        let remark = line.trim();
        let same = line.len() - line.trim_start().len() == start - line_start(text, start);
        if !(same
            && remark.starts_with('#')
            && !begins_cell(line)
            && text[line_start(text, start)..start].trim().is_empty())
        {
            break;
        }
        above.insert(0, remark);
        at = line_start(text, at - 1);
    }
    let line = line_end(text, end);
    let behind = if text[end..line].trim_start().starts_with('#') { text[end..line].trim_end() } else { "" };
    (above, behind)
}

/// Removes statements: in parts if there are comments on lines between them, which are kept.
fn deletions(file: &PythonFile<'_>, first: Id, last: Id) -> Vec<Splice> {
    let index = &file.index;
    let Some(block) = index.parent(first).filter(|_| first != last) else { return vec![deletion(file, first, last)] };
    let mut runs: Vec<(Id, Id)> = Vec::new();
    for part in index.parts(block).filter(|part| (first..=last).contains(part)) {
        match runs.last_mut() {
            Some((_, end)) if !index.text[index.item(*end).end..index.item(part).start].contains('#') => *end = part,
            _ => runs.push((part, part)),
        }
    }
    if runs.len() < 2 {
        return vec![deletion(file, first, last)];
    }
    let is_all = index.kind(block) == kinds().block && index.parts(block).all(|s| s >= first && s <= last);
    let mut out: Vec<Splice> = runs.iter().map(|(first, last)| deletion(file, *first, *last)).collect();
    if is_all {
        let (first, last) = runs[0];
        out[0] = Splice { range: index.item(first).start..index.item(last).end, text: "pass".to_owned() };
    }
    out
}

/// Removes statements with their lines; a block that would be empty keeps `pass`, and comments are kept.
fn deletion(file: &PythonFile<'_>, first: Id, last: Id) -> Splice {
    let text = file.index.text;
    let (start, end) = (file.index.item(first).start, file.index.item(last).end);
    // A comment inside a statement refers to the statement; inside a block it belongs to the block.
    let index = &file.index;
    let is_simple = first == last && index.of_kind_in(kinds().block, first).is_empty();
    let comments = index.of_kind_in(kinds().comment, first).iter().filter(|_| is_simple);
    let kept: Vec<&str> = comments.map(|c| index.text_of(*c).trim_end()).collect();
    if !kept.is_empty() && owns_its_lines(file, first, last) {
        let between = format!("{}{}", file.layout.newline, line_indent(text, start));
        let lone = index.parent(first).is_some_and(|b| index.kind(b) == kinds().block && index.parts(b).count() == 1);
        let pass = if lone { format!("{between}pass") } else { String::new() };
        return Splice { range: start..end, text: format!("{}{pass}", kept.join(&between)) };
    }
    let alone = file.index.parent(first).is_some_and(|block| {
        file.index.kind(block) == kinds().block && file.index.parts(block).all(|s| s >= first && s <= last)
    });
    if alone {
        return Splice { range: start..end, text: "pass".to_owned() };
    }
    if !owns_its_lines(file, first, last) {
        // `a; b`: also remove the semicolon.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Removes the statements of lines, which begin statements of one block.
    #[track_caller]
    fn check_removed(before: &str, (first, last): (&str, &str), after: &str) {
        for newline in ["\n", "\r\n"] {
            let before = before.replace('\n', newline);
            let tree = Tree::parse(&before);
            let file = PythonFile::read("a.py", &tree);
            let statement = |words: &str| {
                let at = before.find(words).unwrap();
                file.statement_of(file.index.innermost(&(at..at)).unwrap()).unwrap()
            };
            let change = Change::Replace { first: statement(first), last: statement(last), text: String::new() };
            let changed = spliced(&before, 0..before.len(), splices(&file, &change));
            assert_eq!(changed, after.replace('\n', newline));
        }
    }

    #[test]
    fn comments_between_removed_statements_stay() {
        check_removed("a()\nb()\nc()\n", ("a()", "b()"), "c()\n");
        check_removed("a()\n\n# Section\n\nb()\nc()\n", ("a()", "b()"), "\n# Section\n\nc()\n");
        check_removed("a()  # why\nb()\nc()\n", ("a()", "b()"), "# why\nc()\n");
        check_removed(
            "if x:\n    a()\n    # Section\n    b()\nc()\n",
            ("a()", "b()"),
            "if x:\n    pass\n    # Section\nc()\n",
        );
        check_removed("a(); b()\n# Section\nc()\nd()\n", ("a()", "c()"), "# Section\nd()\n");
    }
}
