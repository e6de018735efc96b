//! The command writes what the library ports.

use super::portolan;
use codemod::{Options, RecipeSet, port};
use python::SourceFile;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Every file below a folder, in order.
fn files(root: &Path) -> Vec<SourceFile> {
    let (mut open, mut found) = (vec![root.to_path_buf()], Vec::new());
    while let Some(folder) = open.pop() {
        let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).partition(|path| path.is_dir());
        open.extend(folders);
        for file in files {
            let path = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.push(SourceFile { path, text: fs::read_to_string(file).unwrap() });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

#[test]
fn a_project_with_modes() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/projects/cristae");
    let out = TempDir::new().unwrap();
    let folder = out.path().join("ported");
    let ran = portolan(&project, &["port", "--target", "hpu", "--out", folder.to_str().unwrap(), "."]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let options = Options { target: "hpu".to_owned(), ..Options::default() };
    let ported = port(&files(&project), RecipeSet::embedded(), &options);
    let texts: Vec<_> = ported.files.into_iter().map(|file| SourceFile { path: file.path, text: file.text }).collect();
    assert_eq!(files(&folder), texts);
}
