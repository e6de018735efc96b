//! `cargo xtask bench …`: starts the benchmarks, which are next to the code they measure.

mod forward;
mod growth;
mod pages;
mod port;
mod site;

pub(crate) use forward::compare;
pub(crate) use growth::run_growth;
pub(crate) use pages::{run_day, run_lighthouse, run_notebook, run_typing};
pub(crate) use port::run_port;
pub(crate) use site::run_site;

use crate::step::{run, step};
use crate::workspace;
use anyhow::Result;

/// `port` and `diff` are bench targets of the crate `codemod`.
pub(crate) fn run_bench(what: &str) -> Result<()> {
    step(format!("bench {what} (release build)"), || {
        run(workspace::command("cargo").args(["bench", "--quiet", "--package", "codemod", "--bench", what]))
    })
}
