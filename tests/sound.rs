//! The properties of every port, and the files of ports.

use crate::cpython::CPython;
use crate::examine::comment_lost;
use codemod::{Diagnostic, Options, Ported, PortedFile, RecipeSet, Severity, SourceFile, git_patch_of, port};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock};

/// The project's recipes.
pub static RECIPES: LazyLock<&RecipeSet> = LazyLock::new(RecipeSet::embedded);

/// The folder of this package.
pub fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// A folder of its own for each value, removed with it.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// An empty one.
    #[expect(clippy::new_without_default, reason = "it creates a folder")]
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = std::env::temp_dir().canonicalize().unwrap();
        let path = temporary.join(format!("portolan-tests-{}-{n}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// One with these files.
    pub fn with(files: impl IntoIterator<Item = (impl AsRef<Path>, impl AsRef<str>)>) -> Self {
        let folder = Self::new();
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.as_ref()).unwrap();
        }
        folder
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Options of a port to Gaudi, to the newest release or this one.
pub fn to_hpu(sdk: Option<&str>) -> Options {
    Options { target: "hpu".into(), sdk: sdk.map(Into::into), ..Options::default() }
}

/// Options of a port to any target.
pub fn to(target: &str) -> Options {
    Options { target: target.into(), ..Options::default() }
}

/// Every file below a folder that is passed to a port: Python, requirements and configuration.
pub fn read_tree(root: &Path) -> Vec<SourceFile> {
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

/// The paths and texts of a port.
pub fn texts(ported: &Ported) -> impl Iterator<Item = (&str, &str)> {
    ported.files.iter().map(|f| (f.path.as_str(), f.text.as_str()))
}

/// Diagnostics for a message, one on each line.
pub fn told(diagnostics: &[Diagnostic]) -> String {
    let lines = diagnostics
        .iter()
        .map(|d| format!("{}:{}: {:?}[{}] {}\n", d.original.line, d.original.column, d.severity, d.recipe, d.message));
    lines.collect()
}

/// Values that are computed once for each port, also by tests that run at the same time.
struct OfPorts<T: 'static>(LazyLock<Mutex<HashMap<String, &'static OnceLock<T>>>>);

impl<T> OfPorts<T> {
    const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    fn get(&self, files: &[SourceFile], options: &Options, compute: impl FnOnce() -> T) -> &'static T {
        let key = format!("{options:?} {files:?}");
        let cell = *self.0.lock().unwrap().entry(key).or_insert_with(|| Box::leak(Box::default()));
        cell.get_or_init(compute)
    }
}

/// A port, which several tests may need.
pub fn ported(files: &[SourceFile], options: &Options) -> &'static Ported {
    static PORTS: OfPorts<Ported> = OfPorts::new();
    PORTS.get(files, options, || port(files, &RECIPES, options))
}

/// A port that has the properties of every port.
pub fn assert_sound(files: &[SourceFile], options: &Options) -> &'static Ported {
    static SOUND: OfPorts<&Ported> = OfPorts::new();
    SOUND.get(files, options, || {
        let ported = ported(files, options);
        check_sound(files, options, ported);
        ported
    })
}

fn check_sound(files: &[SourceFile], options: &Options, ported: &Ported) {
    assert_eq!(ported.files.iter().filter(|file| !file.is_new).count(), files.len());
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
    let twice = self::ported(&once, options);
    for (first, second) in ported.files.iter().zip(&twice.files) {
        assert_eq!(first.text, second.text, "{}: a second port changes something", first.path);
    }
    assert_same_to_cpython(files, ported);
}

/// The original with the edits applied; the text between them is from the original.
fn rebuilt(original: &str, file: &PortedFile) -> String {
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
fn assert_same_habits(name: &str, before: &str, after: &str) {
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

/// CPython compiles every port and finds in it the original's statements outside the edits, and its comments except those that
/// an edit names.
fn assert_same_to_cpython(files: &[SourceFile], ported: &Ported) {
    thread_local! {
        static PYTHON: RefCell<CPython> = RefCell::new(CPython::new("python3"));
    }
    let mut named = Vec::new();
    for (before, after) in files.iter().zip(&ported.files).filter(|(file, _)| file.path.ends_with(".py")) {
        let PortedFile { path, text, .. } = after;
        let (given, said) = PYTHON
            .with_borrow_mut(|python| Ok((python.look(&before.text, true)?, python.look_at_port(&before.text, after)?)))
            .unwrap_or_else(|fault: String| panic!("{path}: {fault}"));
        assert_eq!(said.refused, None, "{path}:\n{text}");
        assert_eq!(said.other_tree, None, "{path}:\n{text}");
        assert_eq!(comment_lost(&given, &said, after), None, "{path}:\n{text}");
        let lines: Vec<&str> = before.text.lines().collect();
        for comment in after.edits.iter().flat_map(|edit| &edit.comments_removed) {
            assert!(lines[comment.line - 1].trim_end().ends_with(&comment.text), "{path}: {comment:?}");
            named.push(format!("{path}:{} {}", comment.line, comment.text));
        }
    }
    assert_eq!(ported.certificate.comments_removed, named);
}

/// Compares with a golden file, or writes it under `UPDATE=1`.
pub fn assert_golden(path: &Path, text: &str) {
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        return;
    }
    let golden =
        fs::read_to_string(path).unwrap_or_else(|_| panic!("{} is missing: UPDATE=1 writes it", path.display()));
    let name = path.strip_prefix(here().parent().unwrap()).unwrap_or(path).display().to_string();
    let difference = git_patch_of(&name, &golden, text);
    assert!(golden == text, "{name} differs; UPDATE=1 writes it anew\n{difference}");
}
