//! Lines of a text by the offsets of their bytes.

use tree_sitter::Point;

/// End of the line that contains an offset, before its line break.
pub fn line_end(text: &str, offset: usize) -> usize {
    let end = text[offset..].find('\n').map_or(text.len(), |n| offset + n);
    if text[..end].ends_with('\r') && end > offset { end - 1 } else { end }
}

/// Start of the line that contains an offset.
pub fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |n| n + 1)
}

/// Whether a line is where editors begin a cell: a comment, but none on the code below it.
pub fn begins_cell(line: &str) -> bool {
    line.starts_with("# %%")
}

/// Start of the comments directly above a line that are not indented; the line's own start if there are none.
pub fn above_comments(text: &str, line: usize) -> usize {
    let mut at = line;
    while let Some(above) = text[..at].strip_suffix('\n') {
        let start = line_start(text, above.len());
        if !above[start..].starts_with('#') || begins_cell(&above[start..]) {
            break;
        }
        at = start;
    }
    at
}

/// The white space at the start of the line that contains an offset.
pub fn line_indent(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |n| n + 1);
    let start = if start == 0 && text.starts_with('\u{feff}') { 3 } else { start };
    let line = &text[start..];
    let end = line.find(|c| !" \t\u{c}".contains(c)).unwrap_or(line.len());
    // Python counts from the last form feed.
    line[..end].rsplit('\u{c}').next().unwrap_or_default()
}

/// Where a statement continues on another line although no bracket is open and there is no backslash.
pub fn broken_line(statement: &str) -> Option<usize> {
    let (mut depth, mut end, mut at) = (0_i32, None, 0);
    while let Some(c) = statement[at..].chars().next() {
        let rest = &statement[at..];
        let is_blank = c.is_whitespace() || c == '#';
        if end.is_some() && !is_blank {
            return end;
        }
        match c {
            '\n' if depth == 0 => end = end.or(Some(at)),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        at += match c {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => string_length(rest, c),
            '\\' if rest.starts_with("\\\r\n") => 3,
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
    }
    None
}

/// The bytes of the string at the start of a text, from its first quote to its last.
fn string_length(text: &str, quote: char) -> usize {
    let three = [quote; 3].iter().collect::<String>();
    let quotes = if text.starts_with(&three) { &three } else { &three[..1] };
    let mut at = quotes.len();
    while let Some(c) = text[at..].chars().next() {
        if text[at..].starts_with(quotes) {
            return at + quotes.len();
        }
        at += c.len_utf8();
        if c == '\\' {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

/// Byte offset to row and column.
pub struct LineStarts(Vec<usize>);

impl LineStarts {
    /// Where the lines of a text start.
    pub fn new(text: &str) -> Self {
        Self(
            std::iter::once(0)
                .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1))
                .collect(),
        )
    }

    /// Row from 0 and the offset at which it starts.
    pub fn row(&self, offset: usize) -> (usize, usize) {
        let row = self.0.partition_point(|s| *s <= offset) - 1;
        (row, self.0[row])
    }

    /// Where a row, from 0, starts.
    pub fn start(&self, row: usize) -> Option<usize> {
        self.0.get(row).copied()
    }

    pub(crate) fn point(&self, offset: usize) -> Point {
        let (row, start) = self.row(offset);
        Point::new(row, offset - start)
    }
}

#[cfg(test)]
mod tests {
    use super::{above_comments, broken_line};

    #[test]
    fn a_line_goes_on_in_brackets_or_behind_a_backslash_alone() {
        for whole in [
            "a = 1",
            "a = (\n  1)",
            "a = [  # (\n  f(1)]\n    # why\n",
            "a = \\\n  1",
            "a = \\\r\n  b",
            "a = \"\"\"(\n'\"\"\"",
            "a = 'it\\'s (' + r'\\'",
            "a = '' + \"\"\"\n\"\"\"  # why\n    \n",
        ] {
            assert_eq!(broken_line(whole), None, "{whole}");
        }
        for (broken, end) in [
            ("a =\n  1", 3),
            ("a =   # why\n\n    Net()", 11),
            ("a = '(' +\n  1", 9),
            ("a = f()  # (\n    .g()", 12),
            ("a = (1) +\r\n 2", 10),
        ] {
            assert_eq!(broken_line(broken), Some(end), "{broken}");
        }
    }

    #[test]
    fn comments_above_a_line_belong_to_it_whatever_ends_their_lines() {
        for (text, start) in [
            ("x = 1\n# é\r\n# b\nclass A: ...\r\n", "# é"),
            ("# é\n# b\r\nclass A: ...\n", "# é"),
            ("# a\n\nclass A: ...\n", "class"),
            ("\u{feff}# a\nclass A: ...\n", "class"),
            ("class A: ...\n", "class"),
            ("# a\n# %% [2]\n# b\nclass A: ...\n", "# b"),
            ("x = 1\n# %% b\nclass A: ...\n", "class"),
        ] {
            let found = above_comments(text, text.find("class").unwrap());
            assert!(text[found..].starts_with(start), "{text:?}: {:?}", &text[found..]);
        }
    }
}
