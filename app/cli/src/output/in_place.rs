//! A port that is written over its originals.

use crate::output::print;
use crate::output::saved_patch::{Change, SavedPatch};
use crate::project::{Input, Project};
use crate::replacement::Replacement;
use crate::said::say_line;
use anyhow::Result;
use codemod::Ported;
use std::io::ErrorKind;
use std::path::Path;

/// Writes every changed file back. Each is replaced completely or not at all, and only if it still is what was read; a
/// failure is reported, and the others are still written. All new files are on disk before the first one replaces its
/// original, so that a full disk leaves the project unchanged, and so does an interruption until then. `patch` gets the
/// way back, at every moment: see [`SavedPatch`]. Text from stdin goes to stdout, changed or not. Returns whether all
/// succeeded, and how many files were left as they are.
pub(crate) fn write_back(project: &Project, ported: &Ported, patch: Option<&Path>) -> Result<(bool, usize)> {
    let (mut fine, mut left) = (true, 0);
    let mut failed = |input: &Input, error: std::io::Error| {
        say_line!("portolan: {}: the file can't be written: {error}", input.shown);
        left += 1;
    };
    let (mut changes, mut refused) = (Vec::new(), Vec::new());
    for (input, file) in project.inputs.iter().zip(&ported.files) {
        match (&input.disk, &input.text) {
            (None, Ok(_)) => print(&file.text)?,
            (Some(disk), Ok(old)) if file.changed => {
                match Replacement::prepare(disk, old.as_bytes(), file.text.as_bytes()) {
                    Ok(replacement) => changes.push(Change { input, old, new: &file.text, replacement }),
                    Err(error) => refused.push((input, error)),
                }
            }
            _ => {}
        }
    }
    if refused.iter().any(|(_, error)| is_full(error.kind())) {
        say_line!(
            "portolan: not enough disk space for the ported files, so no file was changed; free some space and retry"
        );
        return Ok((false, changes.len() + refused.len()));
    }
    for (input, error) in refused {
        failed(input, error);
    }
    let saved = patch.map(|patch| SavedPatch::begin(patch, project.root.as_deref(), &changes)).transpose()?;
    let mut written = Vec::new();
    let mut is_torn = false;
    for Change { input, old, new, replacement } in changes {
        match replacement.put() {
            Ok(()) => written.push((input, old, new)),
            Err(unput) => {
                is_torn |= unput.is_torn;
                failed(input, unput.error);
            }
        }
    }
    if let Some(saved) = saved {
        fine = saved.finish(&written, is_torn);
    }
    Ok((fine && left == 0, left))
}

/// Whether a file can't be written for lack of space.
fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}
