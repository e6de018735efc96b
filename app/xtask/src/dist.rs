//! `cargo xtask build`: the whole site into `dist/`.

use crate::setup::Tools;
use crate::step::{run, step};
use crate::workspace;
use anyhow::{Context, Result};
use std::path::Path;

/// Trunk compiles the page and the engine, the site's own command adds every other page, and only then the result takes
/// the place of the old `dist/`: a server that is looking at it never sees half a site.
pub(crate) fn build(tools: &Tools) -> Result<()> {
    let root = workspace::root();
    let staging = root.join("target").join("site");
    step("page and engine for the browser", || {
        run(tools.command("trunk").args(["build", "--release", "--offline", "--dist"]).arg(&staging))
    })?;
    step("pages of the site", || {
        let mut command = tools.command("cargo");
        command.args(["run", "--quiet", "--package", "cli", "--", "site", "build"]);
        run(command.arg("--port-page").arg(staging.join("index.html")).arg("--out").arg(&staging))?;
        replace(&root.join("dist"), &staging, &root.join("target").join("site-before"))
    })
}

/// Puts the new folder where the old one was.
fn replace(dist: &Path, new: &Path, old: &Path) -> Result<()> {
    if old.exists() {
        std::fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    if dist.exists() {
        std::fs::rename(dist, old).with_context(|| format!("cannot move {} away", dist.display()))?;
    }
    std::fs::rename(new, dist).with_context(|| format!("cannot create {}", dist.display()))?;
    std::fs::remove_dir_all(old).ok();
    Ok(())
}
