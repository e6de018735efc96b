//! The project's third-party components: where each package comes from, its licence, and which of them are delivered
//! with the site or with the command, with the texts of the licences (`app/site/src/texts/licences.json`, which the site shows and every
//! wheel of the command contains).
//!
//! `UPDATE=1 cargo test -p tests --test whole licences` rewrites the list; review the diff before committing it.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the checkout").to_path_buf()
}

fn metadata(platform: &[&str]) -> Value {
    let words = [&["metadata", "--format-version", "1", "--locked"], platform].concat();
    let output = Command::new(env!("CARGO")).args(words).current_dir(root()).output().expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Licences that may be combined with the project's own in one program: those allowed in `deny.toml`.
fn allowed() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml is there");
    let settings: toml::Table = text.parse().expect("deny.toml is TOML");
    let listed = settings["licenses"]["allow"].as_array().expect("deny.toml lists licences");
    listed.iter().filter_map(|licence| licence.as_str().map(str::to_owned)).collect()
}

/// Whether an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0` can be satisfied with these licences.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let plain = expression.replace('/', " OR ").replace(['(', ')'], " ");
    let parts: Vec<&str> = plain.split(" AND ").collect();
    !expression.is_empty()
        && parts.iter().all(|part| part.split(" OR ").any(|licence| allowed.contains(licence.trim())))
}

#[test]
fn an_expression_is_met_in_all_its_parts() {
    let allowed = allowed();
    for good in ["MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "GPL-3.0 OR AGPL-3.0"] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}

#[test]
fn packages_come_from_one_registry_under_licences_that_fit() {
    let (metadata, allowed) = (metadata(&["--all-features"]), allowed());
    let foreign: Vec<&Value> =
        list(&metadata["packages"]).iter().filter(|package| !package["source"].is_null()).collect();
    assert!(foreign.len() > 100, "{} packages", foreign.len());
    for package in foreign {
        let (name, licence) = (text(&package["name"]), text(&package["license"]));
        assert!(text(&package["source"]).starts_with("registry+"), "{name} comes from {}", package["source"]);
        assert!(is_allowed(licence, &allowed), "{name} is under `{licence}`");
    }
    let sources: BTreeSet<&str> = list(&metadata["packages"]).iter().filter_map(|p| p["source"].as_str()).collect();
    assert_eq!(sources.len(), 1, "there is one registry: {sources:?}");
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("the lock file is there");
    let entries = lock.split("[[package]]").filter(|entry| entry.contains("\nsource = "));
    let unsummed: Vec<&str> = entries.filter(|entry| !entry.contains("\nchecksum = ")).collect();
    assert_eq!(unsummed, [""; 0], "every package is known by its hash");
}

/// The packages that are compiled into the site's files, and into the command on any system.
fn delivered() -> Vec<Value> {
    let mut packages = reached(&metadata(&["--filter-platform", "wasm32-unknown-unknown"]), &["web", "forward"]);
    packages.extend(reached(&metadata(&[]), &["cli"]));
    packages.into_values().collect()
}

/// The packages that are compiled into some of the project's own, by id.
fn reached(metadata: &Value, ours: &[&str]) -> BTreeMap<String, Value> {
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"]).iter().map(|p| (text(&p["id"]), p)).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).iter().map(|n| (text(&n["id"]), n)).collect();
    let is_macro = |package: &Value| {
        list(&package["targets"]).iter().any(|target| list(&target["kind"]).iter().any(|kind| kind == "proc-macro"))
    };
    let is_ours = |package: &Value| ours.contains(&text(&package["name"]));
    let mut open: Vec<&str> = packages.iter().filter(|(_, package)| is_ours(package)).map(|(id, _)| *id).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        // A macro's dependencies run in the compiler, and are not delivered.
        if is_macro(packages[id]) || !seen.insert(id) {
            continue;
        }
        let ordinary = |dependency: &&Value| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        open.extend(list(&nodes[id]["deps"]).iter().filter(ordinary).map(|dependency| text(&dependency["pkg"])));
    }
    let foreign = seen.into_iter().filter(|id| !packages[*id]["source"].is_null());
    foreign.map(|id| (id.to_owned(), packages[id].clone())).collect()
}

/// The text of a package's licence; of several the shortest that is sufficient. Empty if the package contains none.
fn licence_text(package: &Value) -> String {
    let folder = Path::new(text(&package["manifest_path"])).parent().map(Path::to_path_buf).unwrap_or_default();
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    names.sort();
    let is_licence = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        path.is_file() && ["licen", "copying", "unlicense"].iter().any(|start| name.starts_with(start))
    };
    let texts = names.iter().filter(|path| is_licence(path)).filter_map(|path| std::fs::read_to_string(path).ok());
    let texts: Vec<String> = texts.map(|text| paragraphs(&text)).collect();
    let is_short = |text: &&String| text.contains("Permission is hereby granted, free of charge");
    texts.iter().find(is_short).or(texts.first()).cloned().unwrap_or_default()
}

/// A text with one line per paragraph, and without other formatting.
fn paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_delivered_is_listed() {
    let mut by_text: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for package in delivered() {
        let names = list(&package["authors"]).iter().map(|author| text(author).split(" <").next().unwrap_or_default());
        let authors = names.collect::<Vec<_>>().join(", ");
        let entry = json!({
            "name": package["name"], "version": package["version"], "licence": package["license"],
            "repository": text(&package["repository"]), "authors": authors,
        });
        by_text.entry(licence_text(&package)).or_default().push(entry);
    }
    let mut groups: Vec<Value> =
        by_text.into_iter().map(|(text, packages)| json!({ "text": text, "packages": packages })).collect();
    let first = |group: &Value| text(&group["packages"][0]["name"]).to_owned();
    groups.sort_by_key(|group| (text(&group["text"]).is_empty(), first(group)));
    let now = format!("{}\n", serde_json::to_string_pretty(&groups).expect("it is JSON"));
    let file = root().join("app/site/src/texts/licences.json");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &now).expect("the list can be written");
    }
    let listed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(listed == now, "other packages are delivered: UPDATE=1 cargo test -p tests --test whole licences");
}
