//! The destination of a port: stdout, the files themselves, or another folder.

use crate::project::{Project, is_foreign, same};
use crate::replacement::{New, Replacement};
use crate::said::say_line;
use crate::usage::usage;
use anyhow::{Context, Result};
use codemod::Ported;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prints to stdout. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("can't write to stdout"),
        _ => Ok(()),
    }
}

/// Writes a patch to a file, so that a port can be reverted. An existing file may be the patch of an earlier port, and
/// is kept.
pub(crate) fn keep_patch(patch: &str, file: &Path) -> Result<()> {
    if file.symlink_metadata().is_ok() {
        let why = "it may be needed to revert an earlier port; nothing was written";
        return Err(usage(format!("--patch {}: the file already exists, and {why}", file.display())).into());
    }
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let written = New::beside(&whole).and_then(|new| new.fill(|path| fs::write(path, patch))?.rename(&whole));
    written.with_context(|| format!("{} can't be written; nothing was written", file.display()))
}

/// Writes every changed file back. Each is replaced completely or not at all; a failure is reported, and the others are
/// still written. All new files are on disk before the first one replaces its original, so that a full disk leaves the
/// project unchanged, and so does an interruption until then. Text from stdin goes to stdout, changed or not. Returns
/// whether all succeeded.
pub(crate) fn write_back(project: &Project, ported: &Ported) -> Result<bool> {
    let mut fine = true;
    let mut ready = Vec::new();
    let mut full = false;
    for (input, file) in project.inputs.iter().zip(&ported.files) {
        match &input.disk {
            None if input.text.is_ok() => print(&file.text)?,
            Some(disk) if file.changed => {
                let replacement = Replacement::prepare(disk, file.text.as_bytes());
                full |= replacement.as_ref().is_err_and(|error| is_full(error.kind()));
                ready.push((input, replacement));
            }
            _ => {}
        }
    }
    if full {
        say_line!(
            "portolan: not enough disk space for the ported files, so no file was changed; free some space and retry"
        );
        return Ok(false);
    }
    for (input, replacement) in ready {
        if let Err(error) = replacement.and_then(Replacement::put) {
            say_line!("portolan: {}: the file can't be written: {error}", input.shown);
            fine = false;
        }
    }
    Ok(fine)
}

/// Whether a file can't be written for lack of space.
fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// Writes the ported tree into `out`. If the project is a folder, everything else in it is copied as well, except
/// third-party code and tools' caches. Nothing is written if there is a conflict: a file of the project, or, without
/// `force`, a file that differs from the port.
pub(crate) fn write_tree(project: &Project, ported: &Ported, out: &Path, force: bool) -> Result<()> {
    let whole_out = std::path::absolute(out).unwrap_or_else(|_| out.to_path_buf());
    let mut files = BTreeMap::new();
    if let Some(root) = project.root.as_deref().filter(|_| project.whole_folder) {
        if same(root, &whole_out) {
            return Err(usage("--out is the folder being ported; use --write to change files in place").into());
        }
        list_folder(root, Path::new(""), &whole_out, &mut files)?;
    }
    for (input, file) in project.inputs.iter().zip(&ported.files) {
        if input.disk.as_deref().is_some_and(|disk| same(disk, &whole_out.join(&file.path))) {
            return Err(usage(format!("--out would overwrite {}; use --write to change it", input.shown)).into());
        }
        if input.text.is_ok() {
            files.insert(PathBuf::from(&file.path), Content::Ported(&file.text, input.disk.as_deref()));
        }
    }
    let (kept, new): (Vec<_>, Vec<_>) = files.iter().partition(|(path, content)| content.is_in(&whole_out.join(path)));
    let mut there = new.iter().map(|(path, _)| path.as_path());
    if let Some(path) = there.clone().find(|path| has_no_place(&whole_out, path)) {
        let path = out.join(path);
        let why = "the path is a folder, or its parent is a file; nothing was written";
        return Err(usage(format!("{} can't be written: {why}", path.display())).into());
    }
    let there = there.by_ref().filter(|path| whole_out.join(path).symlink_metadata().is_ok());
    let other: Vec<&Path> = there.collect();
    if !force && !other.is_empty() {
        return Err(usage(in_the_way(out, &other)).into());
    }
    fs::create_dir_all(&whole_out).with_context(|| format!("{} can't be created", out.display()))?;
    for (path, content) in new {
        content.write(&whole_out.join(path))?;
    }
    for (path, content) in kept {
        content.copy_permissions(&whole_out.join(path));
    }
    Ok(())
}

/// Whether the path of a file or folder of the tree is occupied by something else.
fn has_no_place(out: &Path, path: &Path) -> bool {
    let is_no_folder = |folder: &Path| {
        let folder = out.join(folder);
        folder.symlink_metadata().is_ok() && !folder.is_dir()
    };
    out.join(path).is_dir() || path.ancestors().skip(1).any(is_no_folder)
}

/// The contents of a file of the ported tree.
enum Content<'a> {
    /// The same as a file of the project.
    Copied(PathBuf),
    /// The ported text, and the original file.
    Ported(&'a str, Option<&'a Path>),
}

impl Content<'_> {
    /// Whether a file already has this content. An unreadable one does not.
    fn is_in(&self, file: &Path) -> bool {
        let is_same = || match self {
            Content::Ported(text, _) => {
                let size = fs::metadata(file)?.len();
                Ok::<_, std::io::Error>(size == text.len() as u64 && fs::read(file)? == text.as_bytes())
            }
            Content::Copied(from) => same_bytes(from, file),
        };
        is_same().unwrap_or(false)
    }

    fn write(&self, file: &Path) -> Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).with_context(|| format!("{} can't be created", folder.display()))?;
        }
        match self {
            Content::Copied(from) => {
                let copied =
                    New::beside(file).and_then(|new| new.fill(|path| fs::copy(from, path).map(drop))?.rename(file));
                copied.with_context(|| format!("{} can't be copied", from.display()))?;
            }
            Content::Ported(text, _) => {
                let written = New::beside(file).and_then(|new| new.fill(|path| fs::write(path, text))?.rename(file));
                written.with_context(|| format!("{} can't be written", file.display()))?;
                self.copy_permissions(file);
            }
        }
        Ok(())
    }

    fn copy_permissions(&self, to: &Path) {
        let from = match self {
            Content::Copied(from) => Some(from.as_path()),
            Content::Ported(_, from) => *from,
        };
        if let Some(metadata) = from.and_then(|from| fs::metadata(from).ok()) {
            fs::set_permissions(to, metadata.permissions()).ok();
        }
    }
}

/// Compares two files in chunks: a project may contain data larger than memory.
fn same_bytes(a: &Path, b: &Path) -> std::io::Result<bool> {
    if fs::metadata(a)?.len() != fs::metadata(b)?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (BufReader::new(fs::File::open(a)?), BufReader::new(fs::File::open(b)?));
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let count = left.len().min(right.len());
        if count == 0 {
            return Ok(left.len() == right.len());
        }
        if left[..count] != right[..count] {
            return Ok(false);
        }
        a.consume(count);
        b.consume(count);
    }
}

/// The maximum number of names in a message.
const NAMED: usize = 10;

fn in_the_way(out: &Path, files: &[&Path]) -> String {
    let named: Vec<String> = files.iter().take(NAMED).map(|file| out.join(file).display().to_string()).collect();
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    let differs =
        if files.len() == 1 { "1 file in it differs" } else { &format!("{} files in it differ", files.len()) };
    format!(
        "--out {}: {differs} from the port; nothing was written. --force overwrites:\n  {}{more}",
        out.display(),
        named.join("\n  ")
    )
}

/// Every file of a folder with its path in it; `out` may be inside and is skipped.
fn list_folder(folder: &Path, below: &Path, out: &Path, files: &mut BTreeMap<PathBuf, Content<'_>>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} can't be read", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = below.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            if !path.is_symlink() && !is_foreign(&path) && !same(&path, out) {
                list_folder(&path, &name, out, files)?;
            }
        } else if path.is_file() {
            files.insert(name, Content::Copied(path));
        }
    }
    Ok(())
}
