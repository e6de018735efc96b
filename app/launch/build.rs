//! Bakes what launches need to know into the crate: the front matter of the guides that have a table `[launch]`, and the
//! site files.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut out = String::from("pub(crate) const GUIDES: &[(&str, &str)] = &[\n");
    let mut guides: Vec<(i64, String, String)> = Vec::new();
    for (path, text) in files(&here.join("../../guides"), "md") {
        let front = guide::split_front_matter(&text).map_or("", |(front, _)| front).to_string();
        let table: toml::Table = toml::from_str(&front).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let order = table.get("order").and_then(toml::Value::as_integer).unwrap_or_default();
        if let Some(target) = table.get("target").and_then(toml::Value::as_str)
            && table.contains_key("launch")
        {
            guides.push((order, target.to_string(), front));
        }
    }
    guides.sort();
    for (_, target, front) in guides {
        let _ = writeln!(out, "    ({target:?}, {front:?}),");
    }
    out.push_str("];\npub(crate) const SITES: &[(&str, &str)] = &[\n");
    for (path, text) in files(&here.join("sites"), "toml") {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let _ = writeln!(out, "    ({name:?}, {text:?}),");
    }
    out.push_str("];\n");
    let file = Path::new(&std::env::var("OUT_DIR").unwrap_or_default()).join("embedded.rs");
    std::fs::write(&file, out).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
}

/// The files of a folder with that extension, by name, with their texts.
fn files(folder: &Path, extension: &str) -> Vec<(PathBuf, String)> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|own| own == extension));
    paths.sort();
    let read = |path: PathBuf| {
        println!("cargo::rerun-if-changed={}", path.display());
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path, text)
    };
    paths.into_iter().map(read).collect()
}
