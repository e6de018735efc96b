//! The worker's current task.

use crate::check::protocol::Ask;
use crate::check::state::about::About;
use web_sys::{File, Worker};

/// The worker and its current task.
#[derive(Default)]
pub(in crate::check) struct Running {
    pub(super) worker: Option<Worker>,
    /// The number of threads it was started with.
    pub(super) threads: usize,
    /// Whether it has reported that it is ready.
    pub(super) ready: bool,
    /// The request that waits until the worker is ready.
    pub(super) waiting: Option<(Ask, Vec<File>)>,
    /// When the request was sent that has not been answered yet.
    pub(super) since: Option<f64>,
    /// Whether it has the run whose statistics are on the page.
    pub(super) has_run: bool,
    /// The number of times a file was waited for so far; a later wait, or a cancellation, invalidates an earlier one.
    pub(super) preparations: usize,
    /// The description of the current run.
    pub(super) about: About,
    /// Whether the current task is to open a file that was just chosen.
    pub(super) opening: bool,
}
