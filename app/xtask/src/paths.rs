//! What a program that is published may not know: where it was built. The compiler writes the paths of sources into messages of
//! panics, and they differ from machine to machine, so the same commit would give other bytes elsewhere.
//!
//! It costs whoever builds for himself a second compilation of everything, so it is done where `PORTOLAN_RELEASE` is set: where the
//! site is published, and by `cargo xtask reproduce`.

use crate::step::ask;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// The variable that says that what is built is published.
pub(crate) const RELEASE: &str = "PORTOLAN_RELEASE";

/// Flags of the compiler that put the same words in the place of this machine's paths; nothing where nothing is published.
pub(crate) fn flags() -> Result<String> {
    if std::env::var_os(RELEASE).is_none() {
        return Ok(String::new());
    }
    let sysroot = ask("rustc", &["--print", "sysroot"]).context("rustc is missing")?;
    let version = ask("rustc", &["-vV"]).unwrap_or_default();
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: ")).unwrap_or_default();
    // Where the library's sources are not installed, this is what its paths are called already.
    let library = PathBuf::from(sysroot).join("lib").join("rustlib").join("src").join("rust");
    let mut places = vec![(workspace::root(), "/portolan".to_owned()), (library, format!("/rustc/{commit}"))];
    places.extend(registries()?.into_iter().map(|folder| (folder, "/crates".to_owned())));
    let mut flags = Vec::new();
    for (place, word) in places {
        let place = place.display().to_string();
        if place.contains(char::is_whitespace) {
            bail!("`{place}` contains a space, which cargo can't pass on: build published files elsewhere");
        }
        flags.push(format!("--remap-path-prefix={place}={word}"));
    }
    Ok(flags.join(" "))
}

/// The folders into which cargo unpacks crates.
fn registries() -> Result<Vec<PathBuf>> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let home = set("CARGO_HOME").or_else(|| set("HOME").map(|home| home.join(".cargo")));
    let folder = home.context("neither CARGO_HOME nor HOME is set")?.join("registry").join("src");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    Ok(folders)
}
