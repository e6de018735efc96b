//! The ported project in a folder of its own.

use crate::interruption::{self, Interrupted};
use crate::project::{Project, is_foreign, same};
use crate::replacement::New;
use crate::said::say_line;
use crate::usage::usage;
use anyhow::{Context, Result};
use codemod::Ported;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// Writes the ported tree into `out`. If the project is a folder, everything else in it is copied as well, links as
/// links; what is not in the copy is reported. Nothing is written if there is a conflict: a file of the project, or,
/// without `force`, a file that differs from the port. An interruption leaves complete files and no others. Returns whether
/// all that belongs to the project is in the copy.
pub(crate) fn write_tree(project: &Project, ported: &Ported, out: &Path, force: bool) -> Result<bool> {
    let whole_out = std::path::absolute(out).unwrap_or_else(|_| out.to_path_buf());
    let mut listing = Listing::default();
    if let Some(root) = project.root.as_deref().filter(|_| project.whole_folder) {
        if same(root, &whole_out) {
            return Err(usage("--out is the folder being ported; use --write to change files in place").into());
        }
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
        listing.add(&root, &root, Path::new(""), &whole_out);
    }
    let Listing { mut files, left_out, skipped, .. } = listing;
    for (input, file) in project.inputs.iter().zip(&ported.files) {
        if input.disk.as_deref().is_some_and(|disk| same(disk, &whole_out.join(&file.path))) {
            return Err(usage(format!("--out would overwrite {}; use --write to change it", input.shown)).into());
        }
        if input.text.is_ok() {
            files.insert(PathBuf::from(&file.path), Content::Ported(file.written(), input.disk.as_deref()));
        }
    }
    files.extend(ported.new_files().map(|file| (PathBuf::from(&file.path), Content::Ported(&file.text, None))));
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
    let root = project.root.as_deref().filter(|_| project.whole_folder && !whole_out.exists());
    fs::create_dir_all(&whole_out).with_context(|| format!("{} can't be created", out.display()))?;
    let is_folder = |content: &Content<'_>| matches!(content, Content::Folder(_));
    let _watch = interruption::watch();
    for (path, content) in new {
        let written = if interruption::came().is_none() { content.write(&whole_out.join(path)) } else { Ok(()) };
        if interruption::came().is_some() {
            let what = format!("{} has only a part of the port, which the same command completes", out.display());
            return Err(Interrupted::saying(what).into());
        }
        written?;
    }
    for (path, content) in kept.into_iter().filter(|(_, content)| !is_folder(content)) {
        content.copy_permissions(&whole_out.join(path));
    }
    // Last, and from the inside: nothing can be written into some of them.
    for (path, content) in files.iter().rev().filter(|(_, content)| is_folder(content)) {
        content.copy_permissions(&whole_out.join(path));
    }
    if let Some(root) = root {
        Content::Folder(root.to_path_buf()).copy_permissions(&whole_out);
    }
    if !skipped.is_empty() {
        let names: Vec<&str> = skipped.iter().map(String::as_str).collect();
        say_line!("portolan: not copied to {}, tools' and third-party files: {}", out.display(), names.join(", "));
    }
    for (path, why) in &left_out {
        say_line!("portolan: not copied to {}: {}, {why}", out.display(), path.display());
    }
    Ok(!left_out.iter().any(|(_, why)| matches!(why, LeftOut::Unreadable(_))))
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
    /// A folder like this one, which may be empty.
    Folder(PathBuf),
    /// A link to this path.
    Link(PathBuf),
    /// The same as a file of the project.
    Copied(PathBuf),
    /// The ported text, and the original file.
    Ported(&'a str, Option<&'a Path>),
}

impl Content<'_> {
    /// Whether a file already has this content. An unreadable one does not.
    fn is_in(&self, file: &Path) -> bool {
        let is_same = || match self {
            Content::Folder(_) => Ok(file.is_dir()),
            Content::Link(to) => Ok(fs::read_link(file)? == *to),
            _ if file.is_symlink() => Ok(false),
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
            Content::Folder(_) => {
                fs::create_dir_all(file).with_context(|| format!("{} can't be created", file.display()))?;
            }
            Content::Link(to) => {
                let linked = New::link_beside(file, to).and_then(|new| new.rename(file));
                linked.with_context(|| format!("{} can't be linked", file.display()))?;
            }
            Content::Copied(from) => {
                let copied = New::private_beside(file).and_then(|new| new.fill(|path| copy(from, path))?.rename(file));
                copied.with_context(|| format!("{} can't be copied", from.display()))?;
            }
            Content::Ported(text, from) => {
                let new = if from.is_some() { New::private_beside(file) } else { New::beside(file) };
                let fill = |path: &Path| {
                    fs::write(path, text)?;
                    self.copy_permissions(path);
                    Ok(())
                };
                let written = new.and_then(|new| new.fill(fill)?.rename(file));
                written.with_context(|| format!("{} can't be written", file.display()))?;
            }
        }
        Ok(())
    }

    fn copy_permissions(&self, to: &Path) {
        let from = match self {
            Content::Link(_) => None,
            Content::Folder(from) | Content::Copied(from) => Some(from.as_path()),
            Content::Ported(_, from) => *from,
        };
        if let Some(metadata) = from.and_then(|from| fs::metadata(from).ok()) {
            fs::set_permissions(to, metadata.permissions()).ok();
        }
    }
}

/// Copies a file with its permissions, which also hold while it is copied. It may be data that takes minutes, which an
/// interruption does not wait for.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    const CHUNK: u64 = 64 * 1024 * 1024;
    let (from, mut to) = (fs::File::open(from)?, fs::File::options().write(true).open(to)?);
    let permissions = from.metadata()?.permissions();
    to.set_permissions(permissions.clone())?;
    while interruption::came().is_none() && std::io::copy(&mut (&from).take(CHUNK), &mut to)? > 0 {}
    match interruption::came() {
        Some(_) => Err(ErrorKind::Interrupted.into()),
        // Again: whatever is written into a file takes the right to run as its owner from it.
        None => to.set_permissions(permissions),
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

/// Why something of the project is not in the copy.
enum LeftOut {
    LinkOut,
    LinkToNothing,
    LinkIntoSkipped,
    Submodule,
    NoFile,
    TheCopy,
    Unreadable(std::io::Error),
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeftOut::LinkOut => f.write_str("a link to a path outside the project"),
            LeftOut::LinkToNothing => f.write_str("a link to nothing"),
            LeftOut::LinkIntoSkipped => f.write_str("a link to a path that is not copied"),
            LeftOut::Submodule => f.write_str("a submodule's link to its repository"),
            LeftOut::NoFile => f.write_str("neither a file nor a folder"),
            LeftOut::TheCopy => f.write_str("the folder of the copy itself, whose files are not ported"),
            LeftOut::Unreadable(error) => write!(f, "which can't be read: {error}"),
        }
    }
}

/// The contents of a project's folder.
#[derive(Default)]
struct Listing<'a> {
    /// With the path in the project.
    files: BTreeMap<PathBuf, Content<'a>>,
    left_out: Vec<(PathBuf, LeftOut)>,
    /// The names of tools' and third-party folders.
    skipped: BTreeSet<String>,
}

impl Listing<'_> {
    /// Adds a folder of the project `root`; `out` may be inside and is skipped.
    fn add(&mut self, root: &Path, folder: &Path, below: &Path, out: &Path) {
        let entries = match fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.left_out.push((below.to_path_buf(), LeftOut::Unreadable(error))),
        };
        for path in entries.into_iter().map(|entry| entry.path()) {
            let name = below.join(path.file_name().unwrap_or_default());
            let content = if path.is_symlink() {
                link(root, below, &path, out)
            } else if path.is_dir() {
                if is_foreign(&path) {
                    self.skipped.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
                } else if same(&path, out) {
                    self.left_out.push((name, LeftOut::TheCopy));
                } else {
                    self.add(root, &path, &name, out);
                    self.files.insert(name, Content::Folder(path));
                }
                continue;
            } else if !path.is_file() {
                Err(LeftOut::NoFile)
            } else if name.ends_with(".git") {
                // It has the place of the repository, as seen from here.
                Err(LeftOut::Submodule)
            } else {
                fs::File::open(&path).map_err(LeftOut::Unreadable).map(|_| Content::Copied(path))
            };
            match content {
                Ok(content) => drop(self.files.insert(name, content)),
                Err(why) => self.left_out.push((name, why)),
            }
        }
    }
}

/// A link in the folder `below` of a project, if the copy has what it leads to.
fn link<'a>(root: &Path, below: &Path, link: &Path, out: &Path) -> std::result::Result<Content<'a>, LeftOut> {
    let real = fs::canonicalize(link).map_err(|_| LeftOut::LinkToNothing)?;
    let inside = real.strip_prefix(root).map_err(|_| LeftOut::LinkOut)?;
    let is_left_out = |part: &Path| is_foreign(&root.join(part)) || same(&root.join(part), out);
    if inside.ancestors().filter(|part| !part.as_os_str().is_empty()).any(is_left_out) {
        return Err(LeftOut::LinkIntoSkipped);
    }
    if !cfg!(unix) {
        // Links need a privilege there.
        return if real.is_file() { Ok(Content::Copied(real)) } else { Err(LeftOut::LinkIntoSkipped) };
    }
    let up = below.components().map(|_| Component::ParentDir);
    let to: PathBuf = up.chain(inside.components()).collect();
    Ok(Content::Link(if to.as_os_str().is_empty() { PathBuf::from(".") } else { to }))
}
