//! The destination of a port: stdout, the files themselves, or another folder.

mod in_place;
mod one_at_a_time;
mod saved_patch;
mod tree;

use anyhow::{Context, Result};
use std::io::{ErrorKind, Write};

pub(crate) use in_place::write_back;
pub(crate) use one_at_a_time::claim;
pub(crate) use saved_patch::check_is_new;
pub(crate) use tree::write_tree;

/// Prints to stdout. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("can't write to stdout"),
        _ => Ok(()),
    }
}
