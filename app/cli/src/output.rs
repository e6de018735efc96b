//! The destination of a port: stdout, the files themselves, or another folder.

mod in_place;
mod one_at_a_time;
mod saved_patch;
mod tree;

use crate::usage::usage;
use anyhow::{Context, Result};
use std::io::{ErrorKind, Write};
use std::path::Path;

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

/// Refuses a file that can't be written: long work must not fail at its end.
pub(crate) fn check_writable(option: &str, file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (file.is_dir(), folder.is_dir()) {
        (true, _) => Err(usage(format!("{option} {}: is a folder", file.display())).into()),
        (_, false) => Err(usage(format!("{option} {}: no such folder: {}", file.display(), folder.display())).into()),
        _ => Ok(()),
    }
}
