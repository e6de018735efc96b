//! Overwrites a file that has to stay the same file: one with several names, or with attributes that no new file can get.

use crate::replacement::new::{New, PREFIX};
use std::fs::{self, File, Metadata};
use std::io::{Error, Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Gives the file the bytes of `new`. If the process is killed meanwhile, `new` remains under a name that no later run
/// removes, and that the next one searches for. Also returns whether the file may be half written if that fails.
///
/// `old` is compared with what is in the file immediately before the first byte is written. What somebody writes into
/// it between the two is lost: no system writes only into a file that has not changed.
pub(super) fn overwrite(
    file: &mut File,
    path: &Path,
    old: &[u8],
    new: New,
) -> std::result::Result<bool, (Error, bool)> {
    let whole_of = |error| (error, false);
    let bytes = fs::read(&new.path).map_err(whole_of)?;
    let whole = New { path: whole_beside(path, &file.metadata().map_err(whole_of)?) };
    new.rename(&whole.path).map_err(whole_of)?;
    let end = lengthen(file, old, &bytes).map_err(whole_of)?;
    let Some(end) = end else { return Ok(false) };
    unless_it_fails(whole, || write(file, &bytes[..end], bytes.len() as u64)).map_err(|error| (error, true))?;
    Ok(true)
}

/// Removes the copy of the whole text once the file has it. Otherwise the file may be incomplete, and the error names
/// the copy.
fn unless_it_fails(whole: New, write: impl FnOnce() -> Result<()>) -> Result<()> {
    let Err(error) = write() else { return Ok(()) };
    let message = format!("{error}; it may be half written, and its whole new text is in {}", whole.keep().display());
    Err(Error::new(error.kind(), message))
}

/// Writes the part beyond the old end first, the only one that needs space on the disk: if there is none, the file is
/// unchanged. Returns where that part ends, and nothing if the file is not the old one any more, which then stays.
fn lengthen(file: &mut File, old: &[u8], bytes: &[u8]) -> Result<Option<usize>> {
    let mut now = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut now)?;
    if now != old {
        return Ok(None);
    }
    let end = old.len() as u64;
    let within = bytes.len().min(old.len());
    file.seek(SeekFrom::Start(end))?;
    if let Err(error) = file.write_all(&bytes[within..]).and_then(|()| file.sync_all()) {
        file.set_len(end)?;
        return Err(error);
    }
    Ok(Some(within))
}

fn write(file: &mut File, bytes: &[u8], length: u64) -> Result<()> {
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(length)?;
    file.sync_all()
}

/// The whole new text of a file whose bytes were being overwritten when a run was killed: the file may be incomplete.
pub(crate) fn left_whole(file: &Path, about: &Metadata) -> Option<PathBuf> {
    let file = fs::canonicalize(file).ok()?;
    Some(whole_beside(&file, about)).filter(|whole| whole.exists())
}

/// The path of a file's new text while its bytes are being overwritten: named by the system's number for the file,
/// since its own name may have the maximum length.
#[cfg(unix)]
fn whole_beside(file: &Path, about: &Metadata) -> PathBuf {
    use std::os::unix::fs::MetadataExt;
    file.with_file_name(format!("{PREFIX}{}.whole", about.ino()))
}

#[cfg(not(unix))]
fn whole_beside(file: &Path, _: &Metadata) -> PathBuf {
    file.with_extension("whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_text_stays_until_the_file_has_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".portolan-1.whole");
        let whole = || {
            fs::write(&path, "whole").unwrap();
            New { path: path.clone() }
        };
        unless_it_fails(whole(), || Ok(())).unwrap();
        assert!(!path.exists());
        let error = unless_it_fails(whole(), || Err(Error::other("the disk is gone"))).unwrap_err();
        assert!(error.to_string().contains("the disk is gone") && error.to_string().contains(".portolan-1.whole"));
        assert_eq!(fs::read(&path).unwrap(), b"whole");
    }

    #[test]
    fn what_was_written_just_before_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.py");
        let put = |old: &[u8]| {
            let new = New::beside(&path).unwrap().fill(|new| fs::write(new, "new")).unwrap();
            let mut file = File::options().read(true).write(true).open(&path).unwrap();
            overwrite(&mut file, &path, old, new).unwrap()
        };
        fs::write(&path, "old, and mine").unwrap();
        assert!(!put(b"old"));
        assert_eq!(fs::read(&path).unwrap(), b"old, and mine");
        assert!(put(b"old, and mine"));
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
