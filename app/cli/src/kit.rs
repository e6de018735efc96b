//! The twin run kit embedded in the command.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Paths with `/`, and contents.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/kit.rs"));

/// Its program.
pub(crate) const PROGRAM: &str = "rehearse.py";

/// Writes the kit into a folder.
pub(crate) fn write(folder: &Path) -> Result<()> {
    for (path, bytes) in FILES {
        let file = folder.join(path);
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("{} can't be created", parent.display()))?;
        fs::write(&file, bytes).with_context(|| format!("{} can't be written", file.display()))?;
    }
    Ok(())
}
