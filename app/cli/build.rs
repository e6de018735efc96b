//! Embeds files in the command: the twin run kit, which is `rehearsal/` without its tests, and, in a build for users without a
//! checkout, the site in one file.

use std::fmt::Write;
use std::path::Path;

/// The variable with the absolute path of the finished single-file site: `cargo xtask wheel` sets it.
const SITE: &str = "PORTOLAN_SITE";

fn main() {
    embed_kit();
    embed_site();
}

fn embed_site() {
    println!("cargo::rerun-if-env-changed={SITE}");
    let site = match std::env::var(SITE) {
        Ok(file) => {
            assert!(Path::new(&file).is_file(), "{SITE}: {file} is no file");
            println!("cargo::rerun-if-changed={file}");
            format!("Some(include_bytes!({file:?}))")
        }
        Err(_) => "None".to_owned(),
    };
    write("site.rs", &site);
}

fn embed_kit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rehearsal");
    let root = root.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    list(&root, "", &mut files);
    files.sort();
    assert!(files.iter().any(|file| file == "rehearse.py"), "{}: the kit's program is not there", root.display());
    let mut table = String::from("&[\n");
    for file in &files {
        let path = root.join(file);
        let _ = writeln!(table, "    ({file:?}, include_bytes!({:?})),", path.display().to_string());
    }
    table.push(']');
    write("kit.rs", &table);
}

/// Writes an expression that the command includes.
fn write(name: &str, text: &str) {
    let out = Path::new(&std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join(name);
    std::fs::write(&out, text).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
}

/// Every file below a folder, as paths with `/`. Hidden files, tests and Python's caches are skipped.
fn list(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || name == "__pycache__" || prefix.is_empty() && name == "tests" {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{path}/"), files);
        } else {
            files.push(path);
        }
    }
}
