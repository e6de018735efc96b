//! What a file has besides its bytes.

use std::fs::{File, Metadata};

/// Gives a new file the owner, the group and the permissions of another. Returns whether it has them all.
#[cfg(unix)]
pub(super) fn keep(about: &Metadata, new: &File) -> bool {
    keep_owner(about, new) && new.set_permissions(about.permissions()).is_ok()
}

/// A file that can be replaced has no permissions here.
#[cfg(not(unix))]
pub(super) fn keep(_: &Metadata, _: &File) -> bool {
    true
}

#[cfg(unix)]
fn keep_owner(about: &Metadata, new: &File) -> bool {
    use std::os::unix::fs::{MetadataExt, fchown};
    let is = |now: &Metadata| (now.uid(), now.gid()) == (about.uid(), about.gid());
    new.metadata().is_ok_and(|now| is(&now)) || fchown(new, Some(about.uid()), Some(about.gid())).is_ok()
}

#[cfg(unix)]
pub(super) fn has_other_names(about: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.nlink() > 1
}

#[cfg(not(unix))]
pub(super) fn has_other_names(_: &Metadata) -> bool {
    false
}

/// Whether its owner may run the file.
#[cfg(unix)]
pub(super) fn is_executable(about: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    about.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
pub(super) fn is_executable(_: &Metadata) -> bool {
    false
}
