//! `cargo xtask build`: the whole site into `dist/`.

use crate::setup::Tools;
use crate::step::{run, step};
use crate::{modules, workspace};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::process::Command;

/// Builds the site with the tools that setup found.
pub(crate) fn build(tools: &Tools) -> Result<()> {
    build_by(&|program| Ok(tools.command(program)))
}

/// The same with what makes a command of a program's name.
///
/// Trunk compiles the page and the engine, has the site's own command add every other page (the hook in `Trunk.toml`), and only
/// then puts the result where the old `dist/` was. What the hook will ask for is compiled beside it: Trunk's programs
/// are put together one after another, each on one processor.
pub(crate) fn build_by(command: &(dyn Fn(&str) -> Result<Command> + Sync)) -> Result<()> {
    step("build the site into dist/", || {
        // Two Trunks in one checkout empty each other's staging folder.
        let target = workspace::root().join("target");
        std::fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
        let one_at_a_time = File::create(target.join("site.lock")).context("cannot write target/site.lock")?;
        one_at_a_time.lock().context("cannot lock target/site.lock")?;
        // The hook waits for it.
        let modules = modules::alone()?;
        std::thread::scope(|scope| {
            let ahead = scope.spawn(|| {
                modules::compile(modules, command)?;
                run(command("cargo")?.args(["build", "--quiet", "--package", "cli"]))
            });
            let mut trunk = command("trunk")?;
            let built =
                modules::keep_paths_out(&mut trunk).and_then(|()| run(trunk.args(["build", "--release", "--offline"])));
            ahead.join().unwrap_or_else(|_| bail!("the thread that compiles the modules ended early")).and(built)
        })
    })
}
