//! The messages between the page and its worker.
//!
//! A message is a small head, accompanied by the large data: texts as strings, colours as numbers. A long file is
//! therefore copied, never quoted and parsed again.

use crate::port::twin_result::TwinResult;
use codemod::{
    Applicability, Certificate, Diagnostic, Explanation, FileDiff, Ledger, MatrixCell, Options, RecipeInfo,
    RemovedComment, Style, TargetInfo, TwinCommands,
};
use serde::{Deserialize, Serialize};
use sorting::SortedMap;

/// A hash of the sources from which page and engine were built.
pub const SOURCES: &str = env!("PORTOLAN_SOURCES");

/// A message with a typed head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parcel<T> {
    /// The small part.
    pub head: T,
    /// Texts, as described by the head.
    pub texts: Vec<String>,
    /// Parts of a [`Highlight`](python::Highlight): spans, then lines, for each text that the head names.
    pub colours: Vec<Vec<u32>>,
}

/// From the page. The worker keeps the files and the last port between requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// Ports with the recipes of the built-in guides and of these, by path, whose texts are attached; returns the targets
    /// and recipes.
    Catalogue(Vec<String>),
    /// Sends the whole project: these paths, each with whether it is a notebook. Their texts are attached, then the
    /// notebooks' files as they were opened.
    Files(Vec<(String, bool)>),
    /// Sends a file's new text, which is attached.
    Text(usize),
    /// Ports the project, and shows one of its files.
    Port {
        /// The user's choices.
        options: Options,
        /// The file to show.
        show: usize,
    },
    /// Shows another file of the last port.
    Show(usize),
    /// Ports the project to one more target, for the table of all targets. One at a time, so that a newer request waits
    /// for only one port.
    Matrix {
        /// The user's choices; a target uses those that it has.
        options: Options,
        /// The column; 0 starts the table.
        column: usize,
    },
    /// Returns the last table with this many rows.
    Rows(usize),
    /// Tests whether another value of one of the target's named options changes the port.
    Try {
        /// The user's choices.
        options: Options,
        /// The option, by its position in the target's list.
        option: usize,
    },
    /// Tests whether the training step would be ported with other choices, or without what prevents it. One attempt at
    /// a time.
    Unblock {
        /// The user's choices.
        options: Options,
        /// The attempt, counted from 0.
        attempt: usize,
    },
    /// Returns the last port as one patch. It is based on the attached texts, one per file, or if there are none, on
    /// what was ported.
    Patch,
    /// Returns the last port as the command's JSON.
    Report,
    /// Returns all files of the last port, including unchanged ones.
    Texts,
    /// Returns one of them.
    TextOf(usize),
    /// The same with the originals and the report, for a twin run.
    TwinFiles,
    /// Parses the attached text as the result of a twin run.
    Twin,
    /// Finds what the guides say about the attached log, and the last port's lines in its traceback.
    Explain(Options),
}

/// From the worker; every request gets one answer, in order. `Ready` is sent without a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The worker has started; its [`SOURCES`].
    Ready(String),
    /// Targets and recipes.
    Catalogue(Catalogue),
    /// The new files have been received.
    Taken,
    /// The port, and the requested file.
    Ported(Box<Outcome>, Box<Shown>),
    /// The requested file.
    Shown(Box<Shown>),
    /// The number of columns that are complete, and their total. The table comes with the last one.
    Matrix(usize, usize, Option<Box<Table>>),
    /// Whether it does.
    Tried(bool),
    /// The result of the attempt, and the number of attempts.
    Unblocked(Option<Box<Unblocked>>, usize),
    /// The requested text is attached.
    Written,
    /// Paths; the texts are attached.
    Texts(Vec<String>),
    /// Paths; the report is attached, followed by the original and the port of each file.
    TwinFiles(Vec<String>),
    /// The result, or a sentence that says why it is not one, without the file's name at the beginning.
    Twin(Result<Box<TwinResult>, String>),
    /// What is known about the log.
    Explained(Box<Explanation>),
}

/// The engine's targets and recipes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// Targets that have recipes.
    pub targets: Vec<TargetInfo>,
    /// The label of each target in lists, with its vendor, by id.
    pub labels: SortedMap<String, String>,
    /// All recipes.
    pub recipes: Vec<RecipeInfo>,
    /// What each of the user's guides adds, in words.
    pub added: Vec<String>,
    /// Why the user's guides are not used, with their lines; then these are the built-in recipes.
    pub faults: Vec<String>,
}

/// A port without its texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Target id.
    pub target: String,
    /// Style that was used.
    pub style: Style,
    /// One entry per file of the project.
    pub files: Vec<FileOutcome>,
    /// The paths of the files that the port adds.
    pub new_files: Vec<String>,
    /// Remaining code of the source vendor, as `path:line:column text`.
    pub residue: Vec<String>,
    /// What an optimizer step of each program processes, before and after.
    pub ledgers: Vec<Ledger>,
    /// The main program, if there is one.
    pub program: Option<usize>,
    /// The data that the page for launch scripts gets from this port: the fragment of its address, without `#`.
    pub launch: String,
    /// The commands for a twin run, if a file is a program.
    pub twin: Option<TwinCommands>,
    /// The checks.
    pub certificate: Option<Checked>,
    /// Shown first if the training step is not ported.
    pub overview: Option<Overview>,
}

/// The checks of a port, and their SDK version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// SDK version.
    pub sdk: String,
    /// The checks.
    pub certificate: Certificate,
}

/// What prevents a training step from being ported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The messages that say so.
    pub stops: Vec<Stop>,
    /// Titles of the recipes that changed something.
    pub done: Vec<String>,
    /// Other messages, with the number of locations.
    pub left: Vec<(String, usize)>,
}

/// A message that says what prevents a training step from being ported.
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

/// The port that would result if less prevented the training step from being ported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unblocked {
    /// The change that makes the difference.
    pub by: Unblocking,
    /// The number of messages that still prevent it.
    pub stops: usize,
    /// The patch of the files that contain the step; it does not include the removed statements.
    pub patch: String,
}

/// A change that lets a training step be ported.
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
        /// Its label in forms.
        label: String,
        /// The value.
        value: String,
    },
    /// Another SDK version.
    Sdk(String),
    /// A target that extends the selected one: for more machines of the same kind.
    Target {
        /// Its id.
        id: String,
        /// Its display name.
        name: String,
    },
    /// Removing the code that prevents the step: paths and lines of the original, counted from 1.
    Without(Vec<(String, usize)>),
}

/// All targets side by side, with the requested rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Ids of the targets.
    pub targets: Vec<String>,
    /// For each target, the number of places that it changes, leaves to the user, and can't port.
    pub sums: Vec<[usize; 3]>,
    /// The requested rows.
    pub rows: Vec<TableRow>,
    /// The total number of rows.
    pub total: usize,
}

/// A line of the original that at least one target changes or has a message about.
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
    /// One cell per target.
    pub cells: Vec<MatrixCell>,
}

/// One file of a port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileOutcome {
    /// Path as given.
    pub path: String,
    /// The number of changes.
    pub changed: bool,
    /// Changed places.
    pub hunks: usize,
    /// Recipes, with the number of changes to which each contributed.
    pub parts: Vec<(String, usize)>,
    /// The edits, without the text they insert.
    pub edits: Vec<EditNote>,
    /// Messages.
    pub diagnostics: Vec<Diagnostic>,
}

/// The part of an edit that the page needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditNote {
    /// Its id.
    pub id: String,
    /// Its recipe.
    pub recipe: String,
    /// Its applicability.
    pub applicability: Applicability,
    /// The first byte that it replaces in the original.
    pub start: usize,
    /// Comments that it removed.
    pub comments_removed: Vec<RemovedComment>,
}

/// One file ready for display. Attached: the ported text if it differs, and the colours of both texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Which file.
    pub index: usize,
    /// What changed.
    pub diff: FileDiff,
}
