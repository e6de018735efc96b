//! `cargo xtask build`: the whole site into `dist/`.

use crate::setup::Tools;
use crate::step::{run, step};
use crate::{modules, workspace};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::process::{Command, Stdio};

/// Cargo's arguments that build the command `portolan`. Of the whole workspace, because for one package alone some of its
/// dependencies have fewer features, and everything that uses them would be compiled twice.
pub(crate) const PORTOLAN: [&str; 5] = ["build", "--quiet", "--workspace", "--bin", "portolan"];

/// Builds the site with the tools found by setup.
pub(crate) fn build(tools: &Tools) -> Result<()> {
    build_by(&|program| Ok(tools.command(program)))
}

/// The same with a function that creates commands from a program's name.
///
/// Trunk compiles the page and the engine, runs the site's own command, which adds every other page (the hook in
/// `Trunk.toml`), and only then replaces the old `dist/`. Everything is compiled before: Trunk would link its programs
/// one after another, each on one processor.
pub(crate) fn build_by(command: &(dyn Fn(&str) -> Result<Command> + Sync)) -> Result<()> {
    step("build the site into dist/", || {
        // Two Trunks in one checkout delete each other's staging folder.
        let target = workspace::root().join("target");
        std::fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
        let one_at_a_time = File::create(target.join("site.lock")).context("cannot write target/site.lock")?;
        one_at_a_time.lock().context("cannot lock target/site.lock")?;
        // The hook waits for it.
        let modules = modules::alone()?;
        compile(modules, command)?;
        let mut trunk = command("trunk")?;
        modules::keep_paths_out(&mut trunk)?;
        run(trunk.args(["build", "--release", "--offline"]))
    })
}

/// Compiles the programs of a build before the tools for building are available. Failures are reported by the build
/// that follows.
pub(crate) fn compile_ahead(tools: &Tools) {
    if let Ok(modules) = modules::alone() {
        println!("    the site is compiled in parallel with the tools");
        let quiet = |program: &str| {
            let mut command = tools.command(program);
            command.stderr(Stdio::null());
            Ok(command)
        };
        compile(modules, &quiet).ok();
    }
}

/// Compiles Trunk's programs with Trunk's options, and those that its hook needs.
fn compile(modules: File, command: &(dyn Fn(&str) -> Result<Command> + Sync)) -> Result<()> {
    std::thread::scope(|scope| {
        let of_hook = scope.spawn(|| {
            modules::compile(modules, command)?;
            run(command("cargo")?.args(PORTOLAN))
        });
        let mut cargo = command("cargo")?;
        modules::keep_paths_out(&mut cargo)?;
        cargo.args(["build", "--package", "web", "--bins", "--profile", "web", "--target", "wasm32-unknown-unknown"]);
        let compiled = run(&mut cargo);
        of_hook.join().unwrap_or_else(|_| bail!("the thread that compiles the modules ended early")).and(compiled)
    })
}
