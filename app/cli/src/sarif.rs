//! The messages of a port as SARIF 2.1.0, the format that code-scanning services read.
//!
//! Locations refer to the text on disk, as in the messages.

use crate::messages::OnDisk;
use codemod::{Ported, Severity};
use serde_json::{Value, json};

/// The whole log, as text.
pub(crate) fn sarif(ported: &Ported, on_disk: &[OnDisk]) -> String {
    let files = || ported.files.iter().zip(on_disk);
    let all = || files().flat_map(|(file, on_disk)| file.diagnostics.iter().map(move |found| (file, on_disk, found)));
    let mut rules: Vec<&str> = all().map(|(_, _, diagnostic)| diagnostic.recipe.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let results: Vec<Value> = all()
        .map(|(file, on_disk, diagnostic)| {
            let place = on_disk.place(diagnostic);
            json!({
                "ruleId": diagnostic.recipe,
                "ruleIndex": rules.binary_search(&diagnostic.recipe.as_str()).unwrap_or(0),
                "level": level(diagnostic.severity),
                "message": { "text": diagnostic.message },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": uri(&file.path) },
                    "region": {
                        "startLine": place.line,
                        "startColumn": place.column,
                        "endLine": place.end_line,
                        "endColumn": place.end_column,
                    },
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
