//! The files of a port, and their names.

use crate::reading::{LIMIT, NOTEBOOK_LIMIT, read_some, refusal, text_of};
use crate::replacement::left_whole;
use crate::usage::{Usage, usage};
use codemod::{Diagnostic, PortedFile, Severity, is_configuration};
use python::SourceFile;
use python::notebook::{Notebook, is_notebook, is_text_of_notebook};
use sorting::SortedMap;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use training::words::NOTEBOOK_MAGICS;

/// The name of the text from stdin.
const STDIN: &str = "stdin.py";
/// The name of a notebook from stdin.
const NOTEBOOK_STDIN: &str = "stdin.ipynb";

/// The files of one run.
#[derive(Debug)]
pub(crate) struct Project {
    /// The folder to which every [`Input::path`] is relative; none if only stdin is read.
    pub(crate) root: Option<PathBuf>,
    /// Whether the user passed one folder, which is then the whole project.
    pub(crate) whole_folder: bool,
    pub(crate) inputs: Vec<Input>,
    /// Links in the given folders that lead to files outside, which are neither read nor written.
    pub(crate) links_left_out: Vec<PathBuf>,
    /// [`Project::configuration`], once it was read.
    configuration: OnceCell<Vec<(String, SourceFile)>>,
}

/// In bytes.
const LARGEST_CONFIGURATION: usize = 1024 * 1024;

/// One file.
#[derive(Debug)]
pub(crate) struct Input {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// A path that the user can open from the current folder.
    pub(crate) shown: String,
    /// Its path on disk; none for stdin.
    pub(crate) disk: Option<PathBuf>,
    /// The text, of a notebook the program of its cells; or why it can't be read.
    pub(crate) text: Result<String, Box<Diagnostic>>,
    /// The notebook, if it is one.
    pub(crate) notebook: Option<Notebook>,
}

impl Input {
    /// The file as it was read, and as a port makes it; none if it can't be read.
    pub(crate) fn before_and_after<'a>(&'a self, ported: &'a PortedFile) -> Option<(&'a str, &'a str)> {
        let text = self.text.as_ref().ok()?;
        Some((self.notebook.as_ref().map_or(text, Notebook::json), ported.written()))
    }
}

impl Project {
    /// Reads the files named by the paths. An unreadable file is in the list with its message. Files in `out` are the
    /// result of an earlier run, not part of the project.
    pub(crate) fn read(paths: &[PathBuf], out: Option<&Path>) -> Result<Project, Usage> {
        Project::read_those(paths, out, is_source)
    }

    /// The same with the YAML files of programs' configurations.
    pub(crate) fn read_with_configuration(paths: &[PathBuf]) -> Result<Project, Usage> {
        Project::read_those(paths, None, |file| is_source(file) || is_yaml(file))
    }

    fn read_those(paths: &[PathBuf], out: Option<&Path>, wanted: impl Fn(&Path) -> bool) -> Result<Project, Usage> {
        if paths.iter().filter(|path| is_stdin(path)).count() > 1 {
            return Err(usage("`-` (stdin) can be given only once"));
        }
        let root = root_of(paths)?;
        let whole_folder = matches!(paths, [only] if !is_stdin(only) && only.is_dir());
        let mut project = Project {
            root,
            whole_folder,
            inputs: Vec::new(),
            links_left_out: Vec::new(),
            configuration: OnceCell::new(),
        };
        let mut seen = HashSet::new();
        for path in paths {
            if is_stdin(path) {
                project.inputs.push(from_stdin());
            } else if path.is_dir() {
                let mut files = Vec::new();
                let out = out.and_then(|out| fs::canonicalize(out).ok()).filter(|out| !same(path, out));
                let mut unread = Vec::new();
                let within = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
                walk(path, out.as_deref(), &mut |found| match found {
                    Found::File(file) => files.extend(wanted(&file).then_some(file)),
                    // The target of a link in the project has a name of its own there.
                    Found::Link(link) if wanted(&link) => match fs::canonicalize(&link) {
                        Ok(real) => match real.strip_prefix(&within) {
                            Ok(inside) => files.push(path.join(inside)),
                            Err(_) => project.links_left_out.push(link),
                        },
                        Err(_) => project.links_left_out.push(link),
                    },
                    Found::Link(_) => {}
                    Found::Unreadable(folder, error) => unread.push((folder, error)),
                });
                // By path, `net.py` before `net/layer.py`, in the same order as on the Port page: the order is visible
                // in the patch.
                files.sort_by_cached_key(|file| slashed(file));
                for (folder, error) in unread {
                    let message = format!("the folder can't be read: {error}");
                    project.inputs.push(project.input(&folder, Err(refusal(&[], "engine#input", message))));
                }
                if files.is_empty() {
                    let message = "no Python files, notebooks or requirements.txt in this folder".to_owned();
                    project.inputs.push(project.input(path, Err(refusal(&[], "engine#input", message))));
                }
                for file in files.into_iter().filter(|file| seen.insert(fs::canonicalize(file).ok())) {
                    let text = read_file(&file, false);
                    project.inputs.push(project.input(&file, text));
                }
            } else if !path.exists() || seen.insert(fs::canonicalize(path).ok()) {
                let text = read_file(path, true);
                project.inputs.push(project.input(path, text));
            }
        }
        Ok(project)
    }

    /// The readable files, as the engine gets them, and after them the configuration.
    pub(crate) fn sources(&self) -> Vec<SourceFile> {
        let readable = self.inputs.iter().filter_map(|input| {
            let text = input.text.as_ref().ok()?.clone();
            Some(SourceFile { path: input.path.clone(), text })
        });
        readable.chain(self.configuration().iter().map(|(_, file)| file.clone())).collect()
    }

    /// The notebooks, by path.
    pub(crate) fn notebooks(&self) -> SortedMap<String, Notebook> {
        self.inputs.iter().filter_map(|input| Some((input.path.clone(), input.notebook.clone()?))).collect()
    }

    /// The readable files next to the sources of a folder that may contain a program's configuration, each with a path
    /// that the user can open.
    pub(crate) fn configuration(&self) -> &[(String, SourceFile)] {
        self.configuration.get_or_init(|| self.read_configuration())
    }

    fn read_configuration(&self) -> Vec<(String, SourceFile)> {
        let mut found = Vec::new();
        if let Some(root) = self.root.as_deref().filter(|_| self.whole_folder) {
            walk(root, None, &mut |entry| {
                if let Found::File(file) = entry
                    && is_configuration(&slashed(file.strip_prefix(root).unwrap_or(&file)))
                {
                    found.push(self.input(&file, read_file(&file, false)));
                }
            });
        }
        // Larger files are data.
        let readable = found.into_iter().filter_map(|Input { path, text, .. }| {
            let text = text.ok().filter(|text| text.len() < LARGEST_CONFIGURATION)?;
            Some((self.shown(&path), SourceFile { path, text }))
        });
        readable.collect()
    }

    /// A path that the user can open, of a file in the project.
    pub(crate) fn shown(&self, path: &str) -> String {
        // The folder as the user wrote it.
        let folder = self.inputs.iter().find_map(|input| input.shown.strip_suffix(&input.path)).unwrap_or_default();
        format!("{folder}{path}")
    }

    /// Where a new file belongs on disk; nowhere if only stdin was read.
    pub(crate) fn place_of(&self, file: &PortedFile) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join(&file.path))
    }

    /// If a new file is there already, whether it has the same contents.
    pub(crate) fn has(&self, file: &PortedFile) -> Option<bool> {
        let place = self.place_of(file).filter(|place| place.symlink_metadata().is_ok())?;
        Some(fs::read(place).is_ok_and(|bytes| bytes == file.text.as_bytes()))
    }

    fn input(&self, file: &Path, text: Result<String, Box<Diagnostic>>) -> Input {
        let root = self.root.as_deref().unwrap_or(Path::new(""));
        // A patch and a port have to name the file itself, not a link to it.
        let real = fs::canonicalize(file).and_then(|real| Ok((real, fs::canonicalize(root)?)));
        let inside = real.as_ref().ok().and_then(|(real, root)| real.strip_prefix(root).ok());
        let whole = clean(&std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf()));
        let relative = inside.unwrap_or_else(|| whole.strip_prefix(root).unwrap_or(&whole));
        // A name with a line break in it would look like a message of its own.
        let shown = file.strip_prefix("./").unwrap_or(file).display().to_string().replace(['\n', '\r'], "\u{fffd}");
        let path = if relative.as_os_str().is_empty() { shown.clone() } else { slashed(relative) };
        let text = match (file.to_str(), &real) {
            (None, _) => Err(refusal(&[], "engine#input", "the file's name is not UTF-8; rename it".into())),
            (Some(_), Ok((real, _))) if inside.is_none() && file.is_symlink() => {
                let message = format!("this link points outside the folder; port {} directly", real.display());
                Err(refusal(&[], "engine#input", message))
            }
            _ => text,
        };
        let (text, notebook) = read_notebook(&path, text);
        // The sources of a folder are ported without such a file.
        let is_beside = |refused: &Diagnostic| {
            let of_others = !path.ends_with(".py") && refused.recipe == "engine#not-utf8";
            self.whole_folder && (of_others || is_notebook(&path))
        };
        let severity = |refused: &Diagnostic| if is_beside(refused) { Severity::Warning } else { refused.severity };
        let text = text.map_err(|refused| Box::new(Diagnostic { severity: severity(&refused), ..*refused }));
        Input { path, shown, disk: Some(file.to_path_buf()), text, notebook }
    }
}

/// The program of a notebook and the notebook; another file's text as it is.
fn read_notebook(
    path: &str,
    text: Result<String, Box<Diagnostic>>,
) -> (Result<String, Box<Diagnostic>>, Option<Notebook>) {
    match text {
        Ok(json) if is_notebook(path) => match Notebook::read(&json, NOTEBOOK_MAGICS) {
            Ok(mut notebook) => {
                let program = notebook.program();
                (Ok(notebook.readable(&program)), Some(notebook))
            }
            Err(fault) => (Err(refusal(&[], "engine#notebook", fault.to_string())), None),
        },
        Ok(text) if python::is_python(path) && is_text_of_notebook(&text) => {
            let message = "this is the text of a Jupyter notebook: give the file a name that ends in .ipynb";
            (Err(refusal(&[], "engine#notebook", message.into())), None)
        }
        text => (text, None),
    }
}

fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The git repository that a folder is in, but not the root of, and where it is in that.
pub(crate) fn repository_of(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let repository = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    let within = folder.strip_prefix(repository).ok().filter(|within| *within != Path::new(""))?;
    Some((repository.to_path_buf(), within.to_path_buf()))
}

/// The folder, if only one is given; otherwise the current folder if it contains everything; otherwise the common
/// parent of all paths. None if only stdin is read.
fn root_of(paths: &[PathBuf]) -> Result<Option<PathBuf>, Usage> {
    let whole = |path: &PathBuf| match std::path::absolute(path) {
        Ok(path) => Ok(clean(&path)),
        Err(error) => Err(usage(format!("{}: {error}", path.display()))),
    };
    let paths: Vec<PathBuf> = paths.iter().filter(|path| !is_stdin(path)).map(whole).collect::<Result<_, _>>()?;
    let Some(first) = paths.first() else { return Ok(None) };
    if paths.len() == 1 && first.is_dir() {
        return Ok(Some(first.clone()));
    }
    let here = std::env::current_dir().map_err(|error| usage(format!("the current folder can't be read: {error}")))?;
    if paths.iter().all(|path| path.starts_with(&here)) {
        return Ok(Some(here));
    }
    let folder =
        |path: &Path| if path.is_dir() { path.to_path_buf() } else { path.parent().unwrap_or(path).to_path_buf() };
    let mut common = folder(first);
    while !paths.iter().all(|path| path.starts_with(&common)) {
        if !common.pop() {
            return Err(usage("the paths have no common folder"));
        }
    }
    Ok(Some(common))
}

/// Resolves `..` lexically.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// Whether a file found in a folder is of a kind that recipes are about.
fn is_source(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    [".py", ".pyw", ".ipynb"].iter().any(|ending| name.ends_with(ending))
        || (name.starts_with("requirements") && name.ends_with(".txt"))
}

fn is_yaml(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

/// Folders with third-party code or tools' caches.
pub(crate) fn is_foreign(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let tools = [".git", ".hg", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".tox", "__pycache__"];
    tools.contains(&name) || matches!(name, "node_modules" | "site-packages") || folder.join("pyvenv.cfg").is_file()
}

/// Whether two paths are the same place on disk.
pub(crate) fn same(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// Entries found while traversing a folder.
enum Found {
    File(PathBuf),
    /// A link to a file.
    Link(PathBuf),
    Unreadable(PathBuf, std::io::Error),
}

/// Calls `visit` with the contents of a folder, sorted by name. Hidden folders, third-party ones and links to folders
/// are skipped.
fn walk(folder: &Path, out: Option<&Path>, visit: &mut dyn FnMut(Found)) {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return visit(Found::Unreadable(folder.to_path_buf(), error)),
    };
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && (is_foreign(&path) || out.is_some_and(|out| same(&path, out))) => {}
            Ok(kind) if kind.is_dir() => walk(&path, out, visit),
            Ok(kind) if kind.is_symlink() && path.is_file() => visit(Found::Link(path)),
            Ok(_) if path.is_file() => visit(Found::File(path)),
            _ => {}
        }
    }
}

fn from_stdin() -> Input {
    let text = match read_some(std::io::stdin().lock(), None, LIMIT) {
        Ok(bytes) => bytes.and_then(text_of).and_then(not_empty),
        Err(error) => Err(refusal(&[], "engine#input", format!("stdin can't be read: {error}"))),
    };
    let name = if text.as_deref().is_ok_and(is_text_of_notebook) { NOTEBOOK_STDIN } else { STDIN };
    let (text, notebook) = read_notebook(name, text);
    Input { path: name.into(), shown: name.into(), disk: None, text, notebook }
}

fn read_file(file: &Path, named: bool) -> Result<String, Box<Diagnostic>> {
    if named && file.extension().is_some_and(|ending| ending == "zip") {
        return Err(refusal(&[], "engine#input", "this is a zip archive; unpack it and port the folder".into()));
    }
    // A script may have no extension; a file with a different one is not a script.
    if named && file.exists() && !is_source(file) && file.extension().is_some() {
        let message = "this is neither Python, a notebook nor requirements.txt: no recipe mentions such files";
        return Err(refusal(&[], "engine#input", message.into()));
    }
    let read = || {
        let about = fs::metadata(file)?;
        // Reading a pipe may never end.
        if !about.is_file() {
            return Ok(Err(refusal(&[], "engine#input", "not a regular file".into())));
        }
        if let Some(whole) = left_whole(file, &about) {
            let whole = whole.display();
            let message = format!(
                "a run was stopped while it was writing this file, which may now be half old and half new; the complete new text is in \
                 {whole}: copy it over this file, or restore this file, and then delete {whole}"
            );
            return Ok(Err(refusal(&[], "engine#input", message)));
        }
        let limit = if file.to_str().is_some_and(is_notebook) { NOTEBOOK_LIMIT } else { LIMIT };
        read_some(fs::File::open(file)?, Some(about.len()), limit)
    };
    match read() {
        // An empty `__init__.py` is not reported; another empty file that was named is.
        Ok(bytes) if named && !file.ends_with("__init__.py") => bytes.and_then(text_of).and_then(not_empty),
        Ok(bytes) => bytes.and_then(text_of),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(refusal(&[], "engine#input", "file not found".into()))
        }
        Err(error) => Err(refusal(&[], "engine#input", format!("the file can't be read: {error}"))),
    }
}

fn not_empty(text: String) -> Result<String, Box<Diagnostic>> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(refusal(&[], "engine#empty", "the file is empty".into()));
    }
    Ok(text)
}
