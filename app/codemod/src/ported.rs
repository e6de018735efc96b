//! The result of a port: plain data that the command prints, the page shows and the tests compare.

use crate::digest::hash;
pub use python::SourceFile;
use python::notebook::{CellPlace, Notebook};
use serde::{Deserialize, Serialize};
use sorting::SortedMap;

/// How the port treats the code for other devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// `branch` if the project has an enum or chain of compute modes, otherwise `in-place`.
    #[default]
    Auto,
    /// The file becomes code for the target.
    InPlace,
    /// Every other compute mode is unchanged; the target's code is under a guard.
    Branch,
    /// One program for all devices: it chooses the target where it chooses its device, and asks the chosen device
    /// elsewhere. Only for targets that are devices of PyTorch.
    Agnostic,
}

impl Style {
    /// The styles that guides name, with their names.
    pub(crate) const NAMED: [(&str, Self); 3] =
        [("in-place", Self::InPlace), ("branch", Self::Branch), ("agnostic", Self::Agnostic)];

    /// The style of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, style)| *style)
    }

    /// Its name; none for [`Style::Auto`].
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(_, style)| *style == self).map(|(name, _)| *name)
    }
}

/// Whether an edit may be applied without review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Applicability {
    /// Keeps the meaning of the program on every device.
    Safe,
    /// May change behaviour: applied only on request.
    Unsafe,
    /// Never applied: shown with its remedy.
    DisplayOnly,
}

/// The user's choices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Target id: `hpu`, `ipu`, `popdist`, `rdu`.
    pub target: String,
    /// Port style.
    pub style: Style,
    /// SDK version to port for; `None` means the newest that the target's guide covers.
    pub sdk: Option<String>,
    /// Apply unsafe edits as well.
    #[serde(rename = "unsafe")]
    pub allow_unsafe: bool,
    /// Values of the recipes' named options.
    pub options: SortedMap<String, String>,
    /// Puts a comment above each place that is left to a person.
    pub annotate: bool,
    /// Recipes that the user disabled, by id.
    pub rejected_recipes: Vec<String>,
    /// Single edits that the user disabled, by [`Edit::id`]; with `path:` before it only in that file.
    pub rejected_edits: Vec<String>,
}

/// The result of porting a set of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ported {
    /// Target id.
    pub target: String,
    /// The SDK version the port is for.
    pub sdk: String,
    /// The style that was used, never `auto`.
    pub style: Style,
    /// Named options as they were applied, including defaults.
    pub options: SortedMap<String, String>,
    /// One entry per file, in the original order, and after them the new files.
    pub files: Vec<PortedFile>,
    /// The checks of this port.
    pub certificate: Certificate,
}

impl Ported {
    /// Puts the code of notebooks back in their cells: writes [`PortedFile::notebook`], and what the certificate says of
    /// the files. By path, the notebooks whose programs were ported.
    pub fn put_back(&mut self, notebooks: &SortedMap<String, Notebook>) {
        for file in &mut self.files {
            let Some(notebook) = notebooks.get(&file.path) else { continue };
            let json = notebook.with_program(&file.text);
            let hashes = FileHashes { input: hash(notebook.json()), output: hash(&json) };
            // The comments that stand for magics are nobody's.
            let comments = file.edits.iter().flat_map(|edit| &edit.comments_removed);
            let of_magics = comments.filter(|comment| notebook.is_mark(&comment.text)).map(|c| c.noted(&file.path));
            let of_magics: Vec<String> = of_magics.collect();
            self.certificate.comments_removed.retain(|comment| !of_magics.contains(comment));
            for edit in &mut file.edits {
                edit.comments_removed.retain(|comment| !notebook.is_mark(&comment.text));
            }
            self.certificate.files.insert(file.path.clone(), hashes);
            file.notebook = Some(json);
        }
    }

    /// The new files.
    pub fn new_files(&self) -> impl Iterator<Item = &PortedFile> {
        self.files.iter().filter(|file| file.is_new)
    }

    /// Removes the files of a kind that have no messages, and moves the others of that kind to the end.
    pub fn keep_reported(&mut self, is_of_kind: &dyn Fn(&str) -> bool) {
        let Self { files, certificate, .. } = self;
        files.retain(|file| !is_of_kind(&file.path) || !file.diagnostics.is_empty());
        sorting::by_key(files, |file| is_of_kind(&file.path));
        certificate.files.retain(|path, _| files.iter().any(|file| file.path == *path));
    }
}

/// One file after the port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortedFile {
    /// Path as passed.
    pub path: String,
    /// Whether the text differs from the original.
    pub changed: bool,
    /// The ported text; the original if nothing was (or could be) done.
    pub text: String,
    /// Edits that transform the original into [`PortedFile::text`], sorted, not overlapping.
    pub edits: Vec<Edit>,
    /// Messages about this file.
    pub diagnostics: Vec<Diagnostic>,
    /// The ported notebook, of which [`PortedFile::text`] is the program; see [`Ported::put_back`].
    #[serde(default)]
    pub notebook: Option<String>,
    /// The project has no such file: the port adds it, as one edit of an empty text.
    #[serde(default)]
    pub is_new: bool,
}

impl PortedFile {
    /// What the file contains after the port.
    #[must_use]
    pub fn written(&self) -> &str {
        self.notebook.as_deref().unwrap_or(&self.text)
    }
}

/// A replacement of a byte range of the original text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Stable name of the edit for [`Options::rejected_edits`]: `recipe@offset` in the original file's bytes.
    pub id: String,
    /// Id of its recipe: `guide#section`, e.g. `hpu#model-to-device`.
    pub recipe: String,
    /// Whether it is safe.
    pub applicability: Applicability,
    /// First byte replaced, in the original text.
    pub start: usize,
    /// One past the last byte replaced.
    pub end: usize,
    /// The replacement.
    pub text: String,
    /// Comments in the range that the port does not have: they were removed with the code that they refer to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments_removed: Vec<RemovedComment>,
}

/// A comment of the original that the port does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RemovedComment {
    /// Its line in the original, from 1.
    pub line: usize,
    /// Its cell in a notebook.
    #[serde(default)]
    pub cell: Option<CellPlace>,
    /// Its text, with the `#`.
    pub text: String,
}

impl RemovedComment {
    /// Its line, in a notebook `cell N:line`.
    #[must_use]
    pub fn shown(&self) -> String {
        self.cell.map_or_else(|| self.line.to_string(), |CellPlace { cell, line }| format!("cell {cell}:{line}"))
    }

    /// As the certificate has it: file, place and text.
    pub(crate) fn noted(&self, path: &str) -> String {
        format!("{path}:{} {}", self.shown(), self.text)
    }
}

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file could not be ported.
    Error,
    /// Manual work is needed before the port runs correctly.
    Warning,
    /// Useful to know; the port runs without any action.
    Info,
    /// A possible improvement, for instance an unsafe fix that was not applied.
    Hint,
}

/// A part of a text. Lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// First line.
    pub line: usize,
    /// First column.
    pub column: usize,
    /// Last line.
    pub end_line: usize,
    /// Column after the last character.
    pub end_column: usize,
    /// In a notebook, the cell with the first line, which is a line of the notebook's program.
    #[serde(default)]
    pub cell: Option<CellPlace>,
}

impl Span {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1, end_line: 1, end_column: 1, cell: None };

    /// `line:column`, in a notebook `cell N:line:column`.
    #[must_use]
    pub fn shown(&self) -> String {
        match self.cell {
            Some(CellPlace { cell, line }) => format!("cell {cell}:{line}:{}", self.column),
            None => format!("{}:{}", self.line, self.column),
        }
    }
}

/// A message at a location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The location in the original. For code that only the port has, it is that of the code next to it or replaced by
    /// it.
    pub original: Span,
    /// The location in the ported text.
    pub ported: Span,
    /// Severity.
    pub severity: Severity,
    /// Recipe whose guide section is the help for this message; `engine#…` for the engine's own.
    pub recipe: String,
    /// What is wrong and what to do.
    pub message: String,
    /// It prevents the training step from being ported.
    pub stops_step: bool,
}

/// The checks of a port, reproducible from the hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Version of the engine.
    pub engine: String,
    /// SHA-256 of the recipes used, in hex.
    pub recipes: String,
    /// SHA-256 of the input and the output of each file, in hex, by path.
    pub files: SortedMap<String, FileHashes>,
    /// Every changed file parses.
    pub parses: bool,
    /// A second port of the output changes nothing.
    pub idempotent: bool,
    /// Bytes outside the edits are unchanged.
    pub untouched_bytes_equal: bool,
    /// Every comment of the original is in the output, except those that were removed with the code that they refer to.
    pub comments_kept: bool,
    /// All comments of the original that are not in the output, as `path:line text`, the line in the original. Each is
    /// also in [`Edit::comments_removed`].
    pub comments_removed: Vec<String>,
    /// Rounds until nothing changed any more.
    pub rounds: usize,
    /// Remaining code of the source vendor, as `path:line:column text`, the location in the original; empty means
    /// nothing was found.
    pub residue: Vec<String>,
}

/// SHA-256 of a file before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHashes {
    /// Of the original.
    pub input: String,
    /// Of the ported text.
    pub output: String,
}
