//! What a port is: plain data that the command prints, the page shows and the tests compare.

pub use python::SourceFile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the port keeps or drops the code for other devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// `branch` when the project has an enum or chain of compute modes, else `in-place`.
    #[default]
    Auto,
    /// The file becomes target code.
    InPlace,
    /// Every other compute mode stays as it was; the target's code runs under a guard.
    Branch,
}

/// Whether an edit may be applied without a person looking at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Applicability {
    /// Keeps the meaning of the program on every device.
    Safe,
    /// May change behaviour: applied only when asked for.
    Unsafe,
    /// Never applied: shown with its remedy.
    DisplayOnly,
}

/// What the user chose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Target id: `hpu`, `ipu`, `popdist`, `rdu`.
    pub target: String,
    /// Port style.
    pub style: Style,
    /// SDK version the port is for; `None` means the newest the target's guide knows.
    pub sdk: Option<String>,
    /// Apply unsafe edits as well.
    #[serde(rename = "unsafe")]
    pub allow_unsafe: bool,
    /// Values of the recipes' named options.
    pub options: BTreeMap<String, String>,
    /// Recipes that the user turned off, by id.
    pub rejected_recipes: Vec<String>,
    /// Single edits that the user turned off, by [`Edit::id`]; with `path:` before it in that file alone.
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
    /// Named options as they were applied, defaults filled in.
    pub options: BTreeMap<String, String>,
    /// One entry a file, in the order given.
    pub files: Vec<PortedFile>,
    /// What was checked of this port.
    pub certificate: Certificate,
}

/// One file after the port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortedFile {
    /// Path as given.
    pub path: String,
    /// Whether the text differs from the original.
    pub changed: bool,
    /// The ported text; the original where nothing was (or could be) done.
    pub text: String,
    /// Edits that lead from the original to [`PortedFile::text`], sorted, not overlapping.
    pub edits: Vec<Edit>,
    /// Messages about this file.
    pub diagnostics: Vec<Diagnostic>,
}

/// A replacement of a byte range of the original text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Stable name of the edit for [`Options::rejected_edits`]: `recipe@offset` in the original file's bytes.
    pub id: String,
    /// Id of the recipe that asked for it: `guide#section`, e.g. `hpu#model-to-device`.
    pub recipe: String,
    /// Whether it is safe.
    pub applicability: Applicability,
    /// First byte replaced, in the original text.
    pub start: usize,
    /// One past the last byte replaced.
    pub end: usize,
    /// What stands there instead.
    pub text: String,
}

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file could not be ported.
    Error,
    /// A person is needed before the port runs right.
    Warning,
    /// Worth knowing; the port runs without.
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
}

impl Span {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1, end_line: 1, end_column: 1 };
}

/// A message at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The place in the original. What only the port has is at the code it was put beside or in place of.
    pub original: Span,
    /// The place in the ported text.
    pub ported: Span,
    /// Severity.
    pub severity: Severity,
    /// Recipe whose guide section is the help for this message; `engine#…` for the engine's own.
    pub recipe: String,
    /// What is the matter and what to do.
    pub message: String,
    /// It keeps the training step from being ported.
    pub stops_step: bool,
}

/// What was checked of a port, replayable from the hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Version of the engine.
    pub engine: String,
    /// SHA-256 of the recipes used, in hex.
    pub recipes: String,
    /// SHA-256 of the input and the output of each file, in hex, by path.
    pub files: BTreeMap<String, FileHashes>,
    /// Every changed file parses.
    pub parses: bool,
    /// A second port of the output changes nothing.
    pub idempotent: bool,
    /// Bytes outside the edits are the original's.
    pub untouched_bytes_equal: bool,
    /// Every comment of the original is in the output, but for those that went with what they speak of.
    pub comments_kept: bool,
    /// Comments that went with the statements below or in front of them, as `path:line text`, the line in the original.
    pub comments_removed: Vec<String>,
    /// Rounds until nothing changed any more.
    pub rounds: usize,
    /// What is left of the source vendor, as `path:line:column text`, the place in the original; empty means nothing was found.
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
