//! What string literals say.

use crate::tree::{Id, Index, kinds};

/// The content of a string literal without prefix, escapes or interpolation; none for other nodes and other strings.
pub fn plain_string<'t>(index: &Index<'t>, id: Id) -> Option<&'t str> {
    (index.kind(id) == kinds().string).then(|| plain_text(index.text_of(id))).flatten()
}

/// The same, of the literal's own text.
pub(crate) fn plain_text(literal: &str) -> Option<&str> {
    let quote = literal.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains(['\\', quote])).then_some(inner)
}

/// Double-quoted strings of a rule in the file's own quotes.
pub fn requote(text: &str, quote: char) -> String {
    if quote == '\'' && !text.contains('\'') { text.replace('"', "'") } else { text.to_owned() }
}
