//! Replaces a file: readers never see a partial file, and its permissions and its owner stay.

use std::collections::HashSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, SystemTime};

/// The prefix of a new file's name, before the system and number of its process.
const PREFIX: &str = ".portolan-";

/// A new file next to the one that it will replace; deleted if that does not happen.
pub(crate) struct New {
    path: PathBuf,
}

impl New {
    /// An empty file. Its name is short, since that of the other may have the maximum length.
    pub(crate) fn beside(file: &Path) -> Result<New> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        sweep(file.parent().unwrap_or(Path::new("")));
        let (place, process) = (&*PLACE, std::process::id());
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = file.with_file_name(format!("{PREFIX}{place}-{process}-{number}"));
            match File::create_new(&path) {
                Ok(_) => return Ok(New { path }),
                // A killed run had the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The same with the contents written by `write`, synced to disk.
    pub(crate) fn fill(self, write: impl FnOnce(&Path) -> Result<()>) -> Result<New> {
        write(&self.path)?;
        File::open(&self.path)?.sync_all()?;
        Ok(self)
    }

    /// A link, ready to replace what is there.
    pub(crate) fn link_beside(file: &Path, to: &Path) -> Result<New> {
        let new = New::beside(file)?;
        fs::remove_file(&new.path)?;
        link(to, &new.path)?;
        Ok(new)
    }

    /// Becomes a file that does not exist yet, otherwise [`ErrorKind::AlreadyExists`].
    pub(crate) fn place(self, file: &Path) -> Result<()> {
        match fs::hard_link(&self.path, file) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists && file.symlink_metadata().is_err() => {
                // The disk knows no second names.
                self.rename(file)
            }
            linked => linked,
        }
    }

    /// Replaces a file.
    pub(crate) fn rename(self, file: &Path) -> Result<()> {
        fs::rename(&self.path, file)
    }

    /// Keeps the file.
    fn keep(self) -> PathBuf {
        let path = self.path.clone();
        std::mem::forget(self);
        path
    }
}

/// Identifies the system in which process numbers are valid: its boot, and its container. Zero if the system does not
/// list processes as files.
static PLACE: LazyLock<String> = LazyLock::new(|| {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let place = fs::read_link("/proc/self/ns/pid").map(|container| format!("{boot}{}", container.display()));
    let mixed = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    place.map_or("0".to_owned(), |place| format!("{:x}", place.bytes().fold(0x811c_9dc5, mixed)))
});

/// No run writes for that long.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the new files of killed runs, once per folder: those of processes that no longer exist, and, if nothing is
/// known about the process, those from an earlier day.
fn sweep(folder: &Path) {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let is_first = SWEPT.lock().is_ok_and(|mut swept| swept.get_or_insert_default().insert(folder.to_path_buf()));
    let entries = is_first.then(|| fs::read_dir(folder)).into_iter().flatten().flatten().flatten();
    for entry in entries.filter(|entry| is_left_behind(&entry.path(), &PLACE)) {
        fs::remove_file(entry.path()).ok();
    }
}

fn is_left_behind(file: &Path, place: &str) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()?.strip_prefix(PREFIX));
    let parts: Vec<&str> = name.unwrap_or_default().split('-').collect();
    let [its_place, process, count] = parts[..] else { return false };
    let is_number = |text: &str, radix: u32| !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    if !(is_number(its_place, 16) && is_number(process, 10) && is_number(count, 10)) {
        return false;
    }
    if its_place == place && place != "0" {
        return !Path::new("/proc").join(process).exists();
    }
    let age = fs::metadata(file).and_then(|about| about.modified()).map(|then| SystemTime::now().duration_since(then));
    age.is_ok_and(|age| age.is_ok_and(|age| age > ABANDONED))
}

impl Drop for New {
    fn drop(&mut self) {
        // After renaming there is nothing left to remove.
        fs::remove_file(&self.path).ok();
    }
}

/// A file's new contents, on disk and ready to replace it.
pub(crate) struct Replacement<'a> {
    file: PathBuf,
    old: &'a [u8],
    new: New,
    /// Whether the file has other names, which must continue to refer to the same file.
    is_shared: bool,
    is_executable: bool,
}

/// A file that was not replaced.
pub(crate) struct NotReplaced {
    pub(crate) error: Error,
    /// Whether it may be half written.
    pub(crate) is_torn: bool,
}

impl From<Error> for NotReplaced {
    fn from(error: Error) -> NotReplaced {
        NotReplaced { error, is_torn: false }
    }
}

impl Replacement<'_> {
    /// Writes the contents next to the file, with its permissions and its owner. A read-only file is not changed. `old`
    /// is what the new contents were made from.
    pub(crate) fn prepare<'a>(file: &Path, old: &'a [u8], bytes: &[u8]) -> Result<Replacement<'a>> {
        let file = fs::canonicalize(file)?;
        let about = fs::metadata(&file)?;
        if about.permissions().readonly() {
            return Err(Error::new(ErrorKind::PermissionDenied, "it is read-only"));
        }
        let new = New::beside(&file)?.fill(|path| fs::write(path, bytes))?;
        fs::set_permissions(&new.path, about.permissions())?;
        let is_shared = has_other_names(&about) || !keep_owner(&new.path, &about);
        Ok(Replacement { file, old, new, is_shared, is_executable: is_executable(&about) })
    }

    /// Whether its owner may run the file.
    pub(crate) fn is_executable(&self) -> bool {
        self.is_executable
    }

    /// Replaces the file, if nobody has changed it since it was read, or put something else in the place of its folder.
    pub(crate) fn put(self) -> std::result::Result<(), NotReplaced> {
        let about = self.file.symlink_metadata()?;
        let is_there = about.is_file() && fs::canonicalize(&self.file)? == self.file;
        let now = if is_there { fs::read(&self.file)? } else { Vec::new() };
        if is_there && now != self.old && has_other_names(&about) && now == fs::read(&self.new.path)? {
            // Under another of its names it has been replaced already.
            return Ok(());
        }
        if !is_there || now != self.old || about.permissions().readonly() {
            return Err(
                Error::other("it was changed while the port was made, and is left as it is; port it again").into()
            );
        }
        if !self.is_shared {
            fs::set_permissions(&self.new.path, about.permissions())?;
            return Ok(self.new.rename(&self.file)?);
        }
        // The file itself has to be kept, so its bytes are overwritten. If the process is killed meanwhile, the new
        // file remains under a name that no later run removes, and that the next one searches for.
        let bytes = fs::read(&self.new.path)?;
        let mut file = OpenOptions::new().write(true).open(&self.file)?;
        let whole = New { path: whole_beside(&self.file, &file.metadata()?) };
        self.new.rename(&whole.path)?;
        let end = lengthen(&mut file, &bytes)?;
        unless_it_fails(whole, || overwrite(&mut file, &bytes[..end], bytes.len() as u64))
            .map_err(|error| NotReplaced { error, is_torn: true })
    }
}

/// Removes the copy of the whole text once the file has it. Otherwise the file may be incomplete, and the error names
/// the copy.
fn unless_it_fails(whole: New, write: impl FnOnce() -> Result<()>) -> Result<()> {
    let Err(error) = write() else { return Ok(()) };
    let message = format!("{error}; it may be half written, and its whole new text is in {}", whole.keep().display());
    Err(Error::new(error.kind(), message))
}

/// Writes the part beyond the old end first, the only one that needs space on the disk: if there is none, the file is
/// unchanged. Returns where that part ends.
fn lengthen(file: &mut File, bytes: &[u8]) -> Result<usize> {
    let end = file.metadata()?.len();
    let within = bytes.len().min(usize::try_from(end).unwrap_or(usize::MAX));
    file.seek(SeekFrom::Start(end))?;
    if let Err(error) = file.write_all(&bytes[within..]).and_then(|()| file.sync_all()) {
        file.set_len(end)?;
        return Err(error);
    }
    Ok(within)
}

fn overwrite(file: &mut File, bytes: &[u8], length: u64) -> Result<()> {
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

#[cfg(unix)]
fn has_other_names(about: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn link(to: &Path, from: &Path) -> Result<()> {
    std::os::unix::fs::symlink(to, from)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn is_executable(about: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    about.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

/// Sets the owner and the group of a file to those of another. Returns whether it has them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_run_left_behind_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let check = |name: &str, hours: u64, place: &str, expected: bool| {
            let path = home.path().join(name);
            let file = File::create(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(hours * 60 * 60)).unwrap();
            assert_eq!(is_left_behind(&path, place), expected, "{name}, {hours} hours, seen from {place}");
        };
        let (own, ended) = (std::process::id(), u32::MAX);
        if Path::new("/proc/self").exists() {
            check(&format!("{PREFIX}c0ffee-{own}-0"), 48, "c0ffee", false);
            check(&format!("{PREFIX}c0ffee-{ended}-0"), 0, "c0ffee", true);
        }
        // In another container the same number is another process.
        check(&format!("{PREFIX}decade-{ended}-0"), 0, "c0ffee", false);
        check(&format!("{PREFIX}decade-{own}-0"), 48, "c0ffee", true);
        // If processes can't be queried, the day decides.
        check(&format!("{PREFIX}0-{ended}-7"), 0, "0", false);
        check(&format!("{PREFIX}0-{ended}-7"), 48, "0", true);
        for name in ["-1.whole", "notes", "c0ffee-1", "c0ffee-1-x", "c0ffee--1", "c0ffee-1-2-3"] {
            check(&format!("{PREFIX}{name}"), 48, "c0ffee", false);
        }
    }

    #[test]
    fn a_new_file_takes_no_name_that_is_taken() {
        let home = tempfile::tempdir().unwrap();
        let first = New::beside(&home.path().join("a.py")).unwrap();
        let number: u32 = first.path.to_str().unwrap().rsplit('-').next().unwrap().parse().unwrap();
        for next in number + 1..number + 4 {
            let name = format!("{PREFIX}{}-{}-{next}", *PLACE, std::process::id());
            fs::write(home.path().join(name), "taken").unwrap();
        }
        let second = New::beside(&home.path().join("a.py")).unwrap();
        assert_eq!(fs::read(&second.path).unwrap(), b"");
    }

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
}
