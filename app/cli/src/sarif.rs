//! The messages of a port as SARIF 2.1.0, the format that code-scanning services read.
//!
//! Locations refer to the text on disk (in a notebook, to the lines of its file), and paths to the current folder, as in the
//! messages: a service takes paths from the root of the repository, where it runs the command.

use crate::messages::OnDisk;
use codemod::{Ported, RecipeSet, Severity, Span};
use python::notebook::FileLines;
use serde_json::{Value, json};

/// The whole log, as text. `shown` are the paths of the files from the current folder; `notebooks` has the original of each
/// file that is a notebook.
pub(crate) fn sarif(
    ported: &Ported,
    recipes: &RecipeSet,
    shown: &[&str],
    on_disk: &[OnDisk],
    notebooks: &[Option<&str>],
) -> String {
    let lines_of = |(n, on_disk): (usize, &OnDisk)| {
        let original = notebooks.get(n).copied().flatten()?;
        Some(FileLines::of(if *on_disk == OnDisk::Original { original } else { ported.files[n].written() }))
    };
    let lines: Vec<Option<FileLines>> = on_disk.iter().enumerate().map(lines_of).collect();
    let files = || ported.files.iter().zip(shown).zip(on_disk.iter().zip(&lines));
    let all =
        || files().flat_map(|((file, path), place)| file.diagnostics.iter().map(move |found| (*path, place, found)));
    let mut rules: Vec<&str> = all().map(|(_, _, diagnostic)| diagnostic.recipe.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let results: Vec<Value> = all()
        .map(|(path, (on_disk, lines), diagnostic)| {
            let region = region(&on_disk.place(diagnostic), lines.as_ref());
            json!({
                "ruleId": diagnostic.recipe,
                "ruleIndex": rules.binary_search(&diagnostic.recipe.as_str()).unwrap_or(0),
                "level": level(diagnostic.severity),
                "message": { "text": diagnostic.message },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": uri(path) },
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
                "rules": rules.iter().map(|id| rule(ported, recipes, id)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// What a service shows of a rule: its title and, for a recipe, its reason and source.
fn rule(ported: &Ported, recipes: &RecipeSet, id: &str) -> Value {
    let mut rule = json!({ "id": id, "shortDescription": { "text": recipes.title(&ported.target, id) } });
    if let Some(recipe) = recipes.recipes_for(&ported.target).iter().find(|recipe| recipe.id == id) {
        rule["fullDescription"] = json!({ "text": recipe.reason });
        let help = format!("{}\n\nSource: {}\nHolds for: {}", recipe.reason, recipe.source, recipe.holds_for);
        rule["help"] = json!({ "text": help });
        if let Some(citation) = recipe.citations.first() {
            rule["helpUri"] = citation.url.as_str().into();
        }
    }
    rule
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

/// A path as a URI, or a reference to one if it is relative.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let drive = path.split_once(':').is_some_and(|(drive, rest)| drive.len() == 1 && rest.starts_with('/'));
    let mut out = match (drive, path.starts_with('/')) {
        (true, _) => "file:///".to_owned(),
        (_, true) => "file://".to_owned(),
        _ => String::new(),
    };
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
        assert_eq!(super::uri("/my dir/a.py"), "file:///my%20dir/a.py");
        assert_eq!(super::uri(r"C:\dir\a.py"), "file:///C%3A/dir/a.py");
    }
}
