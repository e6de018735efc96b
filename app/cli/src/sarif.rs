//! The messages of a port as SARIF 2.1.0, the format that code-scanning services read.
//!
//! Locations refer to the text on disk, as in the messages; in a notebook, to the lines of its file.

use crate::messages::OnDisk;
use codemod::{Ported, Severity, Span};
use python::notebook::FileLines;
use serde_json::{Value, json};

/// The whole log, as text. `notebooks` has the original of each file that is a notebook.
pub(crate) fn sarif(ported: &Ported, on_disk: &[OnDisk], notebooks: &[Option<&str>]) -> String {
    let lines_of = |(n, on_disk): (usize, &OnDisk)| {
        let original = notebooks.get(n).copied().flatten()?;
        Some(FileLines::of(if *on_disk == OnDisk::Original { original } else { ported.files[n].written() }))
    };
    let lines: Vec<Option<FileLines>> = on_disk.iter().enumerate().map(lines_of).collect();
    let files = || ported.files.iter().zip(on_disk).zip(&lines);
    let all = || files().flat_map(|(file, lines)| file.0.diagnostics.iter().map(move |found| (file, lines, found)));
    let mut rules: Vec<&str> = all().map(|(_, _, diagnostic)| diagnostic.recipe.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let results: Vec<Value> = all()
        .map(|((file, on_disk), lines, diagnostic)| {
            let region = region(&on_disk.place(diagnostic), lines.as_ref());
            json!({
                "ruleId": diagnostic.recipe,
                "ruleIndex": rules.binary_search(&diagnostic.recipe.as_str()).unwrap_or(0),
                "level": level(diagnostic.severity),
                "message": { "text": diagnostic.message },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": uri(&file.path) },
                    "region": region,
                } }],
            })
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "portolan",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// A place in the file; in a notebook, whose strings have columns of their own, only the line.
fn region(place: &Span, lines: Option<&FileLines>) -> Value {
    match lines {
        Some(lines) => json!({ "startLine": place.cell.and_then(|cell| lines.line(cell)).unwrap_or(1) }),
        None => json!({
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        }),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

/// A relative path as a URI reference.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(byte as char),
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_become_uris() {
        assert_eq!(super::uri("my dir/größe.py"), "my%20dir/gr%C3%B6%C3%9Fe.py");
    }
}
