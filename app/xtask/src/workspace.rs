//! Facts about the project: its root, and the versions in its lock file.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The checkout's root.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable for `cargo run`; the constant is for a binary that is started directly.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    here.ancestors().nth(2).map(Path::to_path_buf).unwrap_or(here)
}

/// Cargo's target folder.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// A command that starts in the checkout's root.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// This program's file. Tests recompile it while it runs, and its own path would then refer to the deleted file.
pub(crate) fn own_program() -> Result<PathBuf> {
    let running = std::env::current_exe().context("the system does not report the program's path")?;
    Ok(running.with_file_name(format!("xtask{}", std::env::consts::EXE_SUFFIX)))
}

/// The version of a package in a `Cargo.lock`.
pub(crate) fn locked_version<'lock>(lock: &'lock str, package: &str) -> Option<&'lock str> {
    let entry = lock.split("[[package]]").find(|entry| {
        entry.lines().any(|line| line.strip_prefix("name = ").is_some_and(|name| name.trim_matches('"') == package))
    })?;
    entry.lines().find_map(|line| line.strip_prefix("version = ")).map(|version| version.trim_matches('"'))
}

/// The required version of `wasm-bindgen-cli`: exactly that of the library.
pub(crate) fn wasm_bindgen_version() -> Result<String> {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let version = locked_version(&lock, "wasm-bindgen").context("Cargo.lock does not name wasm-bindgen")?;
    Ok(version.to_owned())
}

/// The C headers that tree-sitter includes for wasm32, which has no C library of its own.
pub(crate) fn tree_sitter_headers() -> Result<PathBuf> {
    let output = command("cargo")
        .args(["metadata", "--format-version", "1", "--filter-platform", "wasm32-unknown-unknown"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: it needs the network once, to fetch the crates that Cargo.lock names");
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("cannot read the output of `cargo metadata`")?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let manifest = packages
        .iter()
        .find(|package| package["name"] == "tree-sitter-language")
        .and_then(|package| package["manifest_path"].as_str())
        .context("no crate in Cargo.lock is named tree-sitter-language")?;
    let headers = Path::new(manifest).with_file_name("wasm").join("include");
    if !headers.is_dir() {
        bail!("tree-sitter-language no longer has a folder {}: check its build script", headers.display());
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a-b\"\nversion = \"1.2.3\"\n\n[[package]]\nname = \"a\"\nversion = \"0.4.0\"\ndependencies = [\n \"a-b\",\n]\n";
        assert_eq!(locked_version(lock, "a"), Some("0.4.0"));
        assert_eq!(locked_version(lock, "a-b"), Some("1.2.3"));
        assert_eq!(locked_version(lock, "b"), None);
    }
}
