//! Variables of the script's own that it sets nowhere.

use super::Look;
use super::shell::Quote;
use std::collections::BTreeSet;

/// A name in small letters is by custom the script's own; one that nothing in it sets is empty when it runs. Nothing is
/// said of a script that reads another one, which may set it.
pub(super) fn check(look: &mut Look<'_>) {
    let reads_another = |name: &str| look.commands.iter().any(|command| command.runs(name).is_some());
    if ["source", ".", "eval"].into_iter().any(reads_another) {
        return;
    }
    let known = set(look);
    look.each_word(|look, word| {
        for piece in word.pieces.iter().filter(|piece| piece.quote != Quote::Single) {
            let text = look.script[piece.range.clone()].to_string();
            for (at, name) in used(&text) {
                if !known.contains(name) {
                    let message = format!(
                        "${name} is set nowhere in this script: empty, unless whoever submits it gives it a value"
                    );
                    look.found(piece.range.start + at, "unset-variable", message);
                }
            }
        }
    });
}

/// What the script may give a value to: every name that stands somewhere as a word of its own or in front of a `=`.
fn set(look: &Look<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for word in look.commands.iter().flat_map(|command| &command.words) {
        let text = word.text.trim_start_matches('(');
        let end = text.find(|c: char| !is_letter(c)).unwrap_or(text.len());
        let follows = |signs: &[&str]| signs.iter().any(|sign| text[end..].starts_with(sign));
        if end == text.len() || follows(&["=", "+=", "-=", "*=", "[", "++", "--"]) {
            names.insert(text[..end].to_string());
        }
    }
    names
}

/// `$name` and `${name…}` in small letters, outside substitutions, each with its place; none that says what it is when it
/// is not set.
fn used(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            '\\' => at += rest.chars().next().map_or(0, char::len_utf8),
            '`' => depth ^= 1,
            '$' if rest.starts_with('(') => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '$' if depth == 0 => {
                let (open, name) = rest.strip_prefix('{').map_or(("", rest), |name| ("{", name));
                let name = &name[..name.find(|c: char| !is_letter(c)).unwrap_or(name.len())];
                let after = &rest[open.len() + name.len()..];
                let has_default = open == "{" && after.trim_start_matches(':').starts_with(['-', '=', '?', '+']);
                let is_own = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
                    && name.len() > 1
                    && !name.contains(|c: char| c.is_ascii_uppercase())
                    && !name.ends_with("_proxy");
                if is_own && !has_default {
                    found.push((at, name));
                }
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    found
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
