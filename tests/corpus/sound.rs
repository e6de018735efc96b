//! The properties of every port, and the files of ports.

use codemod::{Diagnostic, Options, Ported, PortedFile, RecipeSet, Severity, port};
use python::SourceFile;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) static RECIPES: LazyLock<&RecipeSet> = LazyLock::new(RecipeSet::embedded);
pub(crate) static FOLDERS: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// An empty folder of its own for each call.
pub(crate) fn folder(name: &str) -> PathBuf {
    let n = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{n}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

pub(crate) fn to_hpu(sdk: Option<&str>) -> Options {
    Options { target: "hpu".into(), sdk: sdk.map(Into::into), ..Options::default() }
}

/// Options of a port to any target.
pub(crate) fn to(target: &str) -> Options {
    Options { target: target.into(), ..Options::default() }
}

/// Every file below a folder that is passed to a port: Python, requirements and configuration.
pub(crate) fn read_tree(root: &Path) -> Vec<SourceFile> {
    fn walk(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                walk(root, &path, files);
            } else {
                let relative = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.push(SourceFile { path: relative, text: fs::read_to_string(&path).unwrap() });
            }
        }
    }
    let mut files = Vec::new();
    walk(root, root, &mut files);
    files
}

pub(crate) fn write_tree<'a>(root: &Path, files: impl IntoIterator<Item = (&'a str, &'a str)>) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

pub(crate) fn texts(ported: &Ported) -> impl Iterator<Item = (&str, &str)> {
    ported.files.iter().map(|f| (f.path.as_str(), f.text.as_str()))
}

pub(crate) fn told(diagnostics: &[Diagnostic]) -> String {
    let lines = diagnostics
        .iter()
        .map(|d| format!("{}:{}: {:?}[{}] {}\n", d.original.line, d.original.column, d.severity, d.recipe, d.message));
    lines.collect()
}

/// The properties of every port.
pub(crate) fn assert_sound(files: &[SourceFile], options: &Options) -> Ported {
    let ported = port(files, &RECIPES, options);
    assert_eq!(ported.files.len(), files.len());
    for (before, after) in files.iter().zip(&ported.files) {
        let name = &after.path;
        assert!(
            !after.diagnostics.iter().any(|d| d.severity == Severity::Error),
            "{name}: {}",
            told(&after.diagnostics)
        );
        assert_eq!(rebuilt(&before.text, after), after.text, "{name}: the edits do not lead to the ported text");
        assert_eq!(after.changed, before.text != after.text);
        assert_same_habits(name, &before.text, &after.text);
    }
    assert!(ported.certificate.parses && ported.certificate.untouched_bytes_equal && ported.certificate.comments_kept);
    assert!(ported.certificate.idempotent, "a second port would change something");

    let once: Vec<_> = ported.files.iter().map(|f| SourceFile { path: f.path.clone(), text: f.text.clone() }).collect();
    let twice = port(&once, &RECIPES, options);
    for (first, second) in ported.files.iter().zip(&twice.files) {
        assert_eq!(first.text, second.text, "{}: a second port changes something", first.path);
    }
    assert_compiles(&ported);
    ported
}

/// The original with the edits applied; the text between them is from the original.
pub(crate) fn rebuilt(original: &str, file: &PortedFile) -> String {
    let mut text = String::new();
    let mut at = 0;
    for edit in &file.edits {
        assert!(edit.start >= at && edit.end >= edit.start, "{}: edits overlap at byte {}", file.path, edit.start);
        text.push_str(&original[at..edit.start]);
        text.push_str(&edit.text);
        at = edit.end;
    }
    text + &original[at..]
}

/// Line endings, BOM, indentation by tabs and a missing final newline are the author's.
pub(crate) fn assert_same_habits(name: &str, before: &str, after: &str) {
    assert_eq!(before.starts_with('\u{feff}'), after.starts_with('\u{feff}'), "{name}: byte order mark");
    assert_eq!(before.ends_with('\n'), after.ends_with('\n'), "{name}: newline at the end");
    if before.contains("\r\n") {
        assert!(!after.replace("\r\n", "").contains(['\r', '\n']), "{name}: a line does not end in CRLF");
    } else {
        assert!(!after.contains('\r'), "{name}: a carriage return came from somewhere");
    }
    if before.contains("\n\t") && !before.lines().any(|line| line.starts_with("  ")) {
        assert!(!after.lines().any(|line| line.starts_with("  ")), "{name}: a line is indented with spaces");
    }
}

pub(crate) fn assert_compiles(ported: &Ported) {
    let root = folder("compile");
    write_tree(&root, texts(ported));
    let python = ported.files.iter().filter(|f| f.path.ends_with(".py")).map(|f| root.join(&f.path));
    let output = Command::new("python3").args(["-m", "py_compile"]).args(python).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(root).unwrap();
}

/// Compares with a golden file, or writes it under `UPDATE=1`.
pub(crate) fn assert_golden(path: &Path, text: &str) {
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        return;
    }
    let golden =
        fs::read_to_string(path).unwrap_or_else(|_| panic!("{} is missing: UPDATE=1 writes it", path.display()));
    let line = golden.lines().zip(text.lines()).position(|(a, b)| a != b).map_or(0, |n| n + 1);
    assert!(golden == text, "{} differs from line {line} on; UPDATE=1 writes it anew", path.display());
}
