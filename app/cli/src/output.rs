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

pub(crate) use in_place::{WrittenBack, write_back};
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

/// What a file may replace.
#[derive(Clone, Copy)]
pub(crate) enum Written {
    /// A web page.
    Page,
    /// Tensors, as safetensors.
    Tensors,
}

impl Written {
    /// What such a file is called.
    fn name(self) -> &'static str {
        match self {
            Self::Page => "report",
            Self::Tensors => "safetensors file",
        }
    }

    /// Whether a file of this size begins like one.
    fn begins(self, start: &[u8], size: u64) -> bool {
        match self {
            Self::Page => start.eq_ignore_ascii_case(PAGE),
            // The size of the header, and its first brace.
            Self::Tensors => start.split_first_chunk().is_some_and(|(header, rest)| {
                rest.first() == Some(&b'{') && u64::from_le_bytes(*header) <= size.saturating_sub(8)
            }),
        }
    }
}

const PAGE: &[u8] = b"<!doctype html";

/// Refuses the path of a file that can't be written, or is that of something else than an earlier one of its kind: long
/// work must not fail at its end, nor replace a program.
pub(crate) fn check_out(option: &str, file: &Path, written: Written) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let why = if file.is_dir() {
        "is a folder".to_owned()
    } else if !folder.is_dir() {
        format!("no such folder: {}", folder.display())
    } else if file.symlink_metadata().is_ok_and(|there| !there.is_file()) {
        // A new file would take the place of the link, or of the device.
        "is a link or a device, not a file; nothing was written".to_owned()
    } else if file.is_file() && !may_be_replaced(file, written)? {
        format!("the file exists and is no {}; nothing was written", written.name())
    } else {
        return Ok(());
    };
    Err(usage(format!("{option} {}: {why}", file.display())).into())
}

/// Whether a file is empty or of that kind.
fn may_be_replaced(file: &Path, written: Written) -> Result<bool> {
    let mut start = Vec::new();
    let opened = File::open(file).with_context(|| file.display().to_string())?;
    let size = opened.metadata()?.len();
    opened.take(PAGE.len() as u64).read_to_end(&mut start)?;
    Ok(start.is_empty() || written.begins(&start, size))
}
