//! The destination of a port: stdout, the files themselves, or another folder.

mod in_place;
mod one_at_a_time;
mod saved_patch;
mod tree;

use crate::usage::usage;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
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

/// Refuses the path of a page that can't be written, or is that of something else than an earlier page: long work must not
/// fail at its end, nor replace a program.
pub(crate) fn check_page(option: &str, file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let why = if file.is_dir() {
        "is a folder".to_owned()
    } else if !folder.is_dir() {
        format!("no such folder: {}", folder.display())
    } else if file.is_file() && !is_page(file)? {
        "the file exists and is no report; nothing was written".to_owned()
    } else {
        return Ok(());
    };
    Err(usage(format!("{option} {}: {why}", file.display())).into())
}

/// Whether a file is empty or a web page.
fn is_page(file: &Path) -> Result<bool> {
    const BEGINS: &[u8] = b"<!doctype html";
    let mut begins = Vec::new();
    let opened = File::open(file).with_context(|| file.display().to_string())?;
    opened.take(BEGINS.len() as u64).read_to_end(&mut begins)?;
    Ok(begins.is_empty() || begins.eq_ignore_ascii_case(BEGINS))
}
