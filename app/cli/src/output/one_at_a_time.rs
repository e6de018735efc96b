//! Only one port at a time writes in a folder.

use crate::project::root_of;
use anyhow::{Result, bail};
use std::fs::{File, TryLockError};
use std::path::PathBuf;

/// The folder of these paths, claimed until the value is dropped or the process ends, however it ends: the lock is the
/// system's, on the folder itself, and leaves no file. Where folders can't be locked (Windows, some network disks)
/// nothing is claimed; a file that another port has changed is then still noticed before it is replaced.
pub(crate) fn claim(paths: &[PathBuf]) -> Result<Option<File>> {
    let Some(root) = root_of(paths)? else { return Ok(None) };
    let Ok(folder) = File::open(&root) else { return Ok(None) };
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => {
            bail!(
                "another port is being written in {}; nothing was written: run this one again after it",
                root.display()
            )
        }
        Err(TryLockError::Error(_)) => Ok(None),
        Ok(()) => Ok(Some(folder)),
    }
}
