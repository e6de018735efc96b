//! Bytes to text, or a message why not.

use codemod::{Diagnostic, Severity, Span};
use std::io::Read;

/// The largest program that is read.
pub(crate) const LIMIT: usize = 8 * 1024 * 1024;

/// The largest notebook that is read: most of one is the output of its cells.
pub(crate) const NOTEBOOK_LIMIT: usize = 64 * 1024 * 1024;

/// Reads a file up to a maximum size, without loading more into memory. `size` is the file's own, if known.
pub(crate) fn read_some(
    from: impl Read,
    size: Option<u64>,
    limit: usize,
) -> std::io::Result<Result<Vec<u8>, Box<Diagnostic>>> {
    let most = limit as u64 + 1;
    if let Some(size) = size.filter(|size| *size >= most) {
        return Ok(Err(too_large(size, limit)));
    }
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes)?;
    Ok(if bytes.len() > limit { Err(too_large(most, limit)) } else { Ok(bytes) })
}

fn too_large(size: u64, limit: usize) -> Box<Diagnostic> {
    let advice = if limit == NOTEBOOK_LIMIT { "clear the outputs of its cells" } else { "split it" };
    let (size, limit) = (size as f64 / 1048576.0, limit / 1048576);
    let message = format!("the file has {size:.1} MiB, and the limit is {limit} MiB; {advice}");
    refusal(&[], "engine#too-large", message)
}

/// The text of a file, or a message that replaces it.
pub(crate) fn text_of(bytes: Vec<u8>) -> Result<String, Box<Diagnostic>> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(refusal(&[], "engine#not-utf8", "the file is UTF-16; save it as UTF-8".into()));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let message = "NUL byte: this is a binary file".to_string();
        return Err(refusal(&bytes[..at], "engine#binary", message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let byte = bytes[at];
        let remedy = match declared_encoding(bytes) {
            Some(name) => format!("the file declares {name}; save it as UTF-8 and remove the declaration"),
            None => "save the file as UTF-8".to_string(),
        };
        refusal(&bytes[..at], "engine#not-utf8", format!("byte 0x{byte:02X} is not UTF-8: {remedy}"))
    })
}

/// A message about a file that can't be read, at the position after `before`.
pub(crate) fn refusal(before: &[u8], id: &str, message: String) -> Box<Diagnostic> {
    let before = String::from_utf8_lossy(before);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").trim_start_matches('\u{feff}').chars().count() + 1;
    let place = Span { line, column, end_line: line, end_column: column + 1, cell: None };
    Box::new(Diagnostic {
        original: place,
        ported: place,
        severity: Severity::Error,
        recipe: id.to_string(),
        message,
        stops_step: false,
    })
}

/// The encoding declared in one of the first two lines, as in Python.
fn declared_encoding(bytes: &[u8]) -> Option<String> {
    bytes.split(|byte| *byte == b'\n').take(2).find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let comment = line.trim_start().strip_prefix('#')?;
        let after = comment.split_once("coding")?.1.strip_prefix([':', '='])?;
        let name = after.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c));
        Some(name.collect()).filter(|name: &String| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<&str, (usize, usize, &str)>) {
        let found = text_of(bytes.to_vec());
        let found = found.as_deref().map_err(|d| (d.original.line, d.original.column, d.message.as_str()));
        assert_eq!(found, expected);
    }

    #[test]
    fn text_is_kept_as_it_is() {
        check("\u{feff}a\r\n\tb".as_bytes(), Ok("\u{feff}a\r\n\tb"));
        check(b"", Ok(""));
    }

    #[test]
    fn what_is_no_text_is_named_with_its_place() {
        check(b"a\nbc\0", Err((2, 3, "NUL byte: this is a binary file")));
        check("é\n# é".as_bytes(), Ok("é\n# é"));
        check(b"x = 1\n# caf\xe9\n", Err((2, 6, "byte 0xE9 is not UTF-8: save the file as UTF-8")));
        check(
            b"# -*- coding: latin-1 -*-\n# caf\xe9\n",
            Err((
                2,
                6,
                "byte 0xE9 is not UTF-8: the file declares latin-1; save it as UTF-8 and remove the declaration",
            )),
        );
        check(b"\xff\xfea\0", Err((1, 1, "the file is UTF-16; save it as UTF-8")));
    }

    #[test]
    fn what_is_too_large_is_refused_with_its_limit() {
        let bytes = vec![b'#'; 10 << 20];
        let read = |limit| read_some(&bytes[..], Some(bytes.len() as u64), limit).unwrap();
        let said = "the file has 10.0 MiB, and the limit is 8 MiB; split it";
        assert_eq!(read(LIMIT).unwrap_err().message, said);
        assert_eq!(read(NOTEBOOK_LIMIT).unwrap(), bytes);
    }
}
