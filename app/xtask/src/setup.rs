//! `cargo xtask setup`: the requirements of the other commands, installed if they are missing.
//!
//! It prints one line per requirement, so that a second run reads like an inventory. Compiled tools are in
//! `$XDG_CACHE_HOME/portolan/tools` (`~/.cache/portolan/tools`), npm packages in `tests/browser/node_modules`; system
//! packages are installed with apt, through sudo if the user is not root. On systems without apt the run stops and
//! names what to install.

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

/// The purpose of the setup. A page can be built and served without a browser, but not tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// The site.
    Build,
    /// The site and every test.
    Test,
}

/// Paths of the tools. A value of this type means that they are installed.
pub(crate) struct Tools {
    /// C compiler that supports wasm32.
    pub(crate) clang: PathBuf,
    /// Archiver that goes with it.
    archiver: PathBuf,
    /// Folder of tree-sitter's own C headers.
    headers: PathBuf,
    /// Folders that come before the user's PATH: trunk, wasm-bindgen, wasm-opt.
    pub(crate) folders: Vec<PathBuf>,
}

impl Tools {
    /// A command in the checkout's root that can compile C for wasm32 and finds the tools. The variables are only set
    /// for the child.
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

    /// Variables that cargo builds read to compile C for wasm32.
    pub(crate) fn compilers(&self) -> [(&'static str, OsString); 3] {
        // NDEBUG: without it `assert` adds a second `__assert_fail` to the one in tree-sitter.
        let mut flags = OsString::from("-DNDEBUG -I");
        flags.push(&self.headers);
        [
            ("CC_wasm32_unknown_unknown", self.clang.clone().into()),
            ("AR_wasm32_unknown_unknown", self.archiver.clone().into()),
            ("CFLAGS_wasm32_unknown_unknown", flags),
        ]
    }
}

/// Installs what is missing and returns all paths.
pub(crate) fn run(need: Need) -> Result<Tools> {
    run_beside(need, |_| {})
}

/// The same. While only tools are still being compiled, `meanwhile` runs in parallel.
pub(crate) fn run_beside(need: Need, meanwhile: impl FnOnce(&Tools)) -> Result<Tools> {
    let start = Instant::now();
    println!("==> setup");
    let tools = rust::ensure(need).and_then(|()| install(need, meanwhile)).context("setup cannot continue")?;
    println!("    ready in {}", step::seconds(start));
    Ok(tools)
}

/// Compiles tools, and downloads everything else in parallel.
fn install(need: Need, meanwhile: impl FnOnce(&Tools)) -> Result<Tools> {
    std::thread::scope(|scope| {
        let compiling = scope.spawn(cargo_tools::ensure);
        let downloaded = download(need);
        if let (Err(error), false) = (&downloaded, compiling.is_finished()) {
            // Compiling may take minutes longer than the rest, and its result is kept in any case.
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

/// System, npm and pip packages.
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

/// All paths on a machine that was already set up.
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

/// One line of the inventory: already installed.
pub(crate) fn there(thing: &str, detail: impl std::fmt::Display) {
    println!("    {thing:<22} {detail}");
}

/// One line of the inventory: missing and being installed now.
pub(crate) fn missing(thing: &str, action: impl std::fmt::Display) {
    println!("    {thing:<22} missing: {action}");
}
