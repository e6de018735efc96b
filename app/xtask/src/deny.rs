//! `cargo xtask deny`: checks dependencies for licences, sources and known vulnerabilities.
//!
//! Licences and sources need no network, and `tests/whole/licences.rs` checks them too. The lists of vulnerabilities are fetched each time:
//! cargo-deny's from RustSec's repository, npm's from its registry. So this is a separate job in continuous integration and not part of
//! `cargo xtask test`, which has to pass without a network, and whose result may not change with the lists.

use crate::step::{ask, run, step};
use crate::{setup, workspace};
use anyhow::{Context, Result, bail};

/// Every folder with a lock file of npm, relative to the checkout.
fn npm_folders() -> Result<Vec<String>> {
    let root = workspace::root().display().to_string();
    let files =
        ask("git", &["-C", &root, "ls-files", "*package-lock.json"]).context("git can't list the lock files")?;
    let folders: Vec<String> = files.lines().filter_map(|file| Some(file.rsplit_once('/')?.0.to_owned())).collect();
    if folders.is_empty() {
        bail!("git lists no package-lock.json");
    }
    Ok(folders)
}

/// Runs every check, and fails if one did.
pub(crate) fn check_all() -> Result<()> {
    let deny = setup::cargo_deny()?;
    let deny = |what: &[&str]| run(workspace::command(&deny).args(["--all-features", "check"]).args(what));
    let mut failed = Vec::new();
    let mut note = |heading: &str, done: Result<()>| {
        if let Err(error) = done {
            println!("    {error:#}");
            failed.push(heading.to_owned());
        }
    };
    let heading = "licences, bans and sources of crates";
    note(heading, step(heading, || deny(&["licenses", "bans", "sources"])));
    let heading = "advisories on crates (fetches RustSec's list)";
    note(heading, step(heading, || deny(&["advisories"])));
    for folder in npm_folders()? {
        let heading = format!("advisories on npm packages of {folder} (asks npm's registry)");
        let mut npm = workspace::command("npm");
        npm.args(["audit", "--audit-level=low"]).current_dir(workspace::root().join(&folder));
        note(&heading, step(&heading, || run(&mut npm)));
    }
    if !failed.is_empty() {
        bail!("failed, or unavailable without a network: {}", failed.join("; "));
    }
    Ok(())
}
