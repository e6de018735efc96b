//! The two lists of files in ARCHITECTURE.md for a line and a section: the files exist, and none uses another against
//! the order of its list.

use std::collections::BTreeMap;
use std::path::Path;

/// The files of the list below a heading, in order: the first path in backticks of every numbered line.
pub(crate) fn listed<'t>(text: &'t str, heading: &str) -> Vec<&'t str> {
    let section = text.split_once(heading).map_or("", |(_, rest)| rest.split("\n#").next().unwrap_or(rest));
    let numbered = section.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    numbered.filter_map(|line| line.split('`').nth(1)).collect()
}

/// Uses that violate the order: each file of a list with one that it may not use. `texts` are the files; if `down`, a
/// file may use those below it, otherwise those above.
pub(crate) fn against_order(files: &[&str], texts: &BTreeMap<&str, String>, down: bool) -> Vec<String> {
    let mut found = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let Some(text) = texts.get(file) else {
            found.push(format!("{file} is not there"));
            continue;
        };
        let forbidden = if down { &files[..at] } else { &files[at + 1..] };
        let code = text.split("#[cfg(test)]").next().unwrap_or(text);
        let uses = forbidden.iter().filter(|other| uses(file, code, other));
        found.extend(uses.map(|other| format!("{file} uses {other}")));
    }
    found
}

/// Whether the code of a file uses the module of another: by `crate::` in its own crate, otherwise by the crate's name.
fn uses(file: &str, code: &str, other: &str) -> bool {
    let (here, there) = (parts(file), parts(other));
    let head = if here.0 == there.0 { "crate" } else { there.0 };
    let path = format!("{head}::{}", there.1.join("::"));
    code.match_indices(&path).any(|(at, _)| {
        let end = code[at + path.len()..].chars().next();
        end.is_none_or(|c| !(c.is_alphanumeric() || c == '_'))
    })
}

/// Crate and module of `app/CRATE/src/a/b.rs`.
fn parts(file: &str) -> (&str, Vec<&str>) {
    let mut parts = file.trim_end_matches(".rs").split('/').skip(1);
    let name = parts.next().unwrap_or_default();
    (name, parts.skip(1).collect())
}

/// The texts of files below a folder.
pub(crate) fn texts<'f>(root: &Path, files: &[&'f str]) -> BTreeMap<&'f str, String> {
    files.iter().filter_map(|file| Some((*file, std::fs::read_to_string(root.join(file)).ok()?))).collect()
}

#[test]
fn a_use_against_the_order_is_named() {
    let files = ["app/a/src/one.rs", "app/a/src/two.rs", "app/b/src/x/three.rs"];
    let text = |one: &str, three: &str| -> BTreeMap<&str, String> {
        BTreeMap::from([
            (files[0], one.to_owned()),
            (files[1], "use crate::one::A;".to_owned()),
            (files[2], three.to_owned()),
        ])
    };
    assert_eq!(against_order(&files, &text("", "use a::two::B;"), false), [""; 0]);
    assert_eq!(
        against_order(&files, &text("use b::x::three;", ""), false),
        ["app/a/src/one.rs uses app/b/src/x/three.rs"]
    );
    assert_eq!(against_order(&files, &text("", ""), true), ["app/a/src/two.rs uses app/a/src/one.rs"]);
    assert_eq!(against_order(&files[..1], &BTreeMap::new(), true), ["app/a/src/one.rs is not there"]);
}
