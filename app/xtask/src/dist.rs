//! `cargo xtask build`: the whole site into `dist/`.

use crate::setup::Tools;
use crate::step::{run, step};
use anyhow::Result;

/// Trunk compiles the page and the engine and calls the site's own command as a hook (see `Trunk.toml`), so that
/// `dist/` is replaced at once and never half of it.
pub(crate) fn build(tools: &Tools) -> Result<()> {
    step("build the site into dist/", || run(tools.command("trunk").args(["build", "--release", "--offline"])))
}
