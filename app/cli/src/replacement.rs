//! Replaces a file: readers never see a partial file, its attributes stay, and what somebody else writes meanwhile is kept.

mod attributes;
mod folder;
mod new;
mod overwrite;

use attributes::{has_other_names, is_executable};
use folder::Folder;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

pub(crate) use new::{New, sweep};
pub(crate) use overwrite::left_whole;

/// A file's new contents, on disk and ready to replace it.
pub(crate) struct Replacement<'a> {
    place: Place,
    old: &'a [u8],
    bytes: &'a [u8],
    new: New,
    /// Whether it must remain the same file: it has other names, or attributes that no new file can get, such as its owner.
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

/// A file in a folder that is recognised when it is opened again. It is not kept open: a project may have more folders than
/// a process may open.
struct Place {
    path: PathBuf,
    folder: Identity,
}

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = PathBuf;

impl Place {
    /// Also returns the open folder.
    fn of(file: &Path) -> Result<(Place, Folder)> {
        let path = fs::canonicalize(file)?;
        let folder = Folder::open(folder_of(&path))?;
        Ok((Place { path, folder: folder.identity()? }, folder))
    }

    fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// Opens the folder, and no other that has its path by now.
    fn open(&self) -> Result<Folder> {
        let folder = Folder::open(folder_of(&self.path))?;
        if folder.identity()? == self.folder { Ok(folder) } else { Err(changed()) }
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

fn changed() -> Error {
    Error::other("it was changed while the port was made, and is left as it is; port it again")
}

/// The bytes of a regular file; nothing of anything else.
fn read(folder: &Folder, name: &OsStr) -> Result<Option<(File, Metadata, Vec<u8>)>> {
    let mut file = folder.file(name, false)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some((file, about, bytes)))
}

/// Whether it is a regular file with these bytes, and nothing else.
fn is(folder: &Folder, name: &OsStr, bytes: &[u8]) -> bool {
    read(folder, name).is_ok_and(|read| read.is_some_and(|(.., now)| now == bytes))
}

impl Replacement<'_> {
    /// Writes the contents next to the file, with its attributes. A read-only file is not changed. `old` is what the new
    /// contents were made from.
    pub(crate) fn prepare<'a>(file: &Path, old: &'a [u8], bytes: &'a [u8]) -> Result<Replacement<'a>> {
        let (place, folder) = Place::of(file)?;
        let file = File::open(&place.path)?;
        let about = file.metadata()?;
        if about.permissions().readonly() {
            return Err(Error::new(ErrorKind::PermissionDenied, "it is read-only"));
        }
        let new = New::private_beside(&place.path)?.fill(|path| fs::write(path, bytes))?;
        let is_kept = attributes::keep(&file, &about, &File::open(&new.path)?);
        // Now rather than later: a longer name may need space on the disk.
        let new = new.ready_for_exchange(&folder, old, bytes)?;
        let is_shared = has_other_names(&about) || !is_kept;
        Ok(Replacement { place, old, bytes, new, is_shared, is_executable: is_executable(&about) })
    }

    /// Whether its owner may run the file.
    pub(crate) fn is_executable(&self) -> bool {
        self.is_executable
    }
}

impl<'a> Replacement<'a> {
    /// Replaces the file, if nobody has changed it since it was read, or put something else in the place of its folder.
    /// Nothing that was in it is gone until [`Replaced::finish`].
    pub(crate) fn put(self) -> std::result::Result<Replaced<'a>, NotReplaced> {
        match self.check()? {
            Checked::Done => Ok(Replaced(None)),
            Checked::Shared(folder, replacement) => replacement.overwrite(&folder),
            Checked::Own(folder, replacement) => {
                let exchanged = replacement.exchange(&folder, Folder::exchange)?;
                exchanged.iter().try_for_each(|exchanged| exchanged.settle(&folder))?;
                Ok(Replaced(exchanged))
            }
        }
    }

    /// What it takes to replace the file as it is now.
    fn check(self) -> Result<Checked<'a>> {
        let folder = self.place.open()?;
        let name = self.place.name();
        let Some((file, about, now)) = read(&folder, name)? else { return Err(changed()) };
        if now != self.old && has_other_names(&about) && now == self.bytes {
            // Under another of its names it has been replaced already.
            return Ok(Checked::Done);
        }
        if now != self.old || about.permissions().readonly() {
            return Err(changed());
        }
        // Again: they may have changed as well.
        let is_shared = self.is_shared
            || has_other_names(&about)
            || !attributes::keep(&file, &about, &folder.file(self.new.name(), false)?);
        Ok(if is_shared { Checked::Shared(folder, self) } else { Checked::Own(folder, self) })
    }

    fn overwrite(self, folder: &Folder) -> std::result::Result<Replaced<'a>, NotReplaced> {
        let mut file = folder.file(self.place.name(), true)?;
        let torn = |(error, is_torn)| NotReplaced { error, is_torn };
        let is_written = overwrite::overwrite(&mut file, &self.place.path, self.old, self.new).map_err(torn)?;
        // An editor may have put a new file in its place meanwhile.
        let is_there = is_written && folder.has(self.place.name(), &file.metadata()?);
        if is_there { Ok(Replaced(None)) } else { Err(changed().into()) }
    }

    /// Exchanges the two files, so that what the old one is by now has the other's name, whatever was written since the
    /// check. Where that is unknown, the new one replaces it: what is written between the check and that is lost.
    fn exchange(self, folder: &Folder, exchange: Exchange) -> Result<Option<Exchanged<'a>>> {
        let Replacement { place, old, bytes, new, .. } = self;
        let about = folder.file(new.name(), false)?.metadata()?;
        if exchange(folder, new.name(), place.name())? {
            let other = new.keep().file_name().unwrap_or_default().to_owned();
            return Ok(Some(Exchanged { place, old, bytes, about, other }));
        }
        folder.rename(new.name(), place.name())?;
        new.keep();
        Ok(None)
    }
}

/// [`Folder::exchange`], or what a system does that has none.
type Exchange = fn(&Folder, &OsStr, &OsStr) -> Result<bool>;

/// How a file can be replaced.
enum Checked<'a> {
    /// It has its new contents already.
    Done,
    /// By other bytes.
    Shared(Folder, Replacement<'a>),
    /// By another file.
    Own(Folder, Replacement<'a>),
}

/// A file that was replaced; the old one is still there, if the system can exchange files.
#[must_use]
pub(crate) struct Replaced<'a>(Option<Exchanged<'a>>);

impl Replaced<'_> {
    /// Removes the old file. If somebody has changed that meanwhile, it gets its name back. If the name has another file than
    /// the new one by now, such as one that an editor has saved, that one stays.
    ///
    /// The later the better: a program that had opened the file before the exchange writes into the old one. What it writes
    /// after this is lost, and can't be noticed: a file without a name exists until its last user closes it.
    pub(crate) fn finish(self) -> Result<()> {
        let Some(exchanged) = self.0 else { return Ok(()) };
        // It has both files, and the next run there removes the old one.
        let moved = |_| Error::other("its folder was moved while the port was made; port it again there");
        let folder = exchanged.place.open().map_err(moved)?;
        exchanged.settle(&folder)?;
        let is_there = folder.has(exchanged.place.name(), &exchanged.about);
        // If that fails, the next run removes it.
        folder.remove(&exchanged.other).ok();
        if is_there { Ok(()) } else { Err(changed()) }
    }
}

/// Two files that were exchanged.
struct Exchanged<'a> {
    place: Place,
    old: &'a [u8],
    bytes: &'a [u8],
    /// The new file.
    about: Metadata,
    /// The name of the old file.
    other: OsString,
}

impl Exchanged<'_> {
    /// Exchanges them back if the old one is not what the new one was made from.
    fn settle(&self, folder: &Folder) -> Result<()> {
        match read(folder, &self.other) {
            Ok(Some((.., now))) if now == self.old => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            _ => {}
        }
        let other = || self.place.path.with_file_name(&self.other).display().to_string();
        match folder.exchange(&self.other, self.place.name()) {
            Ok(true) if is(folder, &self.other, self.bytes) => {
                folder.remove(&self.other)?;
                Err(changed())
            }
            // Somebody has also written the new one, and nobody can say which of the two is right.
            Ok(true) => Err(Error::other(format!("{}; what was written after that is in {}", changed(), other()))),
            Ok(false) | Err(_) => Err(Error::other(format!(
                "it was changed while the port was made; what was written is in {}, compare them",
                other()
            ))),
        }
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "macos")))]
mod tests {
    use super::*;
    use std::io::Write;
    use tempfile::TempDir;

    /// A folder with a file.
    fn home() -> (TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("p");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a.py"), "old").unwrap();
        (home, folder)
    }

    fn prepare(folder: &Path) -> Replacement<'static> {
        Replacement::prepare(&folder.join("a.py"), b"old", b"new").unwrap()
    }

    fn own(replacement: Replacement<'static>) -> (Folder, Replacement<'static>) {
        match replacement.check().unwrap() {
            Checked::Own(folder, replacement) => (folder, replacement),
            _ => panic!("the file can be replaced by another"),
        }
    }

    fn texts(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut texts: Vec<String> = entries.map(|path| fs::read_to_string(path).unwrap()).collect();
        texts.sort();
        texts
    }

    /// What somebody does between the check and the exchange, and what is in the folder then.
    fn check(act: impl FnOnce(&Path), is_said: &str, expected: &[&str]) {
        let (_home, folder) = home();
        let (open, replacement) = own(prepare(&folder));
        act(&folder.join("a.py"));
        let exchanged = replacement.exchange(&open, Folder::exchange);
        let error = exchanged.and_then(|exchanged| exchanged.unwrap().settle(&open)).unwrap_err();
        assert!(error.to_string().contains(is_said), "{error}");
        assert_eq!(texts(&folder), expected);
    }

    #[test]
    fn what_is_written_between_the_check_and_the_exchange_is_kept() {
        check(|file| fs::write(file, "mine").unwrap(), "it was changed", &["mine"]);
        let save_by_a_new_file = |file: &Path| {
            fs::write(file.with_extension("swp"), "mine").unwrap();
            fs::rename(file.with_extension("swp"), file).unwrap();
        };
        check(save_by_a_new_file, "it was changed", &["mine"]);
        check(|file| fs::remove_file(file).unwrap(), "No such file", &[]);
        let replace_by_a_link = |file: &Path| {
            fs::rename(file, file.with_extension("old")).unwrap();
            std::os::unix::fs::symlink("a.old", file).unwrap();
        };
        check(replace_by_a_link, "it was changed", &["old", "old"]);
    }

    #[test]
    fn what_an_open_editor_writes_later_is_kept() {
        let (_home, folder) = home();
        let mut editor = File::options().write(true).open(folder.join("a.py")).unwrap();
        let put =
            |replacement: Replacement<'static>| replacement.put().unwrap_or_else(|unput| panic!("{}", unput.error));
        let replaced = put(prepare(&folder));
        assert_eq!(fs::read(folder.join("a.py")).unwrap(), b"new");
        editor.write_all(b"mine").unwrap();
        assert!(replaced.finish().unwrap_err().to_string().contains("it was changed"));
        assert_eq!(texts(&folder), ["mine"]);

        fs::write(folder.join("a.py"), "old").unwrap();
        put(prepare(&folder)).finish().unwrap();
        assert_eq!(texts(&folder), ["new"]);
    }

    #[test]
    fn what_an_editor_saves_as_a_new_file_later_is_kept_and_named() {
        let (_home, folder) = home();
        let replaced = prepare(&folder).put().unwrap_or_else(|unput| panic!("{}", unput.error));
        fs::write(folder.join("a.swp"), "mine").unwrap();
        fs::rename(folder.join("a.swp"), folder.join("a.py")).unwrap();
        assert!(replaced.finish().unwrap_err().to_string().contains("it was changed"));
        assert_eq!(texts(&folder), ["mine"]);
    }

    #[test]
    fn a_folder_that_is_moved_after_the_exchange_is_named() {
        let (home, folder) = home();
        let replaced = prepare(&folder).put().unwrap_or_else(|unput| panic!("{}", unput.error));
        fs::rename(&folder, home.path().join("moved")).unwrap();
        assert!(replaced.finish().unwrap_err().to_string().contains("its folder was moved"));
        assert_eq!(texts(&home.path().join("moved")), ["new", "old"]);
    }

    #[test]
    fn a_second_name_that_a_file_gets_meanwhile_stays_its_name() {
        let (_home, folder) = home();
        let replacement = prepare(&folder);
        fs::hard_link(folder.join("a.py"), folder.join("b.py")).unwrap();
        replacement.put().unwrap_or_else(|unput| panic!("{}", unput.error)).finish().unwrap();
        assert_eq!(texts(&folder), ["new", "new"]);
    }

    #[test]
    fn of_two_texts_of_others_neither_is_lost() {
        let (_home, folder) = home();
        let (open, replacement) = own(prepare(&folder));
        let file = folder.join("a.py");
        fs::write(&file, "mine").unwrap();
        let exchanged = replacement.exchange(&open, Folder::exchange).unwrap().unwrap();
        fs::write(&file, "hers").unwrap();
        let error = exchanged.settle(&open).unwrap_err().to_string();
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        let other = exchanged.place.path.with_file_name(&exchanged.other);
        assert!(error.ends_with(&format!("what was written after that is in {}", other.display())), "{error}");
        assert_eq!(fs::read(other).unwrap(), b"hers");
    }

    #[test]
    fn a_folder_in_the_place_of_the_files_own_is_not_touched() {
        for is_checked in [false, true] {
            let (home, folder) = home();
            let replacement = prepare(&folder);
            let swap = || {
                fs::rename(&folder, home.path().join("moved")).unwrap();
                fs::create_dir(&folder).unwrap();
                fs::write(folder.join("a.py"), "old").unwrap();
            };
            if is_checked {
                let (open, replacement) = own(replacement);
                swap();
                replacement.exchange(&open, Folder::exchange).unwrap().unwrap().settle(&open).unwrap();
            } else {
                swap();
                assert!(replacement.put().is_err_and(|unput| unput.error.to_string().contains("it was changed")));
            }
            assert_eq!(texts(&folder), ["old"]);
        }
    }

    #[test]
    fn without_exchanges_a_file_is_replaced_all_the_same() {
        let (_home, folder) = home();
        let (open, replacement) = own(prepare(&folder));
        assert!(replacement.exchange(&open, |_, _, _| Ok(false)).unwrap().is_none());
        assert_eq!(texts(&folder), ["new"]);
    }
}
