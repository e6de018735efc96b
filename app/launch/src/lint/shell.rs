//! As much of the shell grammar as is needed to identify words: quotes, comments, continued lines, here-documents,
//! substitutions. Every word keeps its position in the script.

use std::ops::Range;

/// How a piece of a word is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    Bare,
    Single,
    Double,
}

/// A run of a word's characters that are quoted alike, without the quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    pub(super) quote: Quote,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// All of it, including quotes.
    pub(super) range: Range<usize>,
    pub(super) pieces: Vec<Piece>,
    /// Without its quotes. Nothing is expanded: `$HOME` is five letters.
    pub(super) text: String,
}

impl Token {
    /// The value of `NAME=VALUE`, where NAME is a valid variable name.
    pub(super) fn assigned(&self) -> Option<(&str, &str)> {
        let (name, value) = self.text.split_once('=')?;
        is_name(name).then_some((name, value))
    }

    /// The name of `NAME=VALUE` or `NAME+=VALUE`, whether the value is added to it, and the value's pieces.
    pub(super) fn sets(&self) -> Option<(&str, bool, Vec<Piece>)> {
        let (name, _) = self.text.split_once('=')?;
        let (name, adds) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        if !is_name(name) {
            return None;
        }
        let start = self.range.start + name.len() + usize::from(adds) + 1;
        let own = |piece: &Piece| {
            let range = piece.range.start.max(start)..piece.range.end;
            (range.start < range.end).then_some(Piece { range, quote: piece.quote })
        };
        Some((name, adds, self.pieces.iter().filter_map(own).collect()))
    }

    /// The name, if the word is nothing but the value of a variable, or of all elements of one: `$A`, `"${A}"`,
    /// `"${A[@]}"`.
    pub(super) fn variable(&self) -> Option<&str> {
        let [Piece { quote: Quote::Bare | Quote::Double, .. }] = &self.pieces[..] else { return None };
        let name = self.text.strip_prefix('$')?;
        let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
        let name = name.strip_suffix("[@]").or(name.strip_suffix("[*]")).unwrap_or(name);
        is_name(name).then_some(name)
    }
}

/// Whether a shell accepts a text as the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_letter)
}

/// A simple command: assignments, program, arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<Token>,
    /// The here-documents that it reads.
    pub(super) documents: Vec<Document>,
    /// The words that are files for its output, by their numbers.
    pub(super) outputs: Vec<usize>,
    /// Whether it is the name of a function that is defined here.
    pub(super) defines: bool,
}

/// The lines of a here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) range: Range<usize>,
    /// Whether its delimiter is quoted, so that the shell expands nothing.
    pub(super) quoted: bool,
}

impl Command {
    /// The position of a program of that name, in any folder.
    pub(super) fn runs(&self, name: &str) -> Option<usize> {
        self.words.iter().position(|word| word.text.rsplit('/').next() == Some(name))
    }

    /// The value of one of the flags, as `--flag VALUE` or `--flag=VALUE`, and the words that contain it.
    pub(super) fn value(&self, flags: &[&str]) -> Option<(&str, Range<usize>)> {
        self.words.iter().enumerate().find_map(|(at, word)| match word.text.split_once('=') {
            Some((flag, value)) if flags.contains(&flag) => Some((value, at..at + 1)),
            None if flags.contains(&&*word.text) => Some((&*self.words.get(at + 1)?.text, at..at + 2)),
            _ => None,
        })
    }

    /// The same as a number.
    pub(super) fn number(&self, flags: &[&str]) -> Option<u64> {
        self.value(flags)?.0.parse().ok()
    }

    /// Options with values, as `--key value`, `--key=value` or `key=value`, each with the word that has the value.
    pub(super) fn options(&self) -> impl Iterator<Item = (&str, &str, &Token)> {
        let before = std::iter::once(None).chain(self.words.iter().map(Some));
        before.zip(&self.words).filter_map(|(before, word)| match word.text.split_once('=') {
            Some((key, value)) => Some((key, value, word)),
            None => before.filter(|key| key.text.starts_with("--")).map(|key| (&*key.text, &*word.text, word)),
        })
    }

    /// The words after the Python program that is started.
    pub(super) fn arguments(&self) -> &[Token] {
        let program = self.words.iter().position(|word| word.text.ends_with(".py"));
        program.map_or(&[], |at| &self.words[at + 1..])
    }

    pub(super) fn has(&self, text: &str) -> bool {
        self.words.iter().any(|word| word.text == text)
    }
}

/// Whether the last word of an option is `name`, in any case: `--dist-backend`, `trainer.backend`, `BACKEND`.
pub(super) fn is_named(option: &str, name: &str) -> bool {
    option.rsplit(['.', '-', '_']).next().is_some_and(|last| last.eq_ignore_ascii_case(name))
}

/// The commands of a script, in order. Words such as `if` and `do` are part of the command after them.
pub(super) fn commands(script: &str) -> Vec<Command> {
    commands_in(script, 0..script.len())
}

/// Those of a part of a script, with their positions in the whole.
pub(super) fn commands_in(script: &str, part: Range<usize>) -> Vec<Command> {
    let script = &script[..part.end];
    let (commands, command) = (Vec::new(), Command::default());
    let mut read = Read { script, at: part.start, commands, command, writes: false, ends: Vec::new() };
    while read.at < script.len() {
        read.step();
    }
    read.finish();
    read.commands
}

/// The commands whose output becomes part of a word: the texts inside `$(…)` and backticks.
pub(super) fn substitutions(script: &str, pieces: &[Piece]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.quote != Quote::Single) {
        let text = &script[piece.range.clone()];
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let (rest, start) = (&text[at..], piece.range.start + at);
            at += match c {
                '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                // An arithmetic expression is no command; those inside it are.
                '$' if rest.starts_with("$((") => 3,
                '$' if rest.starts_with("$(") => {
                    let length = closed(rest, '(', ')');
                    let inner = rest[2..length].strip_suffix(')').unwrap_or(&rest[2..length]);
                    found.push(start + 2..start + 2 + inner.len());
                    length
                }
                '`' => {
                    let end = rest[1..].find('`').map_or(rest.len(), |end| end + 1);
                    found.push(start + 1..start + end);
                    (end + 1).min(rest.len())
                }
                _ => c.len_utf8(),
            };
        }
    }
    found
}

/// `$name` and `${name…}` in a text that the shell expands, outside substitutions, each with its position and whether
/// the text says what to do if the variable is not set.
pub(super) fn expansions(text: &str) -> Vec<(usize, &str, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match c {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '$' if rest.starts_with("$((") => 3,
            '$' if rest.starts_with("$(") => closed(rest, '(', ')'),
            '`' => rest[1..].find('`').map_or(rest.len(), |end| end + 2),
            '$' => {
                let (open, name) = rest[1..].strip_prefix('{').map_or((0, &rest[1..]), |name| (1, name));
                // `${#NAME}` is its length.
                let (open, name) = name.strip_prefix('#').filter(|_| open > 0).map_or((open, name), |name| (2, name));
                let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
                let after = &name[length..];
                let has_default = open > 0 && after.trim_start_matches(':').starts_with(['-', '=', '?', '+']);
                if is_name(&name[..length]) {
                    found.push((at, &name[..length], has_default));
                }
                1 + open + length
            }
            _ => c.len_utf8(),
        };
    }
    found
}

struct Read<'s> {
    script: &'s str,
    at: usize,
    commands: Vec<Command>,
    command: Command,
    /// Whether the next word is a file for output.
    writes: bool,
    /// The here-documents that begin on the next line: the delimiter, whether it is quoted, and the command that reads
    /// it.
    ends: Vec<(String, bool, usize)>,
}

impl Read<'_> {
    fn rest(&self) -> &str {
        &self.script[self.at..]
    }

    fn finish(&mut self) {
        self.writes = false;
        let command = std::mem::take(&mut self.command);
        if !command.words.is_empty() {
            self.commands.push(command);
        }
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return };
        match c {
            '\n' => {
                self.at += 1;
                self.finish();
                self.skip_documents();
            }
            '\\' if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") => {
                self.at += rest.find('\n').unwrap_or(0) + 1;
            }
            _ if c.is_whitespace() => self.at += c.len_utf8(),
            '#' => self.at += rest.find('\n').unwrap_or(rest.len()),
            '(' if rest[1..].trim_start_matches([' ', '\t']).starts_with(')') && !self.command.words.is_empty() => {
                self.at += 1;
                self.command.defines = true;
                self.finish();
            }
            ';' | '&' | '|' | '(' | ')' => {
                self.at += 1;
                self.finish();
            }
            '<' if rest.starts_with("<<<") => self.at += 3,
            '<' if rest.starts_with("<<") => {
                self.at += 2;
                if self.rest().starts_with('-') {
                    self.at += 1;
                }
                while self.rest().starts_with([' ', '\t']) {
                    self.at += 1;
                }
                let end = self.word();
                let is_quoted = self.script[end.range.clone()].contains(['\'', '"', '\\']);
                self.ends.push((end.text, is_quoted, self.commands.len()));
            }
            '<' | '>' => {
                self.at += 1;
                self.writes = c == '>';
            }
            _ => {
                let word = self.word();
                if std::mem::take(&mut self.writes) {
                    self.command.outputs.push(self.command.words.len());
                }
                self.command.words.push(word);
            }
        }
    }

    fn skip_documents(&mut self) {
        for (end, quoted, reader) in std::mem::take(&mut self.ends) {
            let start = self.at;
            let mut to = self.script.len();
            while self.at < self.script.len() {
                let rest = self.rest();
                let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
                let is_end = rest[..length].trim() == end;
                if is_end {
                    to = self.at;
                }
                self.at += length;
                if is_end {
                    break;
                }
            }
            if let Some(command) = self.commands.get_mut(reader) {
                command.documents.push(Document { range: start..to, quoted });
            }
        }
    }

    fn word(&mut self) -> Token {
        let start = self.at;
        let mut pieces: Vec<Piece> = Vec::new();
        let mut text = String::new();
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\'' => {
                    let from = self.at + 1;
                    let to = self.script[from..].find('\'').map_or(self.script.len(), |end| from + end);
                    text += &self.script[from..to];
                    pieces.push(Piece { range: from..to, quote: Quote::Single });
                    self.at = (to + 1).min(self.script.len());
                }
                '"' => {
                    let from = self.at + 1;
                    let to = from + quoted(&self.script[from..]);
                    text += &self.script[from..to];
                    pieces.push(Piece { range: from..to, quote: Quote::Double });
                    self.at = (to + 1).min(self.script.len());
                }
                // The elements of an array.
                '(' if pieces.len() == 1
                    && text.ends_with('=')
                    && is_name(text[..text.len() - 1].trim_end_matches('+')) =>
                {
                    let from = self.at;
                    self.at += closed(self.rest(), '(', ')');
                    text += &self.script[from..self.at];
                    pieces.push(Piece { range: from..self.at, quote: Quote::Bare });
                }
                _ if c.is_whitespace() || ";&|()<>".contains(c) => break,
                _ => {
                    let rest = self.rest();
                    let length = match c {
                        '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                        '$' if rest.starts_with("$(") => closed(rest, '(', ')'),
                        '$' if rest.starts_with("${") => closed(rest, '{', '}'),
                        '`' => rest[1..].find('`').map_or(rest.len(), |end| end + 2),
                        _ => c.len_utf8(),
                    };
                    let from = self.at;
                    self.at += length;
                    // A continued line continues the same word.
                    let own = &self.script[from..self.at];
                    if own != "\\\n" {
                        text += own.strip_prefix('\\').unwrap_or(own);
                    }
                    match pieces.last_mut() {
                        Some(last) if last.quote == Quote::Bare && last.range.end == from => last.range.end = self.at,
                        _ => pieces.push(Piece { range: from..self.at, quote: Quote::Bare }),
                    }
                }
            }
        }
        Token { range: start..self.at, pieces, text }
    }
}

/// The position of the double quote that closes the text.
fn quoted(text: &str) -> usize {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        at += match c {
            '"' => return at,
            '\\' => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '$' if text[at..].starts_with("$(") => closed(&text[at..], '(', ')'),
            _ => c.len_utf8(),
        };
    }
    text.len()
}

/// Length of `$(…)` or `${…}`, including nested ones.
pub(super) fn closed(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + close.len_utf8();
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{commands, expansions, substitutions};

    #[track_caller]
    fn check(script: &str, expected: &[&str]) {
        let lines: Vec<String> = commands(script)
            .iter()
            .map(|command| command.words.iter().map(|word| &*word.text).collect::<Vec<_>>().join("|"))
            .collect();
        assert_eq!(lines, expected, "{script}");
    }

    #[test]
    fn words_of_commands() {
        check("a 'b c' \"d $e\"f\ng # h\n", &["a|b c|d $ef", "g"]);
        check("a \\\n  b\\\nc; d && e | f", &["a|bc", "d", "e", "f"]);
        check("a=$(b c) \"$(d \"e f\")\" ${g:-h i}", &["a=$(b c)|$(d \"e f\")|${g:-h i}"]);
        check("cat <<'END' > x\nmpirun 'open\nEND\nafter", &["cat|x", "after"]);
        check("a#b \\# 'open", &["a#b|#|open"]);
        check("if a; then b; fi", &["if|a", "then|b", "fi"]);
        check("\\", &[""]);
        check("a=(b c) d\ne+=(f)", &["a=(b c)|d", "e+=(f)"]);
        check("f() {\n a\n}\n( b )", &["f", "{", "a", "}", "b"]);
    }

    #[test]
    fn what_a_shell_expands() {
        let names =
            |text| expansions(text).iter().map(|(at, name, set)| format!("{at}{name}{set}")).collect::<Vec<_>>();
        assert_eq!(
            names("$A \\$B ${C:-$D} $(e $F) `$G` $((H + $I)) ${#J[@]} $1 $$"),
            ["0Afalse", "7Ctrue", "12Dfalse", "36Ifalse", "41Jfalse"]
        );
        let script = "a \"$(b \"$(c)\")\" `d` $((1 + $(e))) '$(f)'";
        let parts: Vec<&str> = commands(script)[0]
            .words
            .iter()
            .flat_map(|word| substitutions(script, &word.pieces))
            .map(|range| &script[range])
            .collect();
        assert_eq!(parts, ["b \"$(c)\"", "d", "e"]);
    }

    #[test]
    fn here_documents_and_their_readers() {
        let script = "cat <<A > x; b\n$c\nA\nd <<'E'\nf\nE\n";
        let read: Vec<(&str, bool)> = commands(script)
            .iter()
            .flat_map(|command| &command.documents)
            .map(|document| (&script[document.range.clone()], document.quoted))
            .collect();
        assert_eq!(read, [("$c\n", false), ("f\n", true)]);
    }
}
