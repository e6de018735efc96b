//! Blank lines that become adjacent where a port removed the statements between them: in a block, one of two is
//! removed, too.

use crate::rope::{Replacement, Rope};

/// Removes the second of two blank lines of the original if nothing is left between them.
///
/// At the top of a file two blank lines are common, and are kept.
pub(super) fn doubled_blank_lines(text: &str, rope: &Rope<'_>) -> Vec<Replacement> {
    let mut out = Vec::new();
    let mut lines = text.split_inclusive('\n').peekable();
    let (mut at, mut blank_before) = (0, None);
    while let Some(line) = lines.next() {
        let blank = line.trim().is_empty();
        let in_block = lines.peek().is_some_and(|next| next.starts_with([' ', '\t']) && !next.trim().is_empty());
        if let Some(before) = blank_before.filter(|_| blank && in_block)
            && rope.author(before).is_none()
            && rope.author(at).is_none()
        {
            let gone = rope.origin(before) + (at - before)..rope.origin(at);
            if let Some(fate) = rope.fate(&gone).filter(|fate| !gone.is_empty() && !fate.written) {
                out.push(Replacement { range: at..at + line.len(), text: String::new(), by: fate.by.clone() });
            }
        }
        blank_before = blank.then_some(at);
        at += line.len();
    }
    out
}
