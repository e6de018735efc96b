//! Python packages, in environments of their own.

use crate::step::{on_path, run};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python of an environment in `folder` with the packages of a list, made once for each list.
pub(crate) fn python_with_packages(folder: &Path, list: &Path) -> Result<PathBuf> {
    let python = on_path("python3").context("python3 is not on PATH: run cargo xtask setup")?;
    let folder = folder.join("python");
    let own = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted = std::fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let stamp = folder.join("installed-requirements.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(own);
    }
    run(Command::new(python).args(["-m", "venv"]).arg(&folder))?;
    run(Command::new(&own).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(list))?;
    std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(own)
}
