//! The colours of a shell script.

/// A part of a script: its class for colouring, if any, and its text.
pub type Piece<'a> = (Option<&'static str>, &'a str);

/// A shell script in pieces: comments, directives, strings, variables and keywords have their own colours.
pub fn coloured(script: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for line in script.split_inclusive('\n') {
        match line.trim_start() {
            text if ["#!", "#SBATCH", "#PBS"].iter().any(|mark| text.starts_with(mark)) => {
                pieces.push((Some("hd"), line));
            }
            text if text.starts_with('#') => pieces.push((Some("hc"), line)),
            _ => words(&mut pieces, line),
        }
    }
    pieces
}

const SHELL: [&str; 9] = ["if", "then", "else", "fi", "for", "do", "done", "export", "set"];

fn words<'a>(pieces: &mut Vec<Piece<'a>>, line: &'a str) {
    // The start of the text without a colour.
    let (mut plain, mut at) = (0, 0);
    while let Some(first) = line[at..].chars().next() {
        let rest = &line[at..];
        let length = match first {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '"' => escaped(rest, '"'),
            '$' if rest.starts_with("$'") => 1 + escaped(&rest[1..], '\''),
            '$' => variable(rest),
            c if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        let word = &rest[..length];
        let colour = match first {
            '\'' | '"' => Some("hs"),
            '$' if word.starts_with("$'") => Some("hs"),
            '$' if length > 1 => Some("hn"),
            _ if SHELL.contains(&word) => Some("hk"),
            _ => None,
        };
        if colour.is_some() {
            pieces.extend((plain < at).then(|| (None, &line[plain..at])));
            pieces.push((colour, word));
            plain = at + length;
        }
        at += length;
    }
    pieces.extend((plain < line.len()).then(|| (None, &line[plain..])));
}

/// The length of a quoted text with backslash escapes, including the quotes.
fn escaped(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn variable(text: &str) -> usize {
    match text[1..].chars().next() {
        Some('{') => text.find('}').map_or(text.len(), |end| end + 1),
        Some('@') => 2,
        _ => 1 + text[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn colours_change_no_letter() {
        let script = "#!/usr/bin/env bash\n#SBATCH --nodes=1\n# why 'not\nif [ -z \"${A:-}\" ]; then\n  run 'a'\\''b' \"x \\\" $y\" $z $'a\\'b'\nfi\n";
        let pieces = coloured(script);
        assert_eq!(pieces.iter().map(|(_, text)| *text).collect::<String>(), script);
        for piece in [(Some("hk"), "if"), (Some("hc"), "# why 'not\n"), (Some("hn"), "$z"), (Some("hs"), "'a'")] {
            assert!(pieces.contains(&piece), "{piece:?} in {pieces:?}");
        }
    }
}
