//! The patch with which `git apply -R` reverts a port that was written in place.

use crate::project::{Input, repository_of};
use crate::replacement::{New, Replacement};
use crate::said::say_line;
use crate::usage::usage;
use anyhow::{Context, Result};
use codemod::PortedFile;
use launch::Word;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A file that a port changes.
pub(super) struct Change<'a> {
    pub(super) input: &'a Input,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) replacement: Replacement<'a>,
}

/// The patch of a port while its files are replaced. No patch of lines is right before and after a file is replaced, and
/// a run can be killed between any two of its actions. So the patch has two forms, and one rename from the first to the
/// second. Before the first file is replaced, it is one that does not ask what is in a file
/// ([`codemod::git_patch_from_any`]): it reverts all files, replaced or not. After the last, it has the changes of the
/// files that were replaced, and nothing else.
///
/// git moves no file that is not there. So if the port adds files, the first form names them in words before they are added, and
/// moves them only afterwards: no file of the port is ever on disk without being named in the patch.
pub(super) struct SavedPatch {
    file: PathBuf,
    /// The folder to which the first form moves what is in the files.
    aside: String,
    /// The first form for the case that all files are added, already on disk; none if there is none to add.
    moving: Option<New>,
    /// The second form for the case that all files are replaced, already on disk.
    last: New,
    /// The number of files that the port changes or adds.
    planned: usize,
    /// The command that reverts the port.
    revert: String,
}

impl SavedPatch {
    /// Saves the first form, before any file is added or replaced. An existing file may be the patch of an earlier port, and
    /// is kept.
    pub(super) fn begin(
        file: &Path,
        root: Option<&Path>,
        changes: &[Change<'_>],
        new: &[(PathBuf, &PortedFile)],
    ) -> Result<SavedPatch> {
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
        let aside = free_folder(root.unwrap_or(Path::new("")));
        let beside = |text: String| New::beside(&whole)?.fill(|path| fs::write(path, text));
        let first = || {
            let last = beside(exact(changes.iter().map(lines_of), new.iter().map(|(_, file)| *file)))?;
            let moving = (!new.is_empty()).then(|| beside(from_any(&aside, changes, new))).transpose()?;
            if !changes.is_empty() || !new.is_empty() {
                beside(head(&aside, changes, new) + &from_any_of(&aside, changes))?.place(&whole)?;
                sync_folder(&whole);
            }
            Ok::<_, std::io::Error>((last, moving))
        };
        match first() {
            Ok((last, moving)) => {
                let revert = revert(&whole, root.unwrap_or(Path::new(".")));
                Ok(SavedPatch { file: whole, aside, moving, last, planned: changes.len() + new.len(), revert })
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists(file).into()),
            Err(error) => Err(error).with_context(|| cant_be_written(file)),
        }
    }

    /// Lets the first form move the files that were added.
    pub(super) fn added(&mut self, changes: &[Change<'_>], added: &[(PathBuf, &PortedFile)]) -> Result<()> {
        let Some(moving) = self.moving.take() else { return Ok(()) };
        let is_all = changes.len() + added.len() == self.planned;
        let moving = match is_all {
            true => Ok(moving),
            false => moving.fill(|path| fs::write(path, from_any(&self.aside, changes, added))),
        };
        let renamed = moving.and_then(|moving| moving.rename(&self.file));
        renamed.with_context(|| cant_be_written(&self.file))?;
        sync_folder(&self.file);
        Ok(())
    }

    /// Removes it: no file was changed, and none is added.
    pub(super) fn abandon(self) {
        if self.planned > 0 {
            fs::remove_file(&self.file).ok();
        }
    }

    /// Saves the second form. Returns whether that was possible; otherwise the first one stays, which also reverts a
    /// file that may be half written.
    pub(super) fn finish(self, written: &[(&Input, &str, &str)], new: &[&PortedFile], is_torn: bool) -> bool {
        let file = self.file;
        if self.planned == 0 {
            say_line!("portolan: no file was changed, so {} was not written", file.display());
            return true;
        }
        if is_torn {
            say_line!("portolan: to give all files their texts from before the port: {}", self.revert);
            return false;
        }
        if written.is_empty() && new.is_empty() {
            return fs::remove_file(&file).is_ok();
        }
        // What the patch says is on disk first.
        let folders: BTreeSet<&Path> =
            written.iter().filter_map(|(input, ..)| input.disk.as_deref()?.parent()).collect();
        for folder in folders {
            sync_folder(&folder.join("-"));
        }
        let changed = written.iter().map(|(input, old, new)| (input.path.as_str(), *old, *new));
        let text = || exact(changed.clone(), new.iter().copied());
        let last = if written.len() + new.len() == self.planned {
            Ok(self.last)
        } else {
            self.last.fill(|path| fs::write(path, text()))
        };
        let renamed = last.and_then(|last| last.rename(&file));
        if let Err(error) = &renamed {
            say_line!(
                "portolan: {}: its final form can't be written: {error}; it reverts the port all the same",
                file.display()
            );
        }
        say_line!("portolan: to revert the port: {}", self.revert);
        renamed.is_ok()
    }
}

/// The command that applies a patch backwards, from any folder. In a repository, git takes the paths of a patch from its root,
/// and skips without a word what is outside the folder that it runs in.
fn revert(patch: &Path, root: &Path) -> String {
    let quoted = |path: &Path| Word::text(path.display().to_string()).quoted();
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let (folder, within) = match repository_of(&root) {
        Some((repository, within)) => (repository, format!("--directory={} ", quoted(&within))),
        None => (root, String::new()),
    };
    format!("git -C {} apply -R {within}{}", quoted(&folder), quoted(patch))
}

/// Refuses a patch file that exists.
pub(crate) fn check_is_new(file: &Path) -> Result<()> {
    if file.symlink_metadata().is_ok() { Err(exists(file).into()) } else { Ok(()) }
}

fn exists(file: &Path) -> crate::usage::Usage {
    let why = "it may be needed to revert an earlier port; nothing was written";
    usage(format!("--patch {}: the file already exists, and {why}", file.display()))
}

fn lines_of<'a>(change: &Change<'a>) -> (&'a str, &'a str, &'a str) {
    (&change.input.path, change.old, change.new)
}

fn exact<'a>(
    files: impl Iterator<Item = (&'a str, &'a str, &'a str)>,
    new: impl Iterator<Item = &'a PortedFile>,
) -> String {
    let changed = files.map(|(path, old, new)| codemod::git_patch_of(path, old, new));
    changed.chain(new.map(|file| codemod::git_patch_of_new(&file.path, &file.text))).collect()
}

fn cant_be_written(file: &Path) -> String {
    format!("{} can't be written; nothing was written", file.display())
}

/// The words before the patch. `new` are the files that are about to be added, which the patch does not move.
fn head(aside: &str, changes: &[Change<'_>], new: &[(PathBuf, &PortedFile)]) -> String {
    let mut head = "This port was stopped, or is still being written. ".to_owned();
    if !changes.is_empty() || new.is_empty() {
        head += &format!(
            "`git apply -R` of this file gives every file its text from before the port, whether it was\nreplaced or not, \
             and keeps what is in it now in {aside}. "
        );
    }
    head += "To finish the port instead, run it again, without --patch. The next run also removes the files `.portolan-…` that a\n\
             killed one has left beside others, unless they have something of yours in them.\n";
    if !new.is_empty() {
        head += "It adds these files; delete those that are there if you don't finish it:\n";
    }
    // A line break in a name could look like the start of the patch.
    let names = new.iter().map(|(_, file)| format!("  {}\n", file.path.replace(['\n', '\r'], "\u{fffd}")));
    names.for_each(|name| head += &name);
    head
}

fn from_any_of(aside: &str, changes: &[Change<'_>]) -> String {
    let patch_of = |Change { input, old, replacement, .. }: &Change<'_>| {
        let path = &input.path;
        codemod::git_patch_from_any(path, &format!("{aside}/{path}"), old, replacement.is_executable())
    };
    changes.iter().map(patch_of).collect()
}

fn from_any(aside: &str, changes: &[Change<'_>], added: &[(PathBuf, &PortedFile)]) -> String {
    let moved = added
        .iter()
        .map(|(_, PortedFile { path, .. })| codemod::git_patch_from_aside(path, &format!("{aside}/{path}")));
    head(aside, changes, &[]) + &from_any_of(aside, changes) + &moved.collect::<String>()
}

/// The name of a folder that does not exist yet. It is hidden, and so not a part of the project.
fn free_folder(root: &Path) -> String {
    let names = (1..).map(|number| format!(".portolan-reverted-{number}"));
    names.into_iter().find(|name| root.join(name).symlink_metadata().is_err()).expect("some number is free")
}

/// Lets the file's name survive a power failure, if the system can.
fn sync_folder(file: &Path) {
    if let Some(folder) = file.parent().and_then(|folder| File::open(folder).ok()) {
        folder.sync_all().ok();
    }
}
