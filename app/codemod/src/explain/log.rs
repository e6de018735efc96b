//! Lines of a log.

use super::samples::plain;

/// Only this many bytes at the end of a log are read.
const LONGEST: usize = 1 << 20;
/// Only this many bytes of a line are read.
const WIDEST: usize = 4096;
/// A level is among this many words at the start of a line.
const WORDS_OF_A_LEVEL: usize = 8;

/// How much a line says about a failure: the first kind most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It names an exception.
    Exception,
    /// An error, or a line without a level.
    Other,
    /// A warning.
    Warning,
    /// What a program says in any case.
    Information,
}

/// A line of a log, without colours.
pub(super) struct Line {
    /// Its number in the log, from 1.
    pub(super) number: usize,
    /// Its text.
    pub(super) text: String,
    /// Where the name of an exception begins that it reports.
    pub(super) exception: Option<usize>,
    pub(super) kind: Kind,
}

impl Line {
    /// The message: from the name of the exception on.
    pub(super) fn message(&self) -> &str {
        self.text[self.exception.unwrap_or(0)..].trim()
    }

    /// The text to compare with samples, continued by the next line, since terminals and loggers wrap messages.
    pub(super) fn with(&self, next: Option<&Line>) -> (String, usize) {
        let own = plain(self.text.trim_end());
        let length = own.len();
        (next.map_or_else(|| own.clone(), |next| format!("{own} {}", plain(next.text.trim_start()))), length)
    }
}

/// The lines of a log's end. A line that a progress bar overwrote is several.
pub(super) fn lines(log: &str) -> Vec<Line> {
    let from = log.len().saturating_sub(LONGEST);
    let from = (from..log.len()).find(|at| log.is_char_boundary(*at)).unwrap_or(0);
    let above = log[..from].matches('\n').count();
    let mut lines = Vec::new();
    for (index, text) in log[from..].split('\n').enumerate() {
        for part in text.split('\r') {
            let mut text = without_colours(part);
            let end = (0..=WIDEST.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
            if !text.trim().is_empty() {
                let exception = exception(&text);
                let kind = if exception.is_some() { Kind::Exception } else { level(&text) };
                lines.push(Line { number: above + index + 1, text, exception, kind });
            }
        }
    }
    lines
}

/// The text without the control sequences of terminals.
fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain += before;
        rest = match after.strip_prefix('[') {
            Some(parameters) => {
                let end = parameters.find(|c: char| ('@'..='~').contains(&c)).map_or(parameters.len(), |at| at + 1);
                &parameters[end..]
            }
            None => after,
        };
    }
    plain += rest;
    plain.retain(|c| c == '\t' || !c.is_control());
    plain
}

/// Where a line names an exception: `torch.OutOfMemoryError: …`, also after a prefix such as `[rank0]:` or a time, and
/// `what():` of C++.
fn exception(text: &str) -> Option<usize> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    for word in ["rror", "xception"] {
        for (at, _) in text.match_indices(word) {
            let start =
                text[..at].char_indices().rev().take_while(|(_, c)| is_name(*c)).last().map_or(at, |(at, _)| at);
            let end = at + word.len();
            let is_whole = text[..start].ends_with([' ', '\t', ':', ']', '|', '>']) || start == 0;
            let rest = &text[end..];
            let name = &text[start..end];
            // Words such as `error:` are of compilers and tools, and `Error:` is some packages' only exception.
            let is_exception = name.contains(['.', '_']) || name.starts_with(|c: char| c.is_uppercase());
            if start < at
                && is_whole
                && is_exception
                && (rest.starts_with(": ") || rest.trim() == ":" || rest.trim().is_empty())
            {
                return Some(start);
            }
        }
    }
    text.find("what():")
}

/// The level that a logger writes before a message: `WARNING`, `[info]`, `|CCL_WARN|`, `UserWarning:`, `I` after a time.
fn level(text: &str) -> Kind {
    let mut words = text.split([' ', '|']).filter(|word| !word.is_empty()).take(WORDS_OF_A_LEVEL).peekable();
    while let Some(word) = words.next() {
        let is_time = word.ends_with(':') && word.starts_with(|c: char| c.is_ascii_digit());
        if is_time && words.peek() == Some(&"I") {
            return Kind::Information;
        }
        if is_time && words.peek() == Some(&"W") {
            return Kind::Warning;
        }
        let name = word.trim_matches(|c: char| !c.is_alphanumeric());
        if name.ends_with("Warning") || ["warn", "warning"].iter().any(|level| is_level(name, level)) {
            return Kind::Warning;
        }
        if ["info", "debug"].iter().any(|level| is_level(name, level)) {
            return Kind::Information;
        }
    }
    Kind::Other
}

/// Whether a word is a level: `INFO`, and `CCL_INFO` of a library.
fn is_level(word: &str, level: &str) -> bool {
    let own = word.rsplit('_').next().unwrap_or(word);
    own.eq_ignore_ascii_case(level)
}

#[cfg(test)]
mod tests {
    use super::{Kind, exception, level, lines};

    fn check(log: &str, expected: &[(usize, &str)]) {
        let lines = lines(log);
        let found: Vec<(usize, &str)> = lines.iter().map(|line| (line.number, line.message())).collect();
        assert_eq!(found, expected, "{log:?}");
    }

    #[test]
    fn colours_progress_bars_and_prefixes() {
        check("\u{1b}[1;31mRuntimeError\u{1b}[0m: no card\r\n", &[(1, "RuntimeError: no card")]);
        check(
            "a\n\n 10%|#   |\r 20%|##  |\rValueError: b",
            &[(1, "a"), (3, "10%|#   |"), (3, "20%|##  |"), (3, "ValueError: b")],
        );
        check("[rank0]: torch.OutOfMemoryError: c", &[(1, "torch.OutOfMemoryError: c")]);
        check("3: 2024-01-02 03:04:05 | ERROR | AssertionError", &[(1, "AssertionError")]);
        check("\u{1b}[", &[]);
        check("\u{1b}", &[]);
        check("", &[]);
    }

    #[test]
    fn levels_of_loggers() {
        let check = |text: &str, expected: Kind| assert!(level(text) == expected, "{text}");
        check("2024-05-09 20:15:40.100112: I tsl/cudart_stub.cc:31] no CUDA", Kind::Information);
        check("2024-05-09 20:15:40.100112: W dso_loader.cc:64] no CUDA", Kind::Warning);
        check("2024-05-09 20:15:40.100112: E bfc_allocator.cc:98] full", Kind::Other);
        check("09/02/2024 10:12:40 - INFO - __main__ - training", Kind::Information);
        check("[WARNING|trainer.py:2] 2024 >> slow", Kind::Warning);
        check("2023:12:01-09:22:10:(4410) |CCL_WARN| no launcher", Kind::Warning);
        check("2023:12:01-09:22:10:(4410) |CCL_ERROR| no launcher", Kind::Other);
        check("/a/b.py:3: UserWarning: no card", Kind::Warning);
        check("I lost the card", Kind::Other);
        check("card 0: lost", Kind::Other);
    }

    #[test]
    fn a_long_log_is_read_from_its_end() {
        let log = format!("{}é\nValueError: end", "x".repeat(1 << 21));
        let lines = lines(&log);
        assert!(lines[0].text.len() <= 4096);
        assert_eq!(lines.last().map(|line| (line.number, line.message())), Some((2, "ValueError: end")));
        super::lines(&format!("{}{}", "é".repeat(1 << 20), "x"));
    }

    #[test]
    fn what_is_an_exception() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(exception(text).map(|at| &text[at..]), expected, "{text}");
        };
        check("poptorch.poptorch_core.Error: In unknown:0", Some("poptorch.poptorch_core.Error: In unknown:0"));
        check("[0] popart_core.popart_exception: a", Some("popart_core.popart_exception: a"));
        check("  what():  b", Some("what():  b"));
        check("error: subprocess-exited-with-error", None);
        check("nginx: [error] open() failed", None);
        check("raise ValueError(\"no: \")", None);
        check("see error.log: no", None);
        check("0 errors", None);
    }
}
