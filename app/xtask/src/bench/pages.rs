//! `cargo xtask bench typing`, `bench notebook`, `bench day` and `bench lighthouse`: the built site in Chromium. They measure the contents
//! of `dist/`, and are only meaningful on an otherwise idle machine.

use crate::setup;
use crate::step::{on_path, run, step};
use crate::workspace;
use anyhow::{Context, Result};
use std::path::Path;

/// The time from keypress to painted frame, and how long a large project blocks the page.
pub(crate) fn run_typing() -> Result<()> {
    in_browser("typing and large projects on the page at /port/", Path::new("app/web/benches/typing.mjs"), &[])
}

/// The time from opening or editing a notebook to its port, compared with a Python file's.
pub(crate) fn run_notebook() -> Result<()> {
    in_browser("a notebook of 100 cells on the page at /port/", Path::new("app/web/benches/notebook.mjs"), &[])
}

/// The memory of a page that stays open for many edits.
pub(crate) fn run_day(edits: &[&str]) -> Result<()> {
    in_browser("2,000 edits on the page at /port/, or as many as named", Path::new("app/web/benches/day.mjs"), edits)
}

/// Lighthouse on the pages named, or on all.
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
