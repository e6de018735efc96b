//! `cargo xtask reproduce`: two builds of the same commit, in separate folders, produce the same bytes.

use crate::step::{run, step};
use crate::{paths, workspace};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of different length and depth.
const FOLDERS: [&str; 2] = ["one", "another/one_that_lies_deeper"];

/// Builds the commit twice, from scratch, and compares the two file by file.
pub(crate) fn build_twice() -> Result<()> {
    let place = workspace::target().join("reproduce");
    let folders = FOLDERS.map(|name| place.join(name));
    for folder in &folders {
        fs::remove_dir_all(folder).ok();
        // With its history, which shows when a guide was last changed.
        run(workspace::command("git").args(["clone", "--quiet", "--no-hardlinks", "."]).arg(folder))?;
        step(format!("the site, built in {}", folder.display()), || {
            let mut cargo = workspace::command("cargo");
            cargo.args(["xtask", "build"]).current_dir(folder).env_remove("CARGO_TARGET_DIR").env(paths::RELEASE, "1");
            run(&mut cargo)
        })?;
    }
    let [one, another] = folders.map(|folder| folder.join("dist"));
    let files: BTreeSet<PathBuf> = files(&one)?.into_iter().chain(files(&another)?).collect();
    let same =
        |file: &PathBuf| matches!((fs::read(one.join(file)), fs::read(another.join(file))), (Ok(a), Ok(b)) if a == b);
    let differing: Vec<&PathBuf> = files.iter().filter(|file| !same(file)).collect();
    println!("\n{} files, {} of them differ", files.len(), differing.len());
    differing.iter().for_each(|file| println!("    {}", file.display()));
    if !differing.is_empty() {
        bail!("the two builds differ");
    }
    Ok(())
}

/// Every file below a folder, as a path from there.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut open, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap_or(&path).to_path_buf());
            }
        }
    }
    Ok(found)
}
