//! `cargo xtask build`: the whole site into `dist/`.

use crate::setup::Tools;
use crate::step::{run, step};
use crate::workspace;
use anyhow::{Context, Result};
use std::fs::File;
use std::process::Command;

/// Trunk compiles the page and the engine, has the site's own command add every other page (the hook in `Trunk.toml`),
/// and only then puts the result where the old `dist/` was.
pub(crate) fn build(tools: &Tools) -> Result<()> {
    build_by(tools.command("trunk"))
}

/// The same with a given command for Trunk.
pub(crate) fn build_by(mut trunk: Command) -> Result<()> {
    step("build the site into dist/", || {
        // Two Trunks in one checkout empty each other's staging folder.
        let target = workspace::root().join("target");
        std::fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
        let one_at_a_time = File::create(target.join("site.lock")).context("cannot write target/site.lock")?;
        one_at_a_time.lock().context("cannot lock target/site.lock")?;
        run(trunk.args(["build", "--release", "--offline"]))
    })
}
