//! Lines of a text by the offsets of their bytes.

use tree_sitter::Point;

/// End of the line that holds an offset, before its line break.
pub fn line_end(text: &str, offset: usize) -> usize {
    let end = text[offset..].find('\n').map_or(text.len(), |n| offset + n);
    if text[..end].ends_with('\r') && end > offset { end - 1 } else { end }
}

/// Start of the line that holds an offset.
pub fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |n| n + 1)
}

/// Start of the comments that stand directly above a line and are not indented; the line's own start where there are none.
pub fn above_comments(text: &str, line: usize) -> usize {
    let mut at = line;
    while let Some(above) = text[..at].strip_suffix('\n') {
        let start = line_start(text, above.len());
        if !above[start..].starts_with('#') {
            break;
        }
        at = start;
    }
    at
}

/// The white space at the start of the line that holds an offset.
pub fn line_indent(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |n| n + 1);
    let start = if start == 0 && text.starts_with('\u{feff}') { 3 } else { start };
    let line = &text[start..];
    let end = line.find(|c| !" \t\u{c}".contains(c)).unwrap_or(line.len());
    // Python counts from the last form feed.
    line[..end].rsplit('\u{c}').next().unwrap_or_default()
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

    pub(crate) fn point(&self, offset: usize) -> Point {
        let (row, start) = self.row(offset);
        Point::new(row, offset - start)
    }
}

#[cfg(test)]
mod tests {
    use super::above_comments;

    #[test]
    fn comments_above_a_line_belong_to_it_whatever_ends_their_lines() {
        for (text, start) in [
            ("x = 1\n# é\r\n# b\nclass A: ...\r\n", "# é"),
            ("# é\n# b\r\nclass A: ...\n", "# é"),
            ("# a\n\nclass A: ...\n", "class"),
            ("\u{feff}# a\nclass A: ...\n", "class"),
            ("class A: ...\n", "class"),
        ] {
            let found = above_comments(text, text.find("class").unwrap());
            assert!(text[found..].starts_with(start), "{text:?}: {:?}", &text[found..]);
        }
    }
}
