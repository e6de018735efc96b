//! What the page and its worker say to each other.
//!
//! A message is a small head, and beside it the big things as they are: texts as strings, colours as numbers. So a
//! long file is copied, never quoted and parsed again.

use crate::port::twin_result::TwinResult;
use codemod::{
    Applicability, Certificate, Diagnostic, FileDiff, Ledger, MatrixCell, Options, RecipeInfo, Style, TargetInfo,
    TwinCommands,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the sources that page and engine were built of.
pub const SOURCES: &str = env!("PORTOLAN_SOURCES");

/// A message with its head still typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parcel<T> {
    /// The small part.
    pub head: T,
    /// Texts, as the head says.
    pub texts: Vec<String>,
    /// Halves of a [`Highlight`](python::Highlight): spans, then lines, for each text the head names.
    pub colours: Vec<Vec<u32>>,
}

/// From the page. The worker keeps the files and the last port between questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// Which targets and recipes are there?
    Catalogue,
    /// The project, whole: these paths, with the texts beside.
    Files(Vec<String>),
    /// A file has this text now; the text is beside.
    Text(usize),
    /// Port the project, and show one of its files.
    Port {
        /// What the user chose.
        options: Options,
        /// Which file to show.
        show: usize,
    },
    /// Show another file of the last port.
    Show(usize),
    /// Port the project to one more target, for the matrix of all. One at a time, so that a newer question waits for one
    /// port only.
    Matrix {
        /// What the user chose; a target takes what it has of it.
        options: Options,
        /// Which column; 0 starts the matrix.
        column: usize,
    },
    /// The last matrix with so many rows.
    Rows(usize),
    /// Does another value of one of the target's named options make another port?
    Try {
        /// What the user chose.
        options: Options,
        /// Which option, by its place in the target's list.
        option: usize,
    },
    /// Would the training step be ported under another choice, or without what stops it? One attempt at a time.
    Unblock {
        /// What the user chose.
        options: Options,
        /// Which attempt, from 0.
        attempt: usize,
    },
    /// The last port as one patch. It starts from the texts beside, one a file, or where there are none, from what was
    /// ported.
    Patch,
    /// The last port as the command's JSON.
    Report,
    /// All files of the last port, the unchanged ones too.
    Texts,
    /// The same with the originals and the report, for a twin run.
    TwinFiles,
    /// Is the text beside the result of a twin run?
    Twin,
}

/// From the worker; every question gets one answer, in order. `Ready` comes unasked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The worker has started; its [`SOURCES`].
    Ready(String),
    /// Targets and recipes.
    Catalogue(Catalogue),
    /// The new files are known.
    Taken,
    /// The port, and the file asked for.
    Ported(Box<Outcome>, Box<Shown>),
    /// The file asked for.
    Shown(Box<Shown>),
    /// So many columns of the matrix are there, and so many there will be. With the last comes the table.
    Matrix(usize, usize, Option<Box<Table>>),
    /// Whether it does.
    Tried(bool),
    /// What came of the attempt, and how many there are.
    Unblocked(Option<Box<Unblocked>>, usize),
    /// The text asked for is beside.
    Written,
    /// Paths; the texts are beside.
    Texts(Vec<String>),
    /// Paths; beside are the report, then the original and the port of each.
    TwinFiles(Vec<String>),
    /// What it says; or why it is none, as a sentence without the file's name in front.
    Twin(Result<Box<TwinResult>, String>),
}

/// What the engine can do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// Targets that have recipes.
    pub targets: Vec<TargetInfo>,
    /// What a list of targets calls each, with its vendor, by id.
    pub labels: BTreeMap<String, String>,
    /// All recipes.
    pub recipes: Vec<RecipeInfo>,
}

/// A port without its texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Target id.
    pub target: String,
    /// Style that was used.
    pub style: Style,
    /// One entry a file.
    pub files: Vec<FileOutcome>,
    /// What is left of the source vendor, as `path:line:column text`.
    pub residue: Vec<String>,
    /// What an optimizer step of each program sees and means, before and after.
    pub ledgers: Vec<Ledger>,
    /// The file that is run, where one is.
    pub program: Option<usize>,
    /// What the page that writes launch scripts is told of this port: the fragment of its address, without `#`.
    pub launch: String,
    /// What is typed to have original and port run and compared, where a file is a program.
    pub twin: Option<TwinCommands>,
    /// What was checked.
    pub certificate: Option<Checked>,
    /// What the port begins with when its training step is not in it.
    pub overview: Option<Overview>,
}

/// What was checked of a port, and under what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// SDK version.
    pub sdk: String,
    /// What was checked.
    pub certificate: Certificate,
}

/// What keeps a training step from being ported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The messages that say so.
    pub stops: Vec<Stop>,
    /// Titles of the recipes that changed something.
    pub done: Vec<String>,
    /// What is left besides, with the number of places.
    pub left: Vec<(String, usize)>,
}

/// A message that says what keeps a training step from being ported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Number of the file.
    pub file: usize,
    /// Its path.
    pub path: String,
    /// Line of the ported text, from 1.
    pub line: usize,
    /// Line of the original, from 1.
    pub original: usize,
    /// The message.
    pub message: String,
}

/// What the port would be if less kept the training step from being ported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unblocked {
    /// What makes the difference.
    pub by: Unblocking,
    /// Messages that stop the step all the same.
    pub stops: usize,
    /// The patch of the files that hold the step; without statements that are left out.
    pub patch: String,
}

/// What lets a training step be ported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unblocking {
    /// Another style.
    Style(Style),
    /// Edits that may alter results.
    Unsafe,
    /// Another value of an option.
    Option {
        /// Its name.
        name: String,
        /// What a form calls it.
        label: String,
        /// The value.
        value: String,
    },
    /// Another SDK version.
    Sdk(String),
    /// A target that extends the chosen one: for more of the same machines.
    Target {
        /// Its id.
        id: String,
        /// What people call it.
        name: String,
    },
    /// Code without what stops the step: paths and lines of the original, from 1.
    Without(Vec<(String, usize)>),
}

/// All targets side by side, as far as rows were asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Ids of the targets.
    pub targets: Vec<String>,
    /// For each target, lines that it changes, leaves to a person, can't port.
    pub sums: Vec<[usize; 3]>,
    /// The rows asked for.
    pub rows: Vec<TableRow>,
    /// Rows there are.
    pub total: usize,
}

/// A line of the original that at least one target changes or speaks of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// Number of the file.
    pub file: usize,
    /// Its path.
    pub path: String,
    /// Line of the original, from 1.
    pub line: usize,
    /// The line without its indentation.
    pub text: String,
    /// One cell a target.
    pub cells: Vec<MatrixCell>,
}

/// One file of a port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileOutcome {
    /// Path as given.
    pub path: String,
    /// Whether the text differs.
    pub changed: bool,
    /// Changed places.
    pub hunks: usize,
    /// Recipes, and in how many of the changed places each has a part.
    pub parts: Vec<(String, usize)>,
    /// The edits, without what they write.
    pub edits: Vec<EditNote>,
    /// Messages.
    pub diagnostics: Vec<Diagnostic>,
}

/// What the page needs to know of an edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditNote {
    /// Its id.
    pub id: String,
    /// Its recipe.
    pub recipe: String,
    /// Whether it is safe.
    pub applicability: Applicability,
    /// First byte replaced, in the original.
    pub start: usize,
}

/// One file ready for display. Beside it: the ported text when it differs, and the colours of both texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Which file.
    pub index: usize,
    /// What changed.
    pub diff: FileDiff,
}
