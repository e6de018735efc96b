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
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

pub(crate) use browser::{chromium, firefox};
pub(crate) use cargo_tools::{cache, cargo_deny};
pub(crate) use npm::{ensure_in as npm_packages, program as npm_program};
pub(crate) use python::{
    Framework, NEWEST as NEWEST_PYTORCH, OLDEST as OLDEST_PYTORCH, TENSORFLOW, python_with_packages, python_with_pip,
};
pub(crate) use rust::target;
pub(crate) use system::debootstrap as ensure_debootstrap;

/// Something that only some commands need: a page can be built and served without a browser, but not tested.
pub(crate) struct Need {
    pub(crate) name: &'static str,
    pub(crate) cost: Cost,
    /// Installs it if it is missing.
    pub(crate) ensure: fn() -> Result<()>,
}

/// What installing something takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Seconds: everything else waits for it.
    Little,
    /// A large download, beside other work.
    Download,
    /// Minutes of both processors, beside the downloads.
    Compilation,
}

/// rustfmt and clippy.
pub(crate) const LINTERS: Need = Need { name: "rustfmt and clippy", cost: Cost::Little, ensure: rust::ensure_linters };

/// Programs that tests call.
pub(crate) const PROGRAMS: Need =
    Need { name: "git, Python and ShellCheck", cost: Cost::Little, ensure: system::ensure_programs };

/// Two browsers, and fonts.
pub(crate) const BROWSERS: Need = Need { name: "Chromium and Firefox", cost: Cost::Download, ensure: browser::ensure };

/// What builds the site.
pub(crate) const SITE_TOOLS: Need =
    Need { name: "trunk and wasm-bindgen", cost: Cost::Compilation, ensure: cargo_tools::ensure };

/// The PyTorch of the tests.
pub(crate) const PYTORCH: Need =
    Need { name: "PyTorch", cost: Cost::Download, ensure: || NEWEST_PYTORCH.ensure().map(drop) };

/// The TensorFlow of the tests.
pub(crate) const WITH_TENSORFLOW: Need =
    Need { name: "TensorFlow", cost: Cost::Download, ensure: || TENSORFLOW.ensure().map(drop) };

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

/// Requirements that are installed while other work is done.
pub(crate) struct Pending<'scope> {
    running: Vec<(&'static str, ScopedJoinHandle<'scope, Result<()>>)>,
}

impl Pending<'_> {
    /// Waits until some of them are installed.
    pub(crate) fn wait(&mut self, needs: &[Need]) -> Result<()> {
        self.wait_if(|name| needs.iter().any(|need| need.name == name))
    }

    /// Whether something is still being installed.
    pub(crate) fn is_busy(&self) -> bool {
        self.running.iter().any(|(_, thread)| !thread.is_finished())
    }

    /// Waits until all are.
    fn wait_for_all(&mut self) -> Result<()> {
        self.wait_if(|_| true)
    }

    fn wait_if(&mut self, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
        for (name, thread) in self.running.extract_if(.., |(name, _)| is_wanted(name)) {
            let start = Instant::now();
            let done = thread.join().unwrap_or_else(|_| bail!("the thread that installs {name} ended early"));
            done.context("setup cannot continue")?;
            if start.elapsed() > WORTH_TELLING {
                println!("    waited {} for {name}", step::seconds(start));
            }
        }
        Ok(())
    }
}

/// Shorter waits are not reported.
const WORTH_TELLING: Duration = Duration::from_secs(1);

/// Installs what every command needs and what takes seconds, and begins to install the rest.
pub(crate) fn begin<'scope, 'need>(
    scope: &'scope Scope<'scope, '_>,
    needs: impl IntoIterator<Item = &'need Need>,
) -> Result<Pending<'scope>> {
    let start = Instant::now();
    println!("==> setup");
    let mut needed: Vec<&Need> = Vec::new();
    for need in needs {
        if needed.iter().all(|other| other.name != need.name) {
            needed.push(need);
        }
    }
    let of = |cost: Cost| needed.iter().filter(move |need| need.cost == cost);
    let mut running = Vec::new();
    let quick = rust::ensure().and_then(|()| {
        running.extend(of(Cost::Compilation).map(|need| (need.name, scope.spawn(need.ensure))));
        base()?;
        of(Cost::Little).try_for_each(|need| (need.ensure)())
    });
    if let (Err(error), false) = (&quick, running.is_empty()) {
        eprintln!("xtask: {error:#}; build tools are still being compiled for the next run");
    }
    quick.context("setup cannot continue")?;
    running.extend(of(Cost::Download).map(|need| (need.name, scope.spawn(need.ensure))));
    println!("    ready to begin in {}", step::seconds(start));
    Ok(Pending { running })
}

/// Installs what is missing and returns all paths. While something is still being compiled or downloaded, `meanwhile` runs in parallel.
pub(crate) fn run_beside<'need>(
    needs: impl IntoIterator<Item = &'need Need>,
    meanwhile: impl FnOnce(&Tools),
) -> Result<Tools> {
    let start = Instant::now();
    let tools = std::thread::scope(|scope| {
        let mut pending = begin(scope, needs)?;
        let tools = found()?;
        if pending.is_busy() {
            meanwhile(&tools);
        }
        pending.wait_for_all()?;
        Ok::<_, anyhow::Error>(tools)
    })?;
    println!("    ready in {}", step::seconds(start));
    Ok(tools)
}

/// What every command needs, beside Rust.
fn base() -> Result<()> {
    system::ensure_node()?;
    c_compiler::ensure()?;
    npm::ensure()
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
