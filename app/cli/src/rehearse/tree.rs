//! The ported project as a folder to run: files that the port read are written, all others are links.
//!
//! Python searches for a program's modules next to the target of a link, so sources can't be links.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The contents of one folder of the tree, by name.
#[derive(Default)]
struct Folder<'t> {
    texts: BTreeMap<&'t str, &'t str>,
    folders: BTreeMap<&'t str, Folder<'t>>,
}

/// Writes texts, by their paths with `/`, into `out`, and links to everything else in `root`.
pub(super) fn write<'t>(texts: impl Iterator<Item = (&'t str, &'t str)>, root: &Path, out: &Path) -> Result<()> {
    let mut tree = Folder::default();
    for (path, text) in texts {
        let (mut folder, mut rest) = (&mut tree, path);
        while let Some((first, behind)) = rest.split_once('/') {
            folder = folder.folders.entry(first).or_default();
            rest = behind;
        }
        folder.texts.insert(rest, text);
    }
    tree.write(root, out)
}

impl Folder<'_> {
    fn write(&self, from: &Path, to: &Path) -> Result<()> {
        fs::create_dir_all(to).with_context(|| format!("{} can't be created", to.display()))?;
        for (name, text) in &self.texts {
            let file = to.join(name);
            fs::write(&file, text).with_context(|| format!("{} can't be written", file.display()))?;
        }
        for (name, folder) in &self.folders {
            folder.write(&from.join(name), &to.join(name))?;
        }
        for entry in fs::read_dir(from).with_context(|| format!("{} can't be read", from.display()))?.flatten() {
            let name = entry.file_name();
            let known =
                name.to_str().is_some_and(|name| self.texts.contains_key(name) || self.folders.contains_key(name));
            if !known {
                link(&entry.path(), &to.join(&name))
                    .with_context(|| format!("{} can't be linked", entry.path().display()))?;
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(std::path::absolute(from)?, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    let from = std::path::absolute(from)?;
    if from.is_dir() {
        std::os::windows::fs::symlink_dir(from, to)
    } else {
        std::os::windows::fs::symlink_file(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::write;
    use std::fs;

    #[test]
    fn sources_are_files_and_the_rest_is_linked() {
        let (old, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = |path: &str, text: &str| {
            let file = old.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        file("train.py", "old");
        file("src/net.py", "old");
        file("src/shape.yaml", "8");
        file("data/a.bin", "1");
        let out = new.path().join("port");
        write([("train.py", "new"), ("src/net.py", "new too")].into_iter(), old.path(), &out).unwrap();
        let read = |path: &str| fs::read_to_string(out.join(path)).unwrap();
        assert_eq!(["train.py", "src/net.py", "src/shape.yaml", "data/a.bin"].map(read), ["new", "new too", "8", "1"]);
        let is_link = |path: &str| out.join(path).symlink_metadata().unwrap().is_symlink();
        assert_eq!(
            ["train.py", "src", "src/net.py", "src/shape.yaml", "data"].map(is_link),
            [false, false, false, true, true]
        );
        assert_eq!(fs::read_to_string(old.path().join("train.py")).unwrap(), "old");
    }
}
