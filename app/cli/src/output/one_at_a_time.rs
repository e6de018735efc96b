//! Only one port at a time writes in a folder.

use crate::project::is_stdin;
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The folders that hold the files of these paths, claimed until the value is dropped or the process ends, however it
/// ends: the lock is the system's, on the folder itself, and leaves no file. The folders around it are shared with ports of
/// other folders in them, so that no port of one of them begins. Where folders can't be locked (Windows, some network
/// disks) nothing is claimed; a file that another port has changed is then still noticed when it is replaced.
///
/// The folder that the paths are relative to does not matter: it may be `/`, which would stop everybody's ports.
pub(crate) fn claim(paths: &[PathBuf]) -> Result<Vec<File>> {
    let mut claimed = Vec::new();
    for (folder, is_held) in folders(paths) {
        let Ok(opened) = File::open(&folder) else { continue };
        let lock = if is_held { opened.try_lock() } else { opened.try_lock_shared() };
        match lock {
            Err(TryLockError::WouldBlock) => bail!(
                "another port is writing in {}, or another program has locked it, so nothing was written; try again \
                 when it has finished",
                folder.display()
            ),
            Err(TryLockError::Error(_)) => {}
            Ok(()) => claimed.push(opened),
        }
    }
    Ok(claimed)
}

/// The folders of these paths, and whether they hold files of the port. The others are those around them, each once: a
/// process can stop itself with a second lock.
///
/// They end at the first one with another owner, such as `/home`. Anyone who can read a folder can lock it, for whatever
/// reason, and none of a user's ports would begin then. So two can write at once where
/// a port of everybody's files is started there; neither loses anything by it, since each compares the files that it
/// replaces.
fn folders(paths: &[PathBuf]) -> BTreeMap<PathBuf, bool> {
    let mut folders = BTreeMap::new();
    let whole = paths.iter().filter(|path| !is_stdin(path)).filter_map(|path| fs::canonicalize(path).ok());
    let holding = whole.filter_map(|path| if path.is_dir() { Some(path) } else { Some(path.parent()?.to_path_buf()) });
    for held in holding {
        let owner = owner_of(&held);
        for around in held.ancestors().skip(1).take_while(|around| owner_of(around) == owner) {
            folders.entry(around.to_path_buf()).or_insert(false);
        }
        folders.insert(held, true);
    }
    folders
}

#[cfg(unix)]
fn owner_of(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(folder).ok().map(|about| about.uid())
}

#[cfg(not(unix))]
fn owner_of(_: &Path) -> Option<u32> {
    None
}
