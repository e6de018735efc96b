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
