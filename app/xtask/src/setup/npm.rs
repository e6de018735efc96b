//! npm packages: wasm-opt for the build, Playwright's driver for the browser tests, with one lock file for both; and
//! the programs that a benchmark measures, with a lock file of their own.

use super::{missing, there};
use crate::step::{on_path, run};
use crate::workspace;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs the packages of build and tests.
pub(super) fn ensure() -> Result<()> {
    ensure_in(&folder())
}

/// Installs the packages of a folder's lock file, unless the last installation was from the same lock file.
pub(crate) fn ensure_in(folder: &Path) -> Result<()> {
    let file = folder.join("package-lock.json");
    let lock = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let stamp = folder.join("node_modules").join(".installed-package-lock.json");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        there("npm packages", "there");
    } else {
        missing("npm packages", "npm downloads them; seconds");
        let npm = on_path("npm").context("npm is not on PATH")?;
        run(Command::new(npm).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder))?;
        std::fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))?;
    }
    Ok(())
}

/// The folder with the packages' programs.
pub(super) fn programs() -> PathBuf {
    folder().join("node_modules").join(".bin")
}

/// A program of the packages.
pub(crate) fn program(name: &str) -> PathBuf {
    programs().join(if cfg!(windows) { format!("{name}.cmd") } else { name.to_owned() })
}

fn folder() -> PathBuf {
    workspace::root().join("tests").join("browser")
}
