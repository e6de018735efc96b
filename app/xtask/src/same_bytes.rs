//! `cargo xtask same-bytes`: the same files ported by everything that ports, compared byte for byte.
//!
//! These are the debug and release builds of the command, and the engine's module under Node and in Chromium.
//! `tests/browser/same_bytes_table.mjs` compares them; `cargo xtask test` runs a part of it (`same_bytes.test.mjs`).

use crate::corpus::{self, Part};
use crate::setup::{self, Tools};
use crate::step::{on_path, run, step};
use crate::{dist, workspace};
use anyhow::{Context, Result};

/// Builds the programs, and compares them on this many files of published packages in addition to the fixtures.
pub(crate) fn compare(tools: &Tools, files: usize) -> Result<()> {
    if let Err(error) = corpus::ensure(Part::Whole) {
        println!("    without the missing packages: {error:#}");
    }
    dist::build(tools)?;
    let mut table = workspace::command(on_path("node").context("node is gone since setup")?);
    table.env("PORTOLAN_CHROMIUM", setup::chromium().context("Chromium is gone since setup")?);
    let sums = workspace::target().join("same-bytes.json");
    table.arg("tests/browser/same_bytes_table.mjs").arg(files.to_string()).arg(&sums);
    for (name, flags, folder) in [("debug", &[][..], "debug"), ("release", &["--release"], "release")] {
        let mut cargo = workspace::command("cargo");
        cargo.args(dist::PORTOLAN).args(flags);
        step(format!("the command, {name}"), || run(&mut cargo))?;
        let command = workspace::target().join(folder).join(format!("portolan{}", std::env::consts::EXE_SUFFIX));
        table.arg(format!("{name}={}", command.display()));
    }
    step("ports by all programs", || run(&mut table))?;
    println!("    files and SHA-256 of each port, for other browsers: {}", sums.display());
    Ok(())
}
