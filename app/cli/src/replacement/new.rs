//! New files, complete before they get the name of another.

use crate::replacement::folder::Folder;
use crate::said::say_line;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::Hasher;
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, SystemTime};

/// The prefix of a new file's name, before the system and number of its process.
pub(super) const PREFIX: &str = ".portolan-";

/// A new file next to the one that it will replace; deleted if that does not happen.
pub(crate) struct New {
    pub(super) path: PathBuf,
}

impl New {
    /// An empty file. Its name is short, since that of the other may have the maximum length.
    pub(crate) fn beside(file: &Path) -> Result<New> {
        New::create(file, File::options().write(true))
    }

    /// The same for a text that only its owner may read until it has the permissions of another.
    pub(crate) fn private_beside(file: &Path) -> Result<New> {
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        New::create(file, options.write(true))
    }

    fn create(file: &Path, options: &mut OpenOptions) -> Result<New> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        sweep(file.parent().unwrap_or(Path::new("")));
        let (place, process) = (&*PLACE, std::process::id());
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = file.with_file_name(format!("{PREFIX}{place}-{process}-{number}"));
            match options.create_new(true).open(&path) {
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
            // The disk knows no second names.
            Err(error) if error.kind() != ErrorKind::AlreadyExists => self.claim(file),
            linked => linked,
        }
    }

    /// The same without a second name: an empty file takes the name first, since a rename would replace any other.
    fn claim(self, file: &Path) -> Result<()> {
        File::create_new(file)?;
        self.rename(file).inspect_err(|_| _ = fs::remove_file(file))
    }

    /// Replaces a file.
    pub(crate) fn rename(self, file: &Path) -> Result<()> {
        fs::rename(&self.path, file)
    }

    /// Gives it a name that says what the file that it will be exchanged with has in it: after the exchange, that file has the
    /// name, and if the run is killed then, no later one removes what somebody else wrote into it.
    pub(super) fn ready_for_exchange(mut self, folder: &Folder, old: &[u8], new: &[u8]) -> Result<New> {
        let mut name = self.name().to_owned();
        name.push(format!("-{}-{}", hash(old), hash(new)));
        folder.rename(self.name(), &name)?;
        self.path.set_file_name(name);
        Ok(self)
    }

    /// Its name in the folder.
    pub(super) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// Keeps the file.
    pub(super) fn keep(self) -> PathBuf {
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

/// A run that still writes, and whose process is not known, has changed its files since then. One that takes longer, or was
/// stopped for that long, loses only what it still needs to replace a file, and says that it can't.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the new files of killed runs, once per folder: those of processes that no longer exist, and, if nothing is
/// known about the process, those from an earlier day. One that was exchanged with a file may have in it what somebody else
/// wrote into that; it is kept, and named.
pub(crate) fn sweep(folder: &Path) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let Ok(whole) = fs::canonicalize(folder) else { return };
    let is_first = SWEPT.lock().is_ok_and(|mut swept| swept.get_or_insert_default().insert(whole));
    let entries = is_first.then(|| fs::read_dir(folder)).into_iter().flatten().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        match left_behind(&path, &PLACE, SystemTime::now()) {
            LeftBehind::No => {}
            LeftBehind::Ours => _ = fs::remove_file(path),
            LeftBehind::Written => say_line!(
                "portolan: {} has what somebody wrote into a file of this folder when a port of it was stopped; compare them, then delete it",
                path.display()
            ),
        }
    }
}

/// What a file is to later runs.
#[derive(Debug, PartialEq)]
enum LeftBehind {
    /// A file of a run that may still go on, or of somebody else.
    No,
    /// A file of a killed run, with what that run read or wrote.
    Ours,
    /// One with something else in it.
    Written,
}

fn left_behind(file: &Path, place: &str, now: SystemTime) -> LeftBehind {
    let name = file.file_name().and_then(|name| name.to_str()?.strip_prefix(PREFIX));
    let parts: Vec<&str> = name.unwrap_or_default().split('-').collect();
    let (its_place, process, count, hashes) = match parts[..] {
        [place, process, count] => (place, process, count, None),
        [place, process, count, old, new] => (place, process, count, Some([old, new])),
        _ => return LeftBehind::No,
    };
    let is_number = |text: &str, radix: u32| !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    if !(is_number(its_place, 16) && is_number(process, 10) && is_number(count, 10)) {
        return LeftBehind::No;
    }
    let is_over = if its_place == place && place != "0" {
        !Path::new("/proc").join(process).exists()
    } else {
        let then = fs::symlink_metadata(file).and_then(|about| last_touched(&about));
        then.is_ok_and(|then| now.duration_since(then).is_ok_and(|age| age > ABANDONED))
    };
    let is_own = |hashes: [&str; 2]| {
        let is_file = file.symlink_metadata().is_ok_and(|about| about.is_file());
        is_file && fs::read(file).is_ok_and(|bytes| hashes.contains(&hash(&bytes).as_str()))
    };
    match hashes {
        _ if !is_over => LeftBehind::No,
        Some(hashes) if !is_own(hashes) => LeftBehind::Written,
        _ => LeftBehind::Ours,
    }
}

/// When a file was last written or renamed: after an exchange, the old file has the name, and was perhaps written years ago.
#[cfg(unix)]
fn last_touched(about: &Metadata) -> Result<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let renamed = Duration::from_secs(about.ctime().try_into().unwrap_or(0));
    Ok(about.modified()?.max(SystemTime::UNIX_EPOCH + renamed))
}

/// Files are not exchanged here.
#[cfg(not(unix))]
fn last_touched(about: &Metadata) -> Result<SystemTime> {
    about.modified()
}

/// Of one file among few, to recognise it; if another release of the standard library computes another, a file is named
/// that could have been removed.
fn hash(bytes: &[u8]) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    format!("{:016x}", hasher.finish())
}

impl Drop for New {
    fn drop(&mut self) {
        // After renaming there is nothing left to remove.
        fs::remove_file(&self.path).ok();
    }
}

#[cfg(unix)]
fn link(to: &Path, from: &Path) -> Result<()> {
    std::os::unix::fs::symlink(to, from)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_run_left_behind_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let check_text = |name: &str, text: &str, hours: u64, place: &str, expected: LeftBehind| {
            let path = home.path().join(name);
            fs::write(&path, text).unwrap();
            let now = SystemTime::now() + Duration::from_secs(hours * 60 * 60);
            assert_eq!(left_behind(&path, place, now), expected, "{name}, {hours} hours, seen from {place}");
        };
        let check = |name: &str, hours: u64, place: &str, expected: bool| {
            check_text(name, "", hours, place, if expected { LeftBehind::Ours } else { LeftBehind::No });
        };
        let (own, ended) = (std::process::id(), u32::MAX);
        if Path::new("/proc/self").exists() {
            check(&format!("{PREFIX}c0ffee-{own}-0"), 48, "c0ffee", false);
            check(&format!("{PREFIX}c0ffee-{ended}-0"), 0, "c0ffee", true);
            // What was read or written is no loss, anything else is.
            let exchanged = format!("{PREFIX}c0ffee-{ended}-1-{}-{}", hash(b"old"), hash(b"new"));
            for (text, expected) in
                [("old", LeftBehind::Ours), ("new", LeftBehind::Ours), ("mine", LeftBehind::Written)]
            {
                check_text(&exchanged, text, 0, "c0ffee", expected);
            }
        }
        // In another container the same number is another process.
        check(&format!("{PREFIX}decade-{ended}-0"), 0, "c0ffee", false);
        check(&format!("{PREFIX}decade-{own}-0"), 48, "c0ffee", true);
        // An old file that a run has exchanged has the name since then, whenever it was written.
        let exchanged = home.path().join(format!("{PREFIX}decade-{ended}-8-{}-{}", hash(b"old"), hash(b"new")));
        fs::write(&exchanged, "old").unwrap();
        let file = File::options().write(true).open(&exchanged).unwrap();
        file.set_modified(SystemTime::now() - 2 * ABANDONED).unwrap();
        if cfg!(unix) {
            assert_eq!(left_behind(&exchanged, "c0ffee", SystemTime::now()), LeftBehind::No);
        }
        assert_eq!(left_behind(&exchanged, "c0ffee", SystemTime::now() + 2 * ABANDONED), LeftBehind::Ours);
        // If processes can't be queried, the day decides.
        check(&format!("{PREFIX}0-{ended}-7"), 0, "0", false);
        check(&format!("{PREFIX}0-{ended}-7"), 48, "0", true);
        for name in ["-1.whole", "notes", "c0ffee-1", "c0ffee-1-x", "c0ffee--1", "c0ffee-1-2-3"] {
            check(&format!("{PREFIX}{name}"), 48, "c0ffee", false);
        }
    }

    #[test]
    fn where_there_are_no_second_names_nothing_is_overwritten_either() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.py");
        let claim = || New::beside(&path)?.fill(|new| fs::write(new, "new"))?.claim(&path);
        claim().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::write(&path, "mine").unwrap();
        assert_eq!(claim().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_private_from_the_start() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let new = New::private_beside(&home.path().join("a.py")).unwrap();
        assert_eq!(fs::metadata(&new.path).unwrap().permissions().mode() & 0o777, 0o600);
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
}
