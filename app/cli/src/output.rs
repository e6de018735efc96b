//! Where a port goes: stdout, the files themselves, or another folder.

use crate::project::{Project, is_foreign, same};
use crate::usage::usage;
use anyhow::{Context, Result};
use codemod::Ported;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prints to stdout. Nobody listening any more is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("stdout can't be written"),
        _ => Ok(()),
    }
}

/// Writes every changed file back. Each is replaced as a whole or not at all; one that fails is reported, the others
/// are still written. What came from stdin goes to stdout, changed or not. Says whether all went well.
pub(crate) fn write_back(project: &Project, ported: &Ported) -> Result<bool> {
    let mut fine = true;
    for (input, file) in project.inputs.iter().zip(&ported.files) {
        match &input.disk {
            None if input.text.is_ok() => print(&file.text)?,
            Some(disk) if file.changed => {
                if let Err(error) = replace(disk, file.text.as_bytes()) {
                    eprintln!("portolan: {}: the file can't be written: {error}", input.shown);
                    fine = false;
                }
            }
            _ => {}
        }
    }
    Ok(fine)
}

/// Replaces a file through a new one beside it, so that no reader ever sees half of it. Permissions stay; a link stays
/// a link.
fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let file = fs::canonicalize(file)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let beside = file.with_file_name(format!(".{name}.{}.portolan", std::process::id()));
    let write = || {
        let mut out = fs::File::create_new(&beside)?;
        out.write_all(bytes)?;
        out.set_permissions(fs::metadata(&file)?.permissions())?;
        out.sync_all()?;
        fs::rename(&beside, &file)
    };
    write().inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// Writes the ported tree into `out`. When the project is a folder, everything else in it is copied as well, except
/// other people's code and what tools leave behind.
pub(crate) fn write_tree(project: &Project, ported: &Ported, out: &Path) -> Result<()> {
    let whole_out = std::path::absolute(out).unwrap_or_else(|_| out.to_path_buf());
    if let Some(root) = project.root.as_deref().filter(|_| project.whole_folder) {
        if same(root, &whole_out) {
            return Err(usage("--out names the folder that is ported; use --write to change files in place").into());
        }
        copy_folder(root, &whole_out, &whole_out)?;
    }
    for (input, file) in project.inputs.iter().zip(&ported.files) {
        let target = whole_out.join(&file.path);
        if input.disk.as_deref().is_some_and(|disk| same(disk, &target)) {
            return Err(usage(format!("--out would write over {}; use --write to change it", input.shown)).into());
        }
        if input.text.is_ok() {
            write_file(&target, file.text.as_bytes())?;
            copy_permissions(input.disk.as_deref(), &target);
        }
    }
    Ok(())
}

fn write_file(file: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    }
    fs::write(file, bytes).with_context(|| format!("{} can't be written", file.display()))
}

fn copy_permissions(from: Option<&Path>, to: &Path) {
    if let Some(metadata) = from.and_then(|from| fs::metadata(from).ok()) {
        fs::set_permissions(to, metadata.permissions()).ok();
    }
}

fn copy_folder(from: &Path, to: &Path, out: &Path) -> Result<()> {
    let entries = fs::read_dir(from).with_context(|| format!("{} can't be read", from.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    fs::create_dir_all(to).with_context(|| format!("{} can't be made", to.display()))?;
    for path in paths {
        let target = to.join(path.file_name().unwrap_or_default());
        let link = path.is_symlink();
        if path.is_dir() {
            // `out` may lie inside the project: it must not be copied into itself.
            if !link && !is_foreign(&path) && !same(&path, out) {
                copy_folder(&path, &target, out)?;
            }
        } else if path.is_file() {
            fs::copy(&path, &target).with_context(|| format!("{} can't be copied", path.display()))?;
        }
    }
    Ok(())
}
