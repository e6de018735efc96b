//! Words of a command, and the only place where they are quoted.

use std::fmt::Write;

/// A piece of a [`Word`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Literal, whatever it contains.
    Text(String),
    /// The value of an environment variable when the script runs.
    Variable(String),
    /// Any run of characters in a file name, `*`.
    Any,
    /// The first host of a job, from the function `first_host` that [`render`](crate::render) writes.
    FirstHost,
    /// All hosts of a job as `HOST:N,HOST:N`, N being the processes of each; from the function `hosts`.
    Hosts(u32),
    /// A port derived from the job's number, so that jobs on one machine don't collide; this one outside a job.
    JobPort(u32),
    /// The newest file of that name in a folder, or nothing; from the function `newest`.
    Newest(String, String),
    /// A text followed by the variable's value, or no word at all if the variable is empty.
    WhenSet(String, String),
}

/// One argument of a command or the value of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word(pub Vec<Part>);

impl Word {
    /// A word that the shell must not interpret.
    pub fn text(text: impl Into<String>) -> Word {
        Word(vec![Part::Text(text.into())])
    }

    /// A path as a user wrote it, which may begin with `~/`, `$SCRATCH/` or `${SCRATCH}/`. A shell does not expand a `~`
    /// in quotes or after other text.
    pub fn path(text: &str) -> Word {
        let (name, rest) = match text.strip_prefix('~') {
            Some(rest) => ("HOME", rest),
            None => beginning_variable(text).unwrap_or(("", text)),
        };
        match (name, rest) {
            ("", _) => Word::text(text),
            (_, "") => Word::variable(name),
            _ if rest.starts_with('/') => Word::variable(name).and_text(rest),
            _ => Word::text(text),
        }
    }

    /// An argument as a user wrote it: a path that begins with a variable, or an option with one. A `~` is passed on.
    pub fn argument(text: &str) -> Word {
        match text.split_once('=') {
            _ if text.starts_with('$') => Word::path(text),
            Some((key, value)) if value.starts_with('$') => Word::text(format!("{key}=")).and(Word::path(value)),
            _ => Word::text(text),
        }
    }

    /// The value of the environment variable `name`.
    pub fn variable(name: &str) -> Word {
        Word(vec![Part::Variable(name.to_string())])
    }

    /// The first host of a job.
    pub fn first_host() -> Word {
        Word(vec![Part::FirstHost])
    }

    /// All hosts of a job, each with that many processes.
    pub fn hosts(processes: u32) -> Word {
        Word(vec![Part::Hosts(processes)])
    }

    /// This word with `text` after it.
    #[must_use]
    pub fn and_text(mut self, text: &str) -> Word {
        self.0.push(Part::Text(text.to_string()));
        self
    }

    /// This word with `other` after it.
    #[must_use]
    pub fn and(mut self, other: Word) -> Word {
        self.0.extend(other.0);
        self
    }

    /// Quoted so that bash reads the same word: bare if nothing in it is special, otherwise in quotes.
    pub fn quoted(&self) -> String {
        // Text that looks like an expansion is in double quotes, escaped, so that a reader sees that it is literal.
        if let [Part::Text(text)] = &self.0[..]
            && !text.contains(['$', '`'])
        {
            return quoted_text(text);
        }
        let mut out = String::new();
        let mut open = false;
        for part in &self.0 {
            let escaped = matches!(part, Part::Text(text) if text.contains(char::is_control));
            let quotes = !escaped && !matches!(part, Part::Any | Part::WhenSet(..));
            if quotes != open {
                out.push('"');
                open = quotes;
            }
            match part {
                Part::Text(text) if escaped => out += &escaped_text(text),
                Part::Text(text) => {
                    for c in text.chars() {
                        if matches!(c, '"' | '\\' | '$' | '`') {
                            out.push('\\');
                        }
                        out.push(c);
                    }
                }
                Part::Variable(name) => {
                    let _ = write!(out, "${{{name}}}");
                }
                Part::Any => out.push('*'),
                Part::FirstHost => out.push_str("$(first_host)"),
                Part::Hosts(processes) => {
                    let _ = write!(out, "$(hosts {processes})");
                }
                Part::JobPort(port) => {
                    let _ = write!(out, "$(job_port {port})");
                }
                Part::Newest(folder, name) => {
                    let (folder, name) = (Word::path(folder).quoted(), quoted_text(name));
                    let _ = write!(out, "$(newest {folder} {name})");
                }
                Part::WhenSet(variable, text) => {
                    let word = Word::text(text).and(Word::variable(variable)).quoted();
                    let _ = write!(out, "${{{variable}:+{word}}}");
                }
            }
        }
        if open {
            out.push('"');
        }
        if out.is_empty() { "''".to_string() } else { out }
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Word {
        Word::text(text)
    }
}

impl From<String> for Word {
    fn from(text: String) -> Word {
        Word::text(text)
    }
}

/// The name of the environment variable that a text begins with, and the rest of the text.
fn beginning_variable(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('$')?;
    let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let (name, rest) = match text.strip_prefix('{') {
        Some(text) => text.split_once('}')?,
        None => text.split_at(text.find(|c| !is_letter(c)).unwrap_or(text.len())),
    };
    (name.chars().all(is_letter) && !name.starts_with(|c: char| c.is_ascii_digit())).then_some((name, rest))
}

/// Single quotes, because nothing is special inside them; a single quote itself is written outside.
fn quoted_text(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_string();
    }
    if text.contains(char::is_control) {
        return escaped_text(text);
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// With every line break and similar character escaped: a word never begins a line of the script, where a scheduler or
/// a reader could interpret it differently.
fn escaped_text(text: &str) -> String {
    let mut out = String::from("$'");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\'' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Splits a line of arguments like a shell: spaces, quotes, backslashes. Nothing is expanded. None if a quote is not
/// closed.
pub fn split_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\' | '$' | '`') => word.push(c),
                            '\n' => {}
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => match chars.next()? {
                '\n' => {}
                c => word.get_or_insert_default().push(c),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_splits_it() {
        let words = |line| split_words(line).map(|words| words.join("|"));
        assert_eq!(words(r#"a 'b c'  "d\"e" f\ g '' $H"#).as_deref(), Some(r#"a|b c|d"e|f g||$H"#));
        assert_eq!(words("a 'b"), None);
    }

    #[test]
    fn text_and_variables_share_a_word() {
        let word = Word::variable("HOME").and_text("/a $b`\"");
        assert_eq!(word.quoted(), r#""${HOME}/a \$b\`\"""#);
        assert_eq!(Word::text("it's").quoted(), r"'it'\''s'");
        for (path, quoted) in [
            ("~/a", "\"${HOME}/a\""),
            ("$SCRATCH/a b", "\"${SCRATCH}/a b\""),
            ("${SCRATCH}/a", "\"${SCRATCH}/a\""),
            ("$SCRATCH", "\"${SCRATCH}\""),
            ("$a/b", "\"\\$a/b\""),
            ("$1", "\"\\$1\""),
            ("$", "\"\\$\""),
            ("a$SCRATCH", "\"a\\$SCRATCH\""),
        ] {
            assert_eq!(Word::path(path).quoted(), quoted);
        }
        assert_eq!(Word::argument("--data=$SCRATCH/a").quoted(), "\"--data=${SCRATCH}/a\"");
        assert_eq!(Word::argument("--lr=1").quoted(), "--lr=1");
        assert_eq!(Word::argument("--data=~/a").quoted(), "'--data=~/a'");
        assert_eq!(Word::argument("$SCRATCH/a").quoted(), "\"${SCRATCH}/a\"");
        assert_eq!(Word::text("--nodes=4").quoted(), "--nodes=4");
        assert_eq!(Word::text("a\n#SBATCH 'b' \\ $c\u{7f}1").quoted(), r"$'a\n#SBATCH \'b\' \\ $c\1771'");
        let word = Word::variable("HOME").and_text("/a\tb").and(Word::variable("X"));
        assert_eq!(word.quoted(), r#""${HOME}"$'/a\tb'"${X}""#);
    }
}
