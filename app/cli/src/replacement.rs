//! One file in the place of another: no reader ever sees half of it, and nothing but its bytes changes.

use std::collections::HashSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the name of a new file begins with, before the number of the process that makes it.
const PREFIX: &str = ".portolan-";

/// A new file beside the one whose place it will take; gone again when it does not come to that.
pub(crate) struct New {
    path: PathBuf,
}

impl New {
    /// An empty file. Its name is short, since that of the other may be as long as names can be.
    pub(crate) fn beside(file: &Path) -> Result<New> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        sweep(file.parent().unwrap_or(Path::new("")));
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = file.with_file_name(format!("{PREFIX}{}-{number}", std::process::id()));
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

/// Removes the new files of runs that were killed, once a folder. Whether a process still runs is known where the system lists
/// them as files.
fn sweep(folder: &Path) {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let is_first = SWEPT.lock().is_ok_and(|mut swept| swept.get_or_insert_default().insert(folder.to_path_buf()));
    if !is_first || !Path::new("/proc/self").exists() {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let ended = numbers.is_some_and(|(process, count)| {
            is_number(process) && is_number(count) && !Path::new("/proc").join(process).exists()
        });
        if ended {
            fs::remove_file(entry.path()).ok();
        }
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
        // The file itself has to stay, so its bytes are replaced. One that is killed while it does so leaves the new file there
        // under a name that no later run removes.
        let bytes = fs::read(&self.new.path)?;
        let whole = New { path: self.new.path.with_extension("whole") };
        self.new.rename(&whole.path)?;
        replace_bytes(&mut OpenOptions::new().write(true).open(&self.file)?, &bytes)
    }
}

/// Writes what reaches beyond the old end first, which alone needs room on the disk: where there is none, the file stays as it was.
fn replace_bytes(file: &mut File, bytes: &[u8]) -> Result<()> {
    let end = file.metadata()?.len();
    let within = bytes.len().min(usize::try_from(end).unwrap_or(usize::MAX));
    file.seek(SeekFrom::Start(end))?;
    if let Err(error) = file.write_all(&bytes[within..]).and_then(|()| file.sync_all()) {
        file.set_len(end)?;
        return Err(error);
    }
    file.rewind()?;
    file.write_all(&bytes[..within])?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
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
