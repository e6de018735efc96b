//! A port that is written over its originals.

use crate::interruption::{self, Interrupted};
use crate::output::print;
use crate::output::saved_patch::{Change, SavedPatch};
use crate::project::Project;
use crate::reading::refusal;
use crate::replacement::{New, Replacement, sweep};
use crate::said::say_line;
use anyhow::Result;
use codemod::{Ported, PortedFile};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What became of a port's files.
pub(crate) struct WrittenBack {
    /// Whether all were written; one that an interruption has left is not a failure.
    pub(crate) fine: bool,
    /// Those that were left as they are.
    pub(crate) left: BTreeSet<usize>,
    /// How many of these were left because of an interruption. There are no messages about them.
    pub(crate) interrupted: usize,
}

/// Writes every changed file back. Each is replaced completely or not at all, and only if it still is what was read; a
/// failure becomes a message about the file, and the others are still written. All new files are on disk before the first
/// one replaces its original, so that a full disk leaves the project unchanged, and so does an interruption until then;
/// later, it leaves the files that are still to be replaced.
/// `patch` gets the way back, at every moment: see [`SavedPatch`]. Text from stdin goes to stdout, changed or not.
pub(crate) fn write_back(project: &Project, ported: &mut Ported, patch: Option<&Path>) -> Result<WrittenBack> {
    let _watch = interruption::watch();
    let nothing_yet = || match interruption::came() {
        Some(_) => Err(anyhow::Error::from(Interrupted::saying("no file was changed"))),
        None => Ok(()),
    };
    let mut left: Vec<(usize, String)> = Vec::new();
    // Also where a killed run has replaced all files, but not yet removed the old ones.
    let folders = project.inputs.iter().filter_map(|input| input.disk.as_deref()?.parent());
    // A patch is usually in the current folder.
    folders.chain([Path::new("")]).chain(project.root.as_deref()).for_each(sweep);
    let (mut changes, mut no_space) = (Vec::new(), None);
    for (n, (input, file)) in project.inputs.iter().zip(&ported.files).enumerate() {
        nothing_yet()?;
        match (&input.disk, input.before_and_after(file)) {
            (None, Some((_, new))) => print(new)?,
            (Some(disk), Some((old, new))) if file.changed => {
                match Replacement::prepare(disk, old.as_bytes(), new.as_bytes()) {
                    Ok(replacement) => changes.push((n, Change { input, old, new, replacement })),
                    Err(error) => {
                        no_space = no_space.or(NoSpace::of(error.kind()));
                        left.push((n, error.to_string()));
                    }
                }
            }
            _ => {}
        }
    }
    nothing_yet()?;
    let (mut fine, mut interrupted) = (true, Vec::new());
    if let Some(NoSpace { said, why }) = no_space {
        say_line!("portolan: {said}");
        left.extend(changes.into_iter().map(|(n, _)| (n, why.to_owned())));
    } else {
        let (numbers, changes): (Vec<usize>, Vec<_>) = changes.into_iter().unzip();
        let new: Vec<(PathBuf, &PortedFile)> =
            ported.new_files().filter_map(|file| Some((project.place_of(file)?, file))).collect();
        let saved = patch.map(|patch| SavedPatch::begin(patch, project.root.as_deref(), &changes, &new)).transpose();
        let mut saved = saved?;
        // Before the files that import them.
        let added: Vec<(PathBuf, &PortedFile)> = new.into_iter().filter(|new| add(new, &mut fine)).collect();
        let ready = saved.as_mut().map_or(Ok(()), |saved| saved.added(&changes, &added));
        if let Err(error) = ready.and_then(|()| nothing_yet()) {
            added.iter().for_each(take_away);
            if let Some(saved) = saved {
                saved.abandon();
            }
            return Err(error);
        }
        let added: Vec<&PortedFile> = added.into_iter().map(|(_, file)| file).collect();
        let mut written = Vec::new();
        let (mut replaced, mut is_torn) = (Vec::new(), false);
        for (n, Change { input, old, new, replacement }) in numbers.into_iter().zip(changes) {
            if interruption::came().is_some() {
                interrupted.push(n);
                continue;
            }
            match replacement.put() {
                Ok(put) => replaced.push((n, (input, old, new), put)),
                Err(unput) => {
                    is_torn |= unput.is_torn;
                    left.push((n, unput.error.to_string()));
                }
            }
        }
        for (n, change, put) in replaced {
            match put.finish() {
                Ok(()) => written.push(change),
                Err(error) => left.push((n, error.to_string())),
            }
        }
        if let Some(saved) = saved {
            fine &= saved.finish(&written, &added, is_torn);
        }
    }
    for (n, why) in &left {
        let said = refusal(&[], "engine#not-written", format!("the file can't be written: {why}"));
        ported.files[*n].diagnostics.insert(0, *said);
    }
    let (fine, interrupted_files) = (fine && left.is_empty(), interrupted.len());
    let left = left.into_iter().map(|(n, _)| n).chain(interrupted).collect();
    Ok(WrittenBack { fine, left, interrupted: interrupted_files })
}

/// Writes a new file, and never over another.
fn add((place, file): &(PathBuf, &PortedFile), fine: &mut bool) -> bool {
    let write = || New::beside(place)?.fill(|path| fs::write(path, &file.text))?.place(place);
    let Err(error) = write() else { return true };
    say_line!("portolan: {}: the new file can't be written: {error}", place.display());
    *fine = false;
    false
}

/// Removes a file that was added, unless somebody has written something else into it since.
fn take_away((place, file): &(PathBuf, &PortedFile)) {
    match fs::read(place) {
        Ok(bytes) if bytes == file.text.as_bytes() => _ = fs::remove_file(place),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        _ => say_line!("portolan: {} was added by this port and changed since, so it is kept", place.display()),
    }
}

/// Why no file is changed if one can't be written.
struct NoSpace {
    said: &'static str,
    /// The reason for the files that could be.
    why: &'static str,
}

impl NoSpace {
    fn of(kind: ErrorKind) -> Option<NoSpace> {
        match kind {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(NoSpace {
                said: "not enough disk space for the ported files, so no file was changed; free some space and retry",
                why: "there is no disk space for the other files of the port",
            }),
            ErrorKind::FileTooLarge => Some(NoSpace {
                said: "a file of the port is larger than the limit on the size of files (ulimit -f), or than the disk allows, \
                       so no file was changed",
                why: "another file of the port is larger than a file may be",
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_added_file_is_taken_away_unless_it_was_changed() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("a.py");
        let file = PortedFile {
            path: "a.py".to_owned(),
            changed: true,
            text: "new".to_owned(),
            edits: vec![],
            diagnostics: vec![],
            notebook: None,
            is_new: true,
        };
        for (text, is_kept) in [("new", false), ("mine", true)] {
            fs::write(&place, text).unwrap();
            take_away(&(place.clone(), &file));
            assert_eq!(place.exists(), is_kept);
        }
    }
}
