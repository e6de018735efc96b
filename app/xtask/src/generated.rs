//! `cargo xtask generated`: generated training programs, ported and run beside their ports.
//!
//! `tests/generated` has the programs and the judge, in Python; this module builds the command and starts it.

use crate::step::{run, step};
use crate::{setup, workspace};
use anyhow::Result;
use std::process::Command;

/// Runs it with these arguments: those of `tests/generated/run.py`.
pub(crate) fn run_with(arguments: &[&str]) -> Result<()> {
    step("build the command", || run(Command::new("cargo").args(["build", "--release", "-p", "cli"])))?;
    let python = setup::NEWEST_PYTORCH.ensure()?;
    let script = workspace::root().join("tests/generated/run.py");
    step("generated programs", || run(Command::new(python).arg(script).args(arguments)))
}
