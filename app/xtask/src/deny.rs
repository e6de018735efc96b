//! `cargo xtask deny`: what the project takes from others, against the lists of known faults.
//!
//! Licences and sources need no network, and `tests/licences.rs` holds them too. The lists of faults are fetched anew each time:
//! cargo-deny's from RustSec's repository, npm's from its registry. So this is a job of its own in continuous integration and no part
//! of `cargo xtask test`, which has to pass without a network, and tomorrow as today.

use crate::step::{run, step};
use crate::{setup, workspace};
use anyhow::{Result, bail};

/// Folders with a lock file of npm.
const NPM: [&str; 3] = ["tests/browser", "app/codemod/peers", "app/uresnet/peers"];

/// Runs every check, and fails when one did.
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
    for folder in NPM {
        let heading = format!("advisories on npm packages of {folder} (asks npm's registry)");
        let mut npm = workspace::command("npm");
        npm.args(["audit", "--audit-level=low"]).current_dir(workspace::root().join(folder));
        note(&heading, step(&heading, || run(&mut npm)));
    }
    if !failed.is_empty() {
        bail!("not passed, or not to be had without a network: {}", failed.join("; "));
    }
    Ok(())
}
