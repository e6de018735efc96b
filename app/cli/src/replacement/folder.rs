//! The files of one folder, by their names in it.
//!
//! Files are compared, exchanged, replaced and removed relative to the open folder, not by paths: no file of another
//! folder that gets the path meanwhile is touched. Only new files under names of their own are made by paths.

#[cfg(not(unix))]
pub(super) use by_path::Folder;
#[cfg(unix)]
pub(super) use opened::Folder;

#[cfg(unix)]
mod opened {
    use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
    use std::ffi::OsStr;
    use std::fs::{File, Metadata};
    use std::io::Result;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    /// An open folder.
    pub(in crate::replacement) struct Folder(File);

    impl Folder {
        /// Opens it. That takes no right to list the folder.
        pub(in crate::replacement) fn open(path: &Path) -> Result<Folder> {
            #[cfg(target_os = "linux")]
            let access = OFlags::PATH;
            #[cfg(not(target_os = "linux"))]
            let access = OFlags::RDONLY;
            let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            Ok(Folder(File::from(rustix::fs::open(path, flags, Mode::empty())?)))
        }

        /// What identifies the folder while it exists.
        pub(in crate::replacement) fn identity(&self) -> Result<(u64, u64)> {
            let about = self.0.metadata()?;
            Ok((about.dev(), about.ino()))
        }

        /// Opens a file for reading, and for writing if asked. A link is not followed, and a pipe not waited for.
        pub(in crate::replacement) fn file(&self, name: &OsStr, write: bool) -> Result<File> {
            let access = if write { OFlags::RDWR } else { OFlags::RDONLY };
            let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            Ok(File::from(openat(&self.0, name, flags, Mode::empty())?))
        }

        /// Whether the name is still that of the file.
        pub(in crate::replacement) fn has(&self, name: &OsStr, file: &Metadata) -> bool {
            let now = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
            // The types of the numbers differ between systems.
            #[allow(clippy::unnecessary_cast)]
            now.is_ok_and(|now| (now.st_dev as u64, now.st_ino as u64) == (file.dev(), file.ino()))
        }

        /// Exchanges two files in one step. Returns whether the system and the file system can.
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        pub(in crate::replacement) fn exchange(&self, one: &OsStr, other: &OsStr) -> Result<bool> {
            use rustix::fs::{RenameFlags, renameat_with};
            use rustix::io::Errno;
            match renameat_with(&self.0, one, &self.0, other, RenameFlags::EXCHANGE) {
                Ok(()) => Ok(true),
                Err(error) if [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error) => {
                    Ok(false)
                }
                Err(error) => Err(error.into()),
            }
        }

        #[cfg(not(any(target_os = "linux", target_os = "macos")))]
        pub(in crate::replacement) fn exchange(&self, _: &OsStr, _: &OsStr) -> Result<bool> {
            Ok(false)
        }

        pub(in crate::replacement) fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
            Ok(renameat(&self.0, from, &self.0, to)?)
        }

        pub(in crate::replacement) fn remove(&self, name: &OsStr) -> Result<()> {
            Ok(unlinkat(&self.0, name, AtFlags::empty())?)
        }
    }
}

#[cfg(not(unix))]
mod by_path {
    use std::ffi::OsStr;
    use std::fs::{self, File, Metadata, OpenOptions};
    use std::io::Result;
    use std::path::{Path, PathBuf};

    /// A folder. Open ones can't be used like paths here.
    pub(in crate::replacement) struct Folder(PathBuf);

    impl Folder {
        pub(in crate::replacement) fn open(path: &Path) -> Result<Folder> {
            Ok(Folder(fs::canonicalize(path)?))
        }

        /// What identifies the folder while it exists.
        pub(in crate::replacement) fn identity(&self) -> Result<PathBuf> {
            Ok(self.0.clone())
        }

        /// Opens a file for reading, and for writing if asked.
        pub(in crate::replacement) fn file(&self, name: &OsStr, write: bool) -> Result<File> {
            OpenOptions::new().read(true).write(write).open(self.0.join(name))
        }

        /// Whether the name is still that of the file; not known.
        pub(in crate::replacement) fn has(&self, name: &OsStr, _: &Metadata) -> bool {
            self.0.join(name).is_file()
        }

        /// Exchanges two files in one step. Returns whether the system and the file system can.
        pub(in crate::replacement) fn exchange(&self, _: &OsStr, _: &OsStr) -> Result<bool> {
            Ok(false)
        }

        pub(in crate::replacement) fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
            fs::rename(self.0.join(from), self.0.join(to))
        }

        pub(in crate::replacement) fn remove(&self, name: &OsStr) -> Result<()> {
            fs::remove_file(self.0.join(name))
        }
    }
}
