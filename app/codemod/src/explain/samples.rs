//! Samples of messages as patterns.

use guide::Sample;

/// A sample, ready to be looked for.
pub(super) struct Pattern {
    /// What does not vary, in order.
    parts: Vec<String>,
    /// Its number of bytes.
    pub(super) length: usize,
}

impl Pattern {
    pub(super) fn new(sample: &str) -> Pattern {
        let parts: Vec<String> = sample.split(Sample::VARIES).map(|part| plain(part.trim())).collect();
        let length = parts.iter().map(String::len).sum();
        Pattern { parts, length }
    }

    /// Whether every message with this sample has the other one, too, and not the reverse.
    pub(super) fn says_more_than(&self, other: &Pattern) -> bool {
        // What varies is not in the other's text.
        let is_in = |own: &Pattern, text: &Pattern| {
            let text = text.parts.join("\0");
            let length = text.len();
            own.is_in(&(text, length))
        };
        is_in(other, self) && !is_in(self, other)
    }

    /// Whether the sample is in a text that [`plain`] returned, and begins in its first bytes.
    pub(super) fn is_in(&self, (text, first): &(String, usize)) -> bool {
        let mut at = 0;
        self.parts.iter().enumerate().all(|(index, part)| {
            let found = text[at..].find(part.as_str()).filter(|start| index > 0 || start < first);
            at += found.unwrap_or(0) + part.len();
            found.is_some()
        })
    }
}

/// A text as it is compared: quotes, capitals and the width of gaps differ between versions and terminals.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '`' | '‘' | '’' | '“' | '”' => plain.push('\''),
            c if c.is_whitespace() && plain.ends_with(' ') => {}
            c if c.is_whitespace() => plain.push(' '),
            c => plain.push(c.to_ascii_lowercase()),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{Pattern, plain};

    #[test]
    fn a_sample_within_another() {
        let check = |more: &str, less: &str, expected: bool| {
            let (more, less) = (Pattern::new(more), Pattern::new(less));
            assert_eq!(more.says_more_than(&less), expected);
            assert!(!less.says_more_than(&more));
        };
        check("card 1 is lost", "card … is lost", true);
        check("no attribute 'amp'", "no attribute", true);
        check("the card … is lost", "card … lost", true);
        check("card is lost", "card … is lost", true);
        check("card … lost", "card … lost", false);
        check("a card is lost", "the card", false);
    }

    #[test]
    fn what_varies_is_any_text() {
        let check = |sample: &str, text: &str, expected: bool| {
            let text = plain(text);
            let first = text.len();
            assert_eq!(Pattern::new(sample).is_in(&(text, first)), expected, "{sample}");
        };
        check("no card", "there is no card here", true);
        check("No module named 'a'", "no  module named \"a\"", true);
        check("card … of …, lost", "card 1 of 2, lost", true);
        check("card … of … lost", "lost: card 1 of 2", false);
        check("card…lost", "cardlost", true);
        // Gaps around it are for readers.
        check("libcard … lost", "libcard.so: lost", true);
        check("card … card", "card", false);
    }
}
