//! What a file has besides its bytes.

use std::fs::{File, Metadata};

/// Gives a new file the owner, the group, the permissions and the extended attributes of another. Returns whether it
/// has them all.
///
/// In this order: a new owner clears some attributes, and whoever may not write into a file may not give it any.
#[cfg(unix)]
pub(super) fn keep(file: &File, about: &Metadata, new: &File) -> bool {
    keep_owner(about, new) && extended::keep(file, new) && new.set_permissions(about.permissions()).is_ok()
}

/// A file that can be replaced has no permissions here.
#[cfg(not(unix))]
pub(super) fn keep(_: &File, _: &Metadata, _: &File) -> bool {
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

/// Extended attributes, which ACLs (access control lists) are, too.
#[cfg(target_os = "linux")]
mod extended {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::{Errno, Result};
    use std::collections::BTreeMap;
    use std::ffi::CString;
    use std::fs::File;

    /// Signatures of a file's contents, which are the kernel's own: it makes those of the new contents.
    const OF_CONTENTS: [&[u8]; 2] = [b"security.ima", b"security.evm"];

    /// Gives the new file those of the other and no more: the folder may have given it some. Returns whether it has them.
    pub(super) fn keep(file: &File, new: &File) -> bool {
        let (Ok(wanted), Ok(there)) = (all(file), all(new)) else { return false };
        let missing = wanted.iter().filter(|(name, value)| there.get(*name) != Some(value));
        let too_many = there.keys().filter(|name| !wanted.contains_key(*name));
        let set = missing.map(|(name, value)| fsetxattr(new, name, value, XattrFlags::empty()));
        set.chain(too_many.map(|name| fremovexattr(new, name))).all(|done| done.is_ok())
    }

    /// The attributes of a file; none if the file system has none.
    fn all(file: &File) -> Result<BTreeMap<CString, Vec<u8>>> {
        let names = match whole(|buffer| flistxattr(file, buffer)) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(BTreeMap::new()),
            names => names?,
        };
        let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !OF_CONTENTS.contains(name));
        let names = names.filter_map(|name| CString::new(name).ok());
        names.map(|name| Ok((name.clone(), whole(|buffer| fgetxattr(file, &name, buffer))?))).collect()
    }

    /// The largest list and the largest value.
    const LARGEST: usize = 64 * 1024;

    fn whole(read: impl Fn(&mut [u8]) -> Result<usize>) -> Result<Vec<u8>> {
        let mut buffer = vec![0; LARGEST];
        let length = read(&mut buffer)?;
        buffer.truncate(length);
        Ok(buffer)
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod extended {
    use std::fs::File;

    /// The names and rules of other systems differ.
    pub(super) fn keep(_: &File, _: &File) -> bool {
        true
    }
}
