//! Texts as the pages show them: code between backticks, addresses as links, counts.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words.
    Words(String),
    /// Code.
    Code(String),
    /// A link: its address, and the text shown for it.
    Link(String, String),
}

/// A text's parts: text between backticks is code, and an address is a link that shows its host.
pub fn pieces(text: &str) -> Vec<Piece> {
    let parts: Vec<&str> = text.split('`').collect();
    // An unpaired backtick is kept.
    if parts.len().is_multiple_of(2) {
        return linked(text);
    }
    let part = |(index, part): (usize, &&str)| match index % 2 {
        0 => linked(part),
        _ => vec![Piece::Code((*part).to_owned())],
    };
    parts.iter().enumerate().flat_map(part).collect()
}

fn linked(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("https://") {
        let (before, from) = rest.split_at(at);
        let (address, after) = from.split_at(from.find([' ', ')', ',']).unwrap_or(from.len()));
        let host = address.trim_start_matches("https://").split('/').next().unwrap_or_default();
        if !before.is_empty() {
            pieces.push(Piece::Words(before.to_owned()));
        }
        pieces.push(Piece::Link(address.to_owned(), host.to_owned()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Words(rest.to_owned()));
    }
    pieces
}

/// A message as a sentence: messages are written to follow a location, and have no full stop at the end. Code and names
/// at the beginning are not capitalized.
pub fn sentence(message: &str) -> String {
    let end = message.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(message.len());
    let (first, rest) = message.split_at(end);
    let is_word = first == "a" || first.len() > 1 && (rest.is_empty() || rest.starts_with([' ', ',', ':', ';']));
    let mut text = message.to_owned();
    if is_word {
        text[..1].make_ascii_uppercase();
    }
    if text.ends_with(|c: char| !".:!?…".contains(c)) {
        text.push('.');
    }
    text
}

/// A hash of a value, equal for equal values.
pub fn hash_of(thing: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

/// `1 change`, `2 changes`, `1,000 changes`.
pub fn count(n: usize, thing: &str) -> String {
    format!("{} {thing}{}", thousands(n as u64), if n == 1 { "" } else { "s" })
}

/// A whole number with thousands separators.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Piece {
        Piece::Words(text.to_owned())
    }

    #[test]
    fn code_and_links_are_found() {
        let code = |text: &str| Piece::Code(text.to_owned());
        let check = |text: &str, expected: &[Piece]| assert_eq!(pieces(text), expected, "{text}");
        check("`a<b>` becomes `c`", &[code("a<b>"), words(" becomes "), code("c")]);
        check("a ` alone", &[words("a ` alone")]);
        let link = Piece::Link("https://a.b/c?d".to_owned(), "a.b".to_owned());
        check("Site: X (https://a.b/c?d) <more>", &[words("Site: X ("), link, words(") <more>")]);
        check("", &[]);
    }

    #[test]
    fn a_message_becomes_a_sentence() {
        let check = |message: &str, expected: &str| assert_eq!(sentence(message), expected);
        check("not ported: a test can't be written here", "Not ported: a test can't be written here.");
        check("this string names a CUDA device.", "This string names a CUDA device.");
        check("a line ends here", "A line ends here.");
        check("the file is not text:", "The file is not text:");
        check("", "");
        for same in [
            "`x` remains",
            "torch.cuda is gone",
            "x = 1 is left",
            "device_ids is gone",
            "is_available() asks",
            "Title",
            "don't",
        ] {
            check(same, &format!("{same}."));
        }
    }

    #[test]
    fn things_are_counted() {
        assert_eq!(
            [count(1, "change"), count(0, "file"), count(12_345, "line")],
            ["1 change", "0 files", "12,345 lines"]
        );
        assert_eq!([thousands(18_382_131), thousands(999)], ["18,382,131", "999"]);
    }
}
