//! The lines of a `diff rule` fence.

/// Why a patch can't be compiled: the line within the fence and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatchError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

pub(super) fn fault<T>(line: usize, message: impl Into<String>) -> Result<T, PatchError> {
    Err(PatchError { line, message: message.into() })
}

/// One line of the fence.
pub(super) struct Line<'a> {
    pub(super) marker: char,
    pub(super) indent: usize,
    pub(super) code: &'a str,
}

pub(super) fn is_import(line: &Line<'_>) -> bool {
    line.marker == '+' && line.indent == 0 && (line.code.starts_with("import ") || line.code.starts_with("from "))
}

/// The block that a `+ {{block NAME}}` line adds.
pub(super) fn block_of<'a>(line: &Line<'a>) -> Option<&'a str> {
    let word = line.code.strip_prefix("{{block ")?.strip_suffix("}}")?;
    (line.marker == '+' && line.indent == 0).then(|| word.trim())
}

pub(super) fn read_lines(text: &str) -> Result<Vec<Line<'_>>, PatchError> {
    let mut lines = Vec::new();
    for (n, raw) in text.lines().enumerate() {
        if raw.trim().is_empty() {
            continue;
        }
        if raw.trim_end() == "+" {
            lines.push(Line { marker: '+', indent: 0, code: "" });
            continue;
        }
        let marker = raw.chars().next().unwrap_or(' ');
        if !matches!(marker, '+' | '-' | ' ') {
            return fault(n, "a line of a rule starts with `-`, `+` or a space, then one space, then code");
        }
        let rest = &raw[1..];
        let Some(code) = rest.strip_prefix(' ').or_else(|| rest.is_empty().then_some("")) else {
            return fault(n, format!("put one space between `{marker}` and the code"));
        };
        let trimmed = code.trim_start_matches(' ');
        if trimmed.starts_with('\t') {
            return fault(n, "indent rules with spaces");
        }
        lines.push(Line { marker, indent: code.len() - trimmed.len(), code: trimmed.trim_end() });
    }
    Ok(lines)
}
