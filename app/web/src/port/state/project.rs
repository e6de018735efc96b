//! What can be opened: bytes from a file, a folder or an archive, checked before they become text.

use crate::shared::text::count;
use python::SourceFile;
use std::fmt;

/// The maximum size of a file in bytes. The engine accepts larger ones; a text field does not.
pub const MAX_FILE: usize = 4 * 1024 * 1024;
/// The maximum size of all files together in bytes.
pub const MAX_PROJECT: usize = 16 * 1024 * 1024;
/// The maximum number of files in a project.
pub const MAX_FILES: usize = 1000;
/// The maximum depth of nested folders. The list of files shows each, and an archive or a link can name thousands.
pub const MAX_DEPTH: usize = 32;

/// Why some bytes were not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too many bytes.
    TooBig {
        /// Its size in bytes.
        size: usize,
        /// The limit, [`MAX_FILE`] or [`MAX_PROJECT`].
        most: usize,
    },
    /// A zero byte: this is not a text. Line and column are counted from 1.
    Binary {
        /// Line of the byte.
        line: usize,
        /// Column of the byte.
        column: usize,
    },
    /// Not UTF-8. Line and column are counted from 1.
    NotUtf8 {
        /// Line of the first invalid byte.
        line: usize,
        /// Column of the first invalid byte.
        column: usize,
        /// The encoding declared in the file.
        coding: Option<String>,
    },
    /// A Jupyter notebook.
    Notebook,
    /// A damaged archive.
    Archive(String),
    /// The browser could not read it.
    Unreadable(String),
    /// It contains nothing that can be ported.
    NoPython,
    /// It contains this many notebooks, and nothing that can be ported.
    OnlyNotebooks(usize),
    /// More files than [`MAX_FILES`] or more bytes than [`MAX_PROJECT`].
    TooMany,
    /// More nested folders than [`MAX_DEPTH`].
    TooDeep,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooBig { size, most } => {
                let (size, max) = (megabytes(*size), most >> 20);
                write!(f, "is too big for this page: {size} MB, but the limit is {max} MB. {LESS}")
            }
            Refusal::Binary { line, column } => {
                write!(f, "is a binary file (a zero byte in line {line}, column {column}).")
            }
            Refusal::NotUtf8 { line, column, coding: Some(coding) } => write!(
                f,
                "is not UTF-8 (line {line}, column {column}). It declares the encoding {coding}; save it as UTF-8 first."
            ),
            Refusal::NotUtf8 { line, column, coding: None } => {
                write!(f, "is not UTF-8 (line {line}, column {column}).")
            }
            Refusal::Notebook => {
                write!(f, "is a notebook. Export it as a script: jupyter nbconvert --to script")
            }
            Refusal::Archive(why) => write!(f, "can't be read as a zip archive: {why}"),
            Refusal::Unreadable(why) => write!(f, "can't be read: {why}"),
            Refusal::NoPython => write!(f, "contains no Python files."),
            Refusal::OnlyNotebooks(number) => write!(
                f,
                "contains no Python files, but {}. Export {} with `jupyter nbconvert --to script *.ipynb`, and open the result.",
                count(*number, "notebook"),
                if *number == 1 { "it as a script" } else { "them as scripts" }
            ),
            Refusal::TooMany => {
                let max = MAX_PROJECT >> 20;
                write!(f, "is too big for this page: the limit is {MAX_FILES} files and {max} MB in total. {LESS}")
            }
            Refusal::TooDeep => write!(f, "has more than {MAX_DEPTH} nested folders. {LESS}"),
        }
    }
}

/// The advice if something exceeds a limit.
const LESS: &str = "Open fewer files, or use the command.";

fn megabytes(size: usize) -> String {
    format!("{}.{}", size >> 20, ((size & 0xf_ffff) * 10) >> 20)
}

/// The kind of a file, judged by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file that is ported: Python, requirements.
    Source,
    /// A file that is read with the project, because a launch depends on it, or because it names a device: YAML, TOML,
    /// and JSON whose path says that it is a configuration.
    Configuration,
    /// An archive whose files are opened.
    Zip,
    /// A notebook.
    Notebook,
    /// Possibly the result of a twin run: JSON.
    Result,
    /// Anything else: opened if it is chosen individually, skipped in a folder.
    Other,
}

/// Determines the kind of a file.
pub fn kind(path: &str) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if name.ends_with(".py") || name.ends_with(".pyw") || (name.starts_with("requirements") && name.ends_with(".txt")) {
        Kind::Source
    } else if [".yaml", ".yml", ".toml"].iter().any(|ending| name.ends_with(ending))
        || (name.ends_with(".json") && path.contains("conf"))
    {
        Kind::Configuration
    } else if name.ends_with(".zip") {
        Kind::Zip
    } else if name.ends_with(".ipynb") {
        Kind::Notebook
    } else if name.ends_with(".json") {
        Kind::Result
    } else {
        Kind::Other
    }
}

/// Whether a folder contains third-party code or files generated by tools.
pub fn skipped_folder(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "__pycache__" | "node_modules" | "site-packages" | "__MACOSX" | "venv")
}

/// Whether a file in a folder or an archive belongs to the project.
pub fn belongs(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let name = parts.next().unwrap_or_default();
    matches!(kind(path), Kind::Source | Kind::Configuration) && !name.starts_with("._") && !parts.any(skipped_folder)
}

/// Files of a folder or an archive that do not belong to the project. Internal files of tools, in `.git` and the like,
/// are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of all these files.
    pub files: usize,
    /// The number of notebooks among them.
    pub notebooks: usize,
    /// The paths of the first.
    pub first: Vec<String>,
}

/// How many skipped files are named.
const NAMED: usize = 3;

impl LeftOut {
    /// Counts a file.
    pub fn add(&mut self, path: &str) {
        if !path.split('/').any(skipped_folder) {
            self.files += 1;
            self.notebooks += usize::from(kind(path) == Kind::Notebook);
            if self.first.len() < NAMED && !path.is_empty() {
                self.first.push(path.to_owned());
            }
        }
    }

    /// Adds those of an archive.
    pub fn extend(&mut self, other: Self) {
        self.files += other.files;
        self.notebooks += other.notebooks;
        let free = NAMED.saturating_sub(self.first.len());
        self.first.extend(other.first.into_iter().take(free));
    }

    /// A sentence about the skipped files; empty if there are none.
    pub fn skipped(&self) -> String {
        if self.files == 0 {
            return String::new();
        }
        let notebooks = match self.notebooks {
            0 => String::new(),
            n => format!(
                ", including {}. Convert {} with `jupyter nbconvert --to script`",
                count(n, "notebook"),
                if n == 1 { "it" } else { "those" }
            ),
        };
        let rest = if self.files > self.first.len() { ", …" } else { "" };
        let named = if self.first.is_empty() { String::new() } else { format!(" ({}{rest})", self.first.join(", ")) };
        format!(" Skipped {}{named}{notebooks}.", count(self.files, "non-Python file"))
    }

    /// Why nothing of this can be opened.
    pub fn refusal(&self) -> Refusal {
        if self.notebooks > 0 { Refusal::OnlyNotebooks(self.notebooks) } else { Refusal::NoPython }
    }
}

/// Decodes bytes as text.
pub fn text_of(bytes: Vec<u8>) -> Result<String, Refusal> {
    if bytes.len() > MAX_FILE {
        return Err(Refusal::TooBig { size: bytes.len(), most: MAX_FILE });
    }
    if let Some(at) = bytes.iter().position(|b| *b == 0) {
        let (line, column) = place(&bytes[..at]);
        return Err(Refusal::Binary { line, column });
    }
    String::from_utf8(bytes).map_err(|error| {
        let bytes = error.as_bytes();
        let (line, column) = place(&bytes[..error.utf8_error().valid_up_to()]);
        Refusal::NotUtf8 { line, column, coding: coding_line(bytes) }
    })
}

/// Checks text that was pasted or is from a link.
pub fn check_text(text: &str) -> Result<(), Refusal> {
    if text.len() > MAX_FILE {
        return Err(Refusal::TooBig { size: text.len(), most: MAX_FILE });
    }
    match text.find('\0') {
        Some(at) => {
            let (line, column) = place(&text.as_bytes()[..at]);
            Err(Refusal::Binary { line, column })
        }
        None => Ok(()),
    }
}

/// Advice if a text is clearly something other than Python; `None` if it may be Python.
pub fn not_python(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines().next()?;
    let has = |start: &str| lines().any(|line| line.starts_with(start));
    if first.starts_with('{') && text.ends_with('}') && (text.contains("\"cells\"") || text.contains("\"nbformat\"")) {
        return Some(
            "This is a Jupyter notebook. Convert it with `jupyter nbconvert --to script`, and paste the result.",
        );
    }
    if first.starts_with("Traceback (most recent call last)") {
        return Some(
            "This is a traceback. Paste the script that raised it; to look up an error message, use the search.",
        );
    }
    let shell = ["#!/bin/bash", "#!/usr/bin/env bash", "#!/bin/sh", "#!/usr/bin/env sh"];
    if shell.iter().any(|line| first.starts_with(line)) || has("#SBATCH") || has("#PBS") {
        return Some(
            "This is a shell or job script. Paste the Python program that it starts; for the script itself, see the Launch page.",
        );
    }
    if first.starts_with("diff --git") || (first.starts_with("--- ") && has("+++ ")) {
        return Some("This is a patch. Paste the whole file that it changes.");
    }
    if (first.starts_with('{') && text.ends_with('}') && text.contains("\":"))
        || first.starts_with("<!")
        || first.starts_with("<html")
    {
        return Some("This is not Python. Paste a training script.");
    }
    None
}

/// The words before the name of a script in a line about how to run it.
const STARTERS: [&str; 3] = ["python ", "python3 ", "torchrun "];

/// The name of a script according to its own text: in its first lines, or after `python` in a line about how to run it.
pub fn name_in(text: &str) -> Option<String> {
    let is_name = |word: &str| {
        word.len() > 3
            && word.ends_with(".py")
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./".contains(&b))
    };
    let clean = |word: &str| word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '/' && c != '_').to_owned();
    let mut lines = text.lines().take(60);
    let first = text.lines().take(3).find_map(|line| {
        let words = line.trim().strip_prefix('#')?.split_whitespace().map(clean).collect::<Vec<_>>();
        match &words[..] {
            [name] if is_name(name) => Some(name.clone()),
            _ => None,
        }
    });
    let run = || {
        lines.find_map(|line| {
            let (_, rest) = STARTERS.iter().find_map(|starter| line.split_once(starter))?;
            rest.split_whitespace().map(clean).find(|word| is_name(word))
        })
    };
    first.or_else(run).map(|name| name.trim_start_matches("./").trim_start_matches('/').to_owned())
}

/// Checks a whole project.
pub fn check_project(files: &[SourceFile]) -> Result<(), Refusal> {
    if files.iter().all(|file| kind(&file.path) == Kind::Configuration) {
        return Err(Refusal::NoPython);
    }
    if files.len() > MAX_FILES || files.iter().map(|f| f.text.len()).sum::<usize>() > MAX_PROJECT {
        return Err(Refusal::TooMany);
    }
    if files.iter().any(|file| file.path.matches('/').count() > MAX_DEPTH) {
        return Err(Refusal::TooDeep);
    }
    Ok(())
}

/// The line and column, counted from 1, of the position after some bytes.
fn place(before: &[u8]) -> (usize, usize) {
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// The encoding declared in one of the first two lines, by Python's rules.
fn coding_line(bytes: &[u8]) -> Option<String> {
    bytes.split(|b| *b == b'\n').take(2).find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let (_, rest) = line.trim_start().strip_prefix('#')?.split_once("coding")?;
        let name = rest.strip_prefix([':', '='])?.trim_start();
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(name.len());
        (end > 0).then(|| name[..end].to_owned())
    })
}

/// Removes the folder that all paths have in common, so that a patch applies from the project's root.
pub fn strip_root(files: &mut [SourceFile]) {
    let Some((root, _)) = files.first().and_then(|f| f.path.split_once('/')) else { return };
    let root = format!("{root}/");
    if files.iter().all(|f| f.path.starts_with(&root)) {
        for file in files {
            file.path.drain(..root.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        assert_eq!(kind("src/Trainer.PY"), Kind::Source);
        assert_eq!(kind("requirements-dev.txt"), Kind::Source);
        assert_eq!(kind("notes.txt"), Kind::Other);
        assert_eq!(kind("a.zip"), Kind::Zip);
        assert_eq!(kind("conf/Base.YML"), Kind::Configuration);
        assert!(belongs("src/a.py") && belongs("conf/model.yaml"));
        assert!(!belongs("venv/lib/a.py"));
        assert!(!belongs(".git/a.py"));
        assert!(!belongs("__MACOSX/src/._a.py"));
    }

    #[test]
    fn bad_bytes_have_a_place() {
        assert_eq!(text_of(b"a\nb\0".to_vec()), Err(Refusal::Binary { line: 2, column: 2 }));
        let latin = b"# -*- coding: latin-1 -*-\nx = '\xe9'\n".to_vec();
        assert_eq!(text_of(latin), Err(Refusal::NotUtf8 { line: 2, column: 6, coding: Some("latin-1".into()) }));
        assert_eq!(text_of(b"\xff".to_vec()), Err(Refusal::NotUtf8 { line: 1, column: 1, coding: None }));
        assert_eq!(text_of("\u{feff}x\r\n".into()), Ok("\u{feff}x\r\n".to_owned()));
        assert!(matches!(text_of(vec![b'x'; MAX_FILE + 1]), Err(Refusal::TooBig { .. })));
        assert_eq!(check_text("é\0"), Err(Refusal::Binary { line: 1, column: 2 }));
    }

    #[test]
    fn what_is_not_python_is_named() {
        let check = |text: &str, expected: &str| {
            assert!(not_python(text).unwrap_or_default().contains(expected), "{text}: {:?}", not_python(text));
        };
        check("{\"cells\": [], \"nbformat\": 4}", "notebook");
        check("#!/bin/bash\n#SBATCH -n 1\npython t.py\n", "job script");
        check("Traceback (most recent call last):\n  File \"t.py\", line 1\n", "traceback");
        check("diff --git a/t.py b/t.py\n", "patch");
        for python in ["import torch\n", "#!/usr/bin/env python3\nx = 1\n", "{'a': 1}\n", "", "x = {\n}\n"] {
            assert_eq!(not_python(python), None, "{python}");
        }
    }

    #[test]
    fn a_script_may_name_itself() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(name_in(text).as_deref(), expected, "{text}");
        check("# train.py\nimport torch\n", Some("train.py"));
        check("\"\"\"Trains.\n\nUsage: python tools/train.py --lr 1\n\"\"\"\n", Some("tools/train.py"));
        check("\"\"\"Usage: torchrun --nproc_per_node 4 train.py --lr 1\"\"\"\n", Some("train.py"));
        check("# torchrun main\nimport torch\n", None);
        check("# see model.py for the network\n", None);
    }

    #[test]
    fn what_was_skipped_is_counted() {
        assert_eq!(LeftOut::default().skipped(), "");
        let mut some = LeftOut::default();
        ["README.md", "a.ipynb", "b.png"].iter().for_each(|path| some.add(path));
        let said = " Skipped 3 non-Python files (README.md, a.ipynb, b.png), including 1 notebook. Convert it with \
                    `jupyter nbconvert --to script`.";
        assert_eq!(some.skipped(), said);
        let mut more = LeftOut::default();
        more.extend(some);
        more.add("c.png");
        assert!(more.skipped().starts_with(" Skipped 4 non-Python files (README.md, a.ipynb, b.png, …), including"));
    }

    #[test]
    fn what_tools_keep_is_not_counted() {
        let check = |path: &str, files: usize, notebooks: usize| {
            let mut left_out = LeftOut::default();
            left_out.add(path);
            assert_eq!((left_out.files, left_out.notebooks), (files, notebooks), "{path}");
        };
        for path in [
            "top/.git/HEAD",
            ".git/objects/ab/cdef",
            ".hg/store/a.py",
            ".gitignore",
            "venv/lib/a.py",
            "a/__pycache__/a.pyc",
            "b/.ipynb_checkpoints/c.ipynb",
            "__MACOSX/._a.py",
        ] {
            check(path, 0, 0);
        }
        check("top/README.md", 1, 0);
        check("b/c.ipynb", 1, 1);
    }

    #[test]
    fn configuration_alone_is_no_project() {
        let file = |path: &str| SourceFile { path: path.into(), text: String::new() };
        assert_eq!(check_project(&[]), Err(Refusal::NoPython));
        assert_eq!(check_project(&[file("a.yaml")]), Err(Refusal::NoPython));
        assert_eq!(check_project(&[file("a.yaml"), file("a.py")]), Ok(()));
        assert_eq!(check_project(&[file(&("a/".repeat(32) + "b.py"))]), Ok(()));
        assert_eq!(check_project(&[file(&("a/".repeat(33) + "b.py"))]), Err(Refusal::TooDeep));
    }

    #[test]
    fn a_common_folder_goes() {
        let file = |path: &str| SourceFile { path: path.into(), text: String::new() };
        let mut files = [file("top/src/a.py"), file("top/b.py")];
        strip_root(&mut files);
        assert_eq!([&files[0].path, &files[1].path], ["src/a.py", "b.py"]);
        let mut files = [file("a/x.py"), file("b/y.py")];
        strip_root(&mut files);
        assert_eq!(files[0].path, "a/x.py");
        let mut files = [file("x.py")];
        strip_root(&mut files);
        assert_eq!(files[0].path, "x.py");
    }
}
