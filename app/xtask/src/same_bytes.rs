//! `cargo xtask same-bytes`: the same files ported by everything that ports, byte for byte.
//!
//! The command as it is built while one works and as it is delivered, and the engine's module under Node and in Chromium. What
//! compares them is `tests/browser/same_bytes_table.mjs`; `cargo xtask test` has a bounded part of it (`same_bytes.test.mjs`).

use crate::corpus::{self, Part};
use crate::setup::{self, Tools};
use crate::step::{on_path, run, step};
use crate::{dist, workspace};
use anyhow::{Context, Result};

/// Builds what is compared, and compares it over so many files of published packages beside the fixtures.
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
        cargo.args(["build", "--quiet", "--package", "cli"]).args(flags);
        step(format!("the command, {name}"), || run(&mut cargo))?;
        let command = workspace::target().join(folder).join(format!("portolan{}", std::env::consts::EXE_SUFFIX));
        table.arg(format!("{name}={}", command.display()));
    }
    step("ports by all programs", || run(&mut table))?;
    println!("    files and SHA-256 of each port, for other browsers: {}", sums.display());
    Ok(())
}
