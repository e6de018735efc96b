//! One file in the place of another: no reader ever sees half of it, and nothing but its bytes changes.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new file beside the one whose place it will take; gone again when it does not come to that.
pub(crate) struct New {
    path: PathBuf,
}

impl New {
    /// An empty file. Its name is short, since that of the other may be as long as names can be.
    pub(crate) fn beside(file: &Path) -> Result<New> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = file.with_file_name(format!(".portolan-{}-{number}", std::process::id()));
        File::create_new(&path)?;
        Ok(New { path })
    }

    /// The same with what `write` puts into it, on the disk.
    pub(crate) fn fill(self, write: impl FnOnce(&Path) -> Result<()>) -> Result<New> {
        write(&self.path)?;
        File::open(&self.path)?.sync_all()?;
        Ok(self)
    }

    /// Takes the place of a file.
    pub(crate) fn rename(self, file: &Path) -> Result<()> {
        fs::rename(&self.path, file)
    }
}

impl Drop for New {
    fn drop(&mut self) {
        // After a renaming there is nothing left to remove.
        fs::remove_file(&self.path).ok();
    }
}

/// A file's new contents, on the disk and ready to take its place.
pub(crate) struct Replacement {
    file: PathBuf,
    new: New,
    /// Whether the file has other names, which have to go on meaning the same file.
    is_shared: bool,
}

impl Replacement {
    /// Writes the contents beside the file, with its permissions and its owner. A read-only file is left alone.
    pub(crate) fn prepare(file: &Path, bytes: &[u8]) -> Result<Replacement> {
        let file = fs::canonicalize(file)?;
        let about = fs::metadata(&file)?;
        if about.permissions().readonly() {
            return Err(Error::new(ErrorKind::PermissionDenied, "it is read-only"));
        }
        let new = New::beside(&file)?.fill(|path| fs::write(path, bytes))?;
        fs::set_permissions(&new.path, about.permissions())?;
        let is_shared = has_other_names(&about) || !keep_owner(&new.path, &about);
        Ok(Replacement { file, new, is_shared })
    }

    /// Puts them into the file's place.
    pub(crate) fn put(self) -> Result<()> {
        if !self.is_shared {
            return self.new.rename(&self.file);
        }
        // The file itself has to stay: its bytes are replaced, and room for them on the disk is known to be there.
        let bytes = fs::read(&self.new.path)?;
        let mut file = OpenOptions::new().write(true).truncate(true).open(&self.file)?;
        file.write_all(&bytes)?;
        file.sync_all()
    }
}

#[cfg(unix)]
fn has_other_names(about: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

/// Gives a file the owner and the group of another. Says whether it has them.
#[cfg(unix)]
fn keep_owner(file: &Path, about: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, chown};
    let is = |now: &Metadata| (now.uid(), now.gid()) == (about.uid(), about.gid());
    fs::metadata(file).is_ok_and(|now| is(&now)) || chown(file, Some(about.uid()), Some(about.gid())).is_ok()
}

#[cfg(not(unix))]
fn keep_owner(_: &Path, _: &Metadata) -> bool {
    true
}
