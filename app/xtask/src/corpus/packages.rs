//! PyPI packages by name, version and hash, of which the Python files are kept.

use super::shown;
use crate::setup;
use crate::step::{ask, run};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The platform of the wheels, the same on every machine: most are for any system, and of the others these are the
/// smallest.
const PLATFORMS: [&str; 3] = ["macosx_14_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64"];

/// Extracts the Python files from a wheel: the wheel, the folder.
const UNPACK: &str = "
import pathlib, sys, zipfile
wheel, folder = sys.argv[1:]
with zipfile.ZipFile(wheel) as files:
    files.extractall(folder, [name for name in files.namelist() if name.endswith('.py')])
";

/// Downloads the missing packages of a list; returns the folder of each.
pub(super) fn ensure(list: &Path, cache: &Path, python: &Path) -> Result<Vec<PathBuf>> {
    let text = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let lines: Vec<&str> = lines(&text).collect();
    let folders: Vec<PathBuf> = lines.iter().map(|line| cache.join(folder_name(line))).collect();
    let missing: Vec<_> = lines.iter().zip(&folders).filter(|(line, folder)| !is_there(line, folder)).collect();
    let name = list.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let thing = format!("packages ({name})");
    if missing.is_empty() {
        setup::there(&thing, format!("{} in {}", lines.len(), cache.display()));
        return Ok(folders);
    }
    setup::missing(&thing, format!("pip downloads {} of {}", missing.len(), lines.len()));
    for (line, folder) in missing {
        fetch(line, folder, cache, python).with_context(|| {
            format!(
                "`{line}` of {name} is not in {} and can't be downloaded: the corpus needs the network once",
                cache.display()
            )
        })?;
    }
    Ok(folders)
}

/// The packages of a list, which is a requirements file.
fn lines(list: &str) -> impl Iterator<Item = &str> {
    list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// `name==1.2 --hash=…` is in `name-1.2`.
fn folder_name(line: &str) -> String {
    line.split_whitespace().next().unwrap_or_default().replace("==", "-")
}

/// Whether exactly the package of the line was completely unpacked.
fn is_there(line: &str, folder: &Path) -> bool {
    fs::read_to_string(stamp(folder)).is_ok_and(|unpacked| unpacked == line)
}

fn stamp(folder: &Path) -> PathBuf {
    folder.join(".package")
}

fn fetch(line: &str, folder: &Path, cache: &Path, python: &Path) -> Result<()> {
    let wheels = cache.join("wheels");
    fs::remove_dir_all(&wheels).ok();
    fs::remove_dir_all(folder).ok();
    fs::create_dir_all(&wheels).with_context(|| format!("cannot create {}", wheels.display()))?;
    let requirement = wheels.join("requirement.txt");
    fs::write(&requirement, line).with_context(|| format!("cannot write {}", requirement.display()))?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]);
    pip.args(["--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.12"]);
    pip.args(PLATFORMS.iter().flat_map(|platform| ["--platform", platform]));
    run(pip.arg("--dest").arg(&wheels).arg("-r").arg(&requirement))?;
    let wheel = fs::read_dir(&wheels)?.filter_map(|entry| Some(entry.ok()?.path()));
    let Some(wheel) = wheel.into_iter().find(|file| file.extension().is_some_and(|end| end == "whl")) else {
        bail!("pip left no wheel in {}", wheels.display());
    };
    run(Command::new(python).args(["-c", UNPACK]).arg(wheel).arg(folder))?;
    fs::write(stamp(folder), line).with_context(|| format!("cannot write into {}", folder.display()))?;
    fs::remove_dir_all(&wheels).ok();
    Ok(())
}

/// Every Python file of the packages, with its display name. The packages alternate, so that a run that is stopped
/// early has covered part of each.
pub(super) fn python_files(cache: &Path, folders: &[PathBuf]) -> Result<Vec<(String, PathBuf)>> {
    let mut all = Vec::new();
    for (package, folder) in folders.iter().enumerate() {
        let mut files = Vec::new();
        walk(folder, &is_python, &mut files).with_context(|| format!("cannot read {}", folder.display()))?;
        files.sort();
        let count = files.len().max(1);
        // At any time, the same fraction of a long package as of a short one.
        all.extend(files.into_iter().enumerate().map(|(n, file)| (n * 1_000_000 / count, package, file)));
    }
    all.sort();
    Ok(all.into_iter().map(|(_, _, file)| (shown(cache, &file), file)).collect())
}

/// All files of projects, except those of tools, as shown and on disk.
pub(super) fn all_files(below: &Path, projects: &[PathBuf]) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for folder in projects {
        walk(folder, &|_| true, &mut files).with_context(|| format!("cannot read {}", folder.display()))?;
    }
    Ok(files.into_iter().map(|file| (shown(below, &file), file)).collect())
}

/// The folders in a folder, each of them a project.
pub(super) fn projects(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

/// CPython's own tests, which have every form of the language, if this Python was installed with them. Files that are no
/// Python on purpose are among them; CPython refuses those too.
pub(super) fn cpython_tests(python: &Path) -> Result<Vec<(String, PathBuf)>> {
    let where_from = "import os, test; print(os.path.dirname(os.path.abspath(test.__file__)))";
    let Some(folder) = ask(python, &["-c", where_from]).map(PathBuf::from) else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    walk(&folder, &is_python, &mut files).with_context(|| format!("cannot read {}", folder.display()))?;
    files.sort();
    Ok(files.into_iter().map(|file| (format!("cpython/{}", shown(&folder, &file)), file)).collect())
}

fn is_python(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "py")
}

fn walk(folder: &Path, takes: &dyn Fn(&Path) -> bool, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            if path.file_name().is_none_or(|name| name != ".git") {
                walk(&path, takes, files)?;
            }
        } else if path.is_file() && takes(&path) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_requirements_file() {
        let list = "# Words.\n\na-b==1.2 --hash=sha256:00\n  # more\nc==3 --hash=sha256:11\n";
        assert_eq!(lines(list).map(folder_name).collect::<Vec<_>>(), ["a-b-1.2", "c-3"]);
    }

    /// Without a hash the registry could serve different files tomorrow.
    #[test]
    fn every_package_has_version_and_hash() {
        let folder = crate::workspace::root().join("tests/corpus");
        for list in ["bounded.txt", "packages.txt"] {
            let text = fs::read_to_string(folder.join(list)).unwrap();
            for line in lines(&text) {
                let (package, hash) = line.split_once(" --hash=sha256:").unwrap_or_else(|| panic!("{list}: {line}"));
                assert!(package.contains("==") && hash.len() == 64, "{list}: {line}");
            }
        }
    }
}
