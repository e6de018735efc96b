//! `cargo xtask setup`: what the other verbs need, installed when it is missing.
//!
//! One line per thing, so that a second run reads as an inventory. Compiled tools go to
//! `$XDG_CACHE_HOME/portolan/tools` (`~/.cache/portolan/tools`), npm packages to `tests/browser/node_modules`; system
//! packages come from apt, through sudo where the user is not root. On systems without apt the run stops and says what
//! to install.

mod browser;
mod c_compiler;
mod cargo_tools;
mod npm;
mod python;
mod rust;
mod system;

use crate::{step, workspace};
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

pub(crate) use browser::{chromium, firefox};
pub(crate) use cargo_tools::{cache, cargo_deny};
pub(crate) use npm::{ensure_in as npm_packages, program as npm_program};
pub(crate) use python::{
    NEWEST as NEWEST_PYTORCH, OLDEST as OLDEST_PYTORCH, TENSORFLOW, python_with_packages, python_with_pip,
};
pub(crate) use rust::target;
pub(crate) use system::debootstrap as ensure_debootstrap;

/// What the caller is about to do. A page can be built and served without a browser, tests cannot run without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// The site.
    Build,
    /// The site and every test.
    Test,
}

/// Where the tools are. Holding it means that they are there.
pub(crate) struct Tools {
    /// C compiler that knows wasm32.
    pub(crate) clang: PathBuf,
    /// Archiver that goes with it.
    archiver: PathBuf,
    /// Folder of tree-sitter's own C headers.
    headers: PathBuf,
    /// Folders that stand before the user's PATH: trunk, wasm-bindgen, wasm-opt.
    pub(crate) folders: Vec<PathBuf>,
}

impl Tools {
    /// A command in the checkout's root that can compile C for wasm32 and finds the tools. The variables are set for
    /// the child alone.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = workspace::command(program);
        command.envs(self.variables());
        command
    }

    fn variables(&self) -> Vec<(&'static str, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.folders.iter().cloned().chain(std::env::split_paths(&path));
        let mut variables = self.compilers().to_vec();
        variables.push(("PATH", std::env::join_paths(folders).unwrap_or(path)));
        variables
    }

    /// What cargo builds read to compile C for wasm32.
    pub(crate) fn compilers(&self) -> [(&'static str, OsString); 3] {
        // NDEBUG: without it `assert` pulls in a second `__assert_fail` beside the one tree-sitter brings along.
        let mut flags = OsString::from("-DNDEBUG -I");
        flags.push(&self.headers);
        [
            ("CC_wasm32_unknown_unknown", self.clang.clone().into()),
            ("AR_wasm32_unknown_unknown", self.archiver.clone().into()),
            ("CFLAGS_wasm32_unknown_unknown", flags),
        ]
    }
}

/// Installs what is missing and returns where everything is.
pub(crate) fn run(need: Need) -> Result<Tools> {
    run_beside(need, |_| {})
}

/// The same. As long as tools are being compiled when all else is there, `meanwhile` works beside them.
pub(crate) fn run_beside(need: Need, meanwhile: impl FnOnce(&Tools)) -> Result<Tools> {
    let start = Instant::now();
    println!("==> setup");
    let tools = rust::ensure(need).and_then(|()| install(need, meanwhile)).context("setup cannot continue")?;
    println!("    ready in {}", step::seconds(start));
    Ok(tools)
}

/// Compiles what has to be compiled, and beside it downloads all else.
fn install(need: Need, meanwhile: impl FnOnce(&Tools)) -> Result<Tools> {
    std::thread::scope(|scope| {
        let compiling = scope.spawn(cargo_tools::ensure);
        let downloaded = download(need);
        if let (Err(error), false) = (&downloaded, compiling.is_finished()) {
            // Minutes may pass until the rest is done, and its work is not lost.
            eprintln!("xtask: {error:#}; build tools are still being compiled for the next run");
        }
        if let (Ok(tools), false) = (&downloaded, compiling.is_finished()) {
            meanwhile(tools);
        }
        let compiled = compiling.join().unwrap_or_else(|_| bail!("the thread that compiles tools ended early"));
        let mut tools = downloaded?;
        tools.folders.extend(compiled?);
        Ok(tools)
    })
}

/// System packages, npm's and pip's.
fn download(need: Need) -> Result<Tools> {
    system::ensure(need)?;
    let (clang, archiver) = c_compiler::ensure()?;
    let headers = workspace::tree_sitter_headers()?;
    let folders = vec![npm::ensure()?];
    if need == Need::Test {
        browser::ensure()?;
        python::NEWEST.ensure()?;
        python::TENSORFLOW.ensure()?;
    }
    Ok(Tools { clang, archiver, headers, folders })
}

/// Where everything is on a machine that was set up before.
pub(crate) fn found() -> Result<Tools> {
    let (clang, archiver) = c_compiler::find().context("no C compiler for wasm32: run cargo xtask setup")?;
    let headers = workspace::tree_sitter_headers()?;
    Ok(Tools { clang, archiver, headers, folders: vec![npm::programs(), cargo_tools::folder()?.join("bin")] })
}

/// `cargo xtask env`: the variables as lines for a POSIX shell.
pub(crate) fn print_env() -> Result<()> {
    for (name, value) in found()?.variables() {
        println!("export {name}={}", step::quoted(&value));
    }
    Ok(())
}

/// One line of the inventory: the thing is there already.
pub(crate) fn there(thing: &str, detail: impl std::fmt::Display) {
    println!("    {thing:<22} {detail}");
}

/// One line of the inventory: the thing is missing and is being installed now.
pub(crate) fn missing(thing: &str, action: impl std::fmt::Display) {
    println!("    {thing:<22} missing: {action}");
}
