//! Keeps the build location out of published programs. The compiler writes source paths into panic messages, and they
//! differ from machine to machine, so the same commit would produce different bytes elsewhere.
//!
//! For a local build this would mean a second compilation of everything, so it is done only if `PORTOLAN_RELEASE` is
//! set: where the site is published, and by `cargo xtask reproduce`.

use crate::step::ask;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// The variable that marks a published build.
pub(crate) const RELEASE: &str = "PORTOLAN_RELEASE";

/// Compiler flags that replace this machine's paths by fixed ones; none if nothing is published.
pub(crate) fn flags() -> Result<String> {
    if std::env::var_os(RELEASE).is_none() {
        return Ok(String::new());
    }
    let sysroot = ask("rustc", &["--print", "sysroot"]).context("rustc is missing")?;
    let version = ask("rustc", &["-vV"]).unwrap_or_default();
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: ")).unwrap_or_default();
    // If the library's sources are not installed, its paths already have this form.
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
