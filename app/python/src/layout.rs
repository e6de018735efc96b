//! The layout of a file: its indentation, line endings and quotes, so that new code looks like it.

use crate::lines::line_indent;
use crate::tree::{Index, kinds};

/// The layout of a file, so that new code looks like it.
#[derive(Clone, Debug)]
pub struct Layout {
    /// One level of indentation.
    pub indent: String,
    /// `\n` or `\r\n`.
    pub newline: &'static str,
    /// The quote that most strings of the file use.
    pub quote: char,
}

impl Layout {
    pub(crate) fn read(index: &Index<'_>) -> Self {
        let text = index.text;
        // A stray line ending of the other kind does not count.
        let pairs = text.matches("\r\n").count();
        let newline = if 2 * pairs > text.matches('\n').count() { "\r\n" } else { "\n" };
        let k = kinds();
        let indent = index
            .of_kind(k.block)
            .iter()
            .find_map(|b| {
                let outer = index.parent(*b).map_or("", |p| line_indent(text, index.item(p).start));
                let start = index.item(*b).start;
                let own = line_indent(text, start);
                // A block on the header's own line has no indentation.
                (text[..start].rfind('\n').map_or(0, |n| n + 1) + own.len() == start)
                    .then(|| own.strip_prefix(outer))
                    .flatten()
                    .filter(|unit| !unit.is_empty() && unit.len() <= 8)
                    .map(str::to_owned)
            })
            .unwrap_or_else(|| "    ".to_owned());
        let (mut single, mut double) = (0, 0);
        for s in index.of_kind(k.string) {
            let t = index.text_of(*s).trim_start_matches(|c: char| c.is_ascii_alphabetic());
            if t.starts_with("\"\"\"") || t.starts_with("'''") {
                continue;
            }
            if t.starts_with('\'') {
                single += 1;
            } else {
                double += 1;
            }
        }
        Self { indent, newline, quote: if single > double { '\'' } else { '"' } }
    }
}
