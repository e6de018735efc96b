//! `cargo xtask build`: the whole site into `dist/`.

use crate::setup::Tools;
use crate::step::{run, step};
use anyhow::Result;

/// Trunk compiles the page and the engine, has the site's own command add every other page (the hook in `Trunk.toml`),
/// and only then puts the result where the old `dist/` was.
pub(crate) fn build(tools: &Tools) -> Result<()> {
    step("build the site into dist/", || run(tools.command("trunk").args(["build", "--release", "--offline"])))
}
