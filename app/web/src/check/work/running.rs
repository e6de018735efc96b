//! What the worker is doing.

use crate::check::protocol::Ask;
use crate::check::state::about::Row;
use web_sys::{File, Worker};

/// The worker and what it is doing.
#[derive(Default)]
pub(in crate::check) struct Running {
    pub(super) worker: Option<Worker>,
    /// As many threads as it was started for.
    pub(super) threads: usize,
    /// It has said that it listens.
    pub(super) ready: bool,
    /// Waits for a worker that listens.
    pub(super) waiting: Option<(Ask, Vec<File>)>,
    /// It has been asked and has not answered, since this moment.
    pub(super) since: Option<f64>,
    /// It holds the run whose statistics are on the page.
    pub(super) has_run: bool,
    /// How often a file was waited for so far; a later time, or a cancel, makes an earlier one void.
    pub(super) preparations: usize,
    /// What the run is of that goes on.
    pub(super) about: Vec<Row>,
}
