//! The last success of each step, in `target/passed/`: the key of its inputs, its seconds and the hash of what it made.

use super::inputs::{self, Key};
use super::steps::Step;
use crate::workspace;
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

fn file(step: &Step) -> PathBuf {
    workspace::target().join("passed").join(step.name)
}

/// The hash of what a step made; empty if it makes nothing.
fn made(step: &Step) -> Option<String> {
    match step.makes {
        Some(folder) => inputs::hash_folder(&workspace::root().join(folder)).ok()?,
        None => Some(String::new()),
    }
}

/// The seconds of the step's last success, if its inputs had this key and what it made is still there.
pub(super) fn find(step: &Step, key: &Key) -> Option<f64> {
    let text = fs::read_to_string(file(step)).ok()?;
    let mut lines = text.lines();
    let (kept, seconds, there) = (lines.next()?, lines.next()?.parse().ok()?, lines.next().unwrap_or_default());
    let valid = kept == key && made(step)? == there;
    valid.then_some(seconds)
}

/// Records a success.
pub(super) fn keep(step: &Step, key: &Key, seconds: f64) -> Result<()> {
    let file = file(step);
    fs::create_dir_all(file.with_file_name("")).context("cannot create target/passed")?;
    let made = made(step).context("what it made is gone")?;
    fs::write(&file, format!("{key}\n{seconds:.1}\n{made}\n"))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// Removes a success before the step runs again: an interrupted run has none.
pub(super) fn forget(step: &Step) -> Result<()> {
    let file = file(step);
    match fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}
