//! The contents of string literals.

use crate::tree::{Id, Index, kinds};
use std::borrow::Cow;

/// The content of a string literal without escapes or interpolation; none for other nodes and other strings. `u"a"`,
/// `r"a"` and `"""a"""` are equal to `"a"`.
pub fn plain_string<'t>(index: &Index<'t>, id: Id) -> Option<&'t str> {
    (index.kind(id) == kinds().string).then(|| plain_text(index.text_of(id))).flatten()
}

/// The same, for the literal's own text.
pub(crate) fn plain_text(literal: &str) -> Option<&str> {
    let body = literal.strip_prefix(['u', 'U', 'r', 'R']).unwrap_or(literal);
    let quote = body.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    let three = ["\"\"\"", "'''"].into_iter().find(|quotes| body.len() >= 6 && body.starts_with(quotes));
    let inner = match three {
        Some(quotes) => body.strip_prefix(quotes)?.strip_suffix(quotes)?,
        None => body.strip_prefix(quote)?.strip_suffix(quote)?,
    };
    (!inner.contains(['\\', quote])).then_some(inner)
}

/// The same, including adjacent literals that form one string: `"a" "b"`.
pub fn joined_string<'t>(index: &Index<'t>, id: Id) -> Option<Cow<'t, str>> {
    if index.kind(id) == kinds().concatenated_string {
        return index.parts(id).map(|part| plain_string(index, part)).collect::<Option<String>>().map(Cow::Owned);
    }
    plain_string(index, id).map(Cow::Borrowed)
}

/// Double-quoted strings of a rule in the file's own quotes.
pub fn requote(text: &str, quote: char) -> String {
    if quote == '\'' && !text.contains('\'') { text.replace('"', "'") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_literal_says() {
        let check = |literal: &str, expected: Option<&str>| assert_eq!(plain_text(literal), expected, "{literal}");
        for literal in ["'a'", "\"a\"", "u'a'", "R\"a\"", "'''a'''", "\"\"\"a\"\"\""] {
            check(literal, Some("a"));
        }
        for literal in ["b'a'", "f'a'", "rb'a'", "'a\\n'", "'", "a", "'a\""] {
            check(literal, None);
        }
        check("''", Some(""));
        check("''''''", Some(""));
    }
}
