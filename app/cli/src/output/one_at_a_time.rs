//! Only one port at a time writes in a folder.

use crate::project::root_of;
use anyhow::{Result, bail};
use std::fs::{File, TryLockError};
use std::path::PathBuf;

/// The folder of these paths, claimed until the value is dropped or the process ends, however it ends: the lock is the
/// system's, on the folder itself, and leaves no file. The folders around it are shared with ports of other folders in them, so
/// that no port of one of them begins. Where folders can't be locked (Windows, some network disks) nothing is claimed; a
/// file that another port has changed is then still noticed before it is replaced.
pub(crate) fn claim(paths: &[PathBuf]) -> Result<Vec<File>> {
    let Some(root) = root_of(paths)? else { return Ok(Vec::new()) };
    let mut claimed = Vec::new();
    for (depth, folder) in root.ancestors().enumerate() {
        let Ok(opened) = File::open(folder) else { continue };
        let lock = if depth == 0 { opened.try_lock() } else { opened.try_lock_shared() };
        match lock {
            Err(TryLockError::WouldBlock) => bail!(
                "another port is writing in {}, so nothing was written; try again when it has finished",
                folder.display()
            ),
            Err(TryLockError::Error(_)) => {}
            Ok(()) => claimed.push(opened),
        }
    }
    Ok(claimed)
}
