//! `cargo xtask bench typing` and `cargo xtask bench lighthouse`: the built site in Chromium. Both measure what `dist/` holds,
//! and mean something on a machine that does nothing else.

use crate::setup;
use crate::step::{on_path, run, step};
use crate::workspace;
use anyhow::{Context, Result};
use std::path::Path;

/// From a key to its picture, and how long a large project keeps the page from answering.
pub(crate) fn run_typing() -> Result<()> {
    in_browser("typing and large projects on the page at /port/", Path::new("app/web/benches/typing.mjs"), &[])
}

/// Lighthouse over the pages named, or over all.
pub(crate) fn run_lighthouse(pages: &[&str]) -> Result<()> {
    let folder = Path::new("app/site/lighthouse");
    setup::npm_packages(&workspace::root().join(folder))?;
    in_browser("Lighthouse, as a phone and as a desk", &folder.join("lighthouse.mjs"), pages)
}

fn in_browser(heading: &str, script: &Path, words: &[&str]) -> Result<()> {
    let browser = setup::chromium().context("no Chromium: cargo xtask setup")?;
    let node = on_path("node").context("no node: cargo xtask setup")?;
    step(heading, || run(workspace::command(&node).env("PORTOLAN_CHROMIUM", &browser).arg(script).args(words)))
}
