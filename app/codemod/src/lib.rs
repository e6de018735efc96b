//! The porting engine: Python source in, edits out, each with its recipe.
//!
//! The main function is [`port`]. It is pure: files, a [`RecipeSet`] and [`Options`] in, [`Ported`] out, with the same
//! bytes in the browser and in the command.
//!
//! A port is done in rounds. Each round reads the files into [facts](facts) (names, roles, steps, compute modes),
//! collects the edits of every rule ([patches](patch) matched by [matching], or a handler of [handlers]), resolves
//! overlaps, puts the changes under the project's own test if the style requires it ([lift]), and writes them into a
//! [rope] that records the origin of every byte. When a round changes nothing, the port is done.
//!
//! Rules are not here: they are sections of the guides in `guides/`, compiled by [`RecipeSet`]. The crate does no IO
//! and knows neither the browser nor Markdown.

#[cfg(test)]
#[macro_use]
extern crate pretty_assertions;

mod api_names;
mod check;
mod condition;
mod configured;
mod definitions;
mod diff;
mod digest;
mod error;
mod example;
mod explain;
mod fix;
mod guards;
mod handlers;
mod ledger;
mod lift;
mod machines_device;
mod matching;
mod matrix;
mod messages;
mod overview;
mod patch;
mod patch_file;
mod place;
mod port;
mod ported;
mod ranges;
mod reached;
mod recipe;
mod report;
mod residue;
mod rewrite;
mod rope;
mod series;
mod settings;
mod step_parts;
mod template;
mod totals;
mod unread;

pub use guide::OptionKind;

pub use api_names::{ApiNames, ApiResult, api_names, names_matched};
pub use check::{CheckFailure, check_guide};
pub use configured::is_configuration;
pub use diff::{FileDiff, Hunk, Pair, Row, diff_texts};
pub use error::RecipeError;
pub use example::{Example, pack_examples};
pub use explain::{
    Candidate, Changed, Explanation, Frame, LeftOnHost, Message, Operation, PortedProject, Side, check_samples,
    explain, left_on_host,
};
pub use ledger::{Figure, Ledger, LedgerEntry, ledgers};
pub use matrix::{Matrix, MatrixCell, MatrixRow};
pub use overview::{Overview, overview, unported};
pub use patch_file::{git_patch_from_any, git_patch_from_aside, git_patch_of, git_patch_of_new};
pub use port::{Views, keep_existing, port, port_with_views};
pub use ported::{
    Applicability, Certificate, Diagnostic, Edit, FileHashes, Options, Ported, PortedFile, RemovedComment, Severity,
    SourceFile, Span, Style,
};
pub use recipe::{RecipeInfo, RecipeSet, TargetInfo, TargetOption, embedded_guides};
pub use report::{TwinCommands, report_json};
pub use series::{SeriesStep, series};
pub use totals::{CellState, KindTotal, Places, Totals};
