//! Hashes the sources from which the page and its engine are built. A browser may have one of them from an older version
//! of the site; they compare the hashes to detect this.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders that define their messages, and those on which the messages depend.
const SOURCES: [&str; 8] =
    ["codemod/src", "guide/src", "launch/src", "python/src", "tables/src", "training/src", "web/src", "../guides"];

fn main() {
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in SOURCES {
        println!("cargo::rerun-if-changed={}", app.join(folder).display());
        collect(&app, Path::new(folder), &mut files);
    }
    files.sort();
    // FNV-1a: collisions only have to be unlikely, not hard to find.
    let mut name = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let bytes = fs::read(app.join(&file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for byte in file.to_string_lossy().bytes().chain([0]).chain(bytes).chain([0]) {
            name = (name ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=PORTOLAN_SOURCES={name:016x}");
}

/// The files below a folder, with their paths from `app`.
fn collect(app: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(app.join(folder)).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.flatten() {
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() { collect(app, &path, files) } else { files.push(path) }
    }
}
