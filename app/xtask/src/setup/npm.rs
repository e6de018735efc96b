//! npm packages: wasm-opt for the build, Playwright's driver for the browser tests. One lock file for both.

use super::{missing, there};
use crate::step::{on_path, run};
use crate::workspace;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// Installs what the lock file names, unless the last installation was of the same lock file.
pub(super) fn ensure() -> Result<PathBuf> {
    let folder = folder();
    let lock = std::fs::read_to_string(folder.join("package-lock.json"))
        .context("cannot read tests/browser/package-lock.json")?;
    let stamp = folder.join("node_modules").join(".installed-package-lock.json");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        there("npm packages", "there");
    } else {
        missing("npm packages", "npm downloads them; seconds");
        let npm = on_path("npm").context("npm is not on PATH")?;
        run(Command::new(npm).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&folder))?;
        std::fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))?;
    }
    Ok(programs())
}

/// The folder with the packages' programs.
pub(super) fn programs() -> PathBuf {
    folder().join("node_modules").join(".bin")
}

fn folder() -> PathBuf {
    workspace::root().join("tests").join("browser")
}
