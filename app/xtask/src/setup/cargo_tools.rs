//! trunk and wasm-bindgen, compiled only for this project if PATH has no suitable ones.

use super::{missing, there};
use crate::step::{ask, on_path, run_heard, seconds};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The next minor release requires a newer compiler than `rust-version`.
const TRUNK: &str = "0.21.14";

const CARGO_DENY: &str = "0.20.2";

/// The interval between two progress lines about one tool.
const PAUSE: Duration = Duration::from_secs(20);

/// A tool that `cargo install` compiles.
struct Tool {
    package: &'static str,
    program: &'static str,
    version: String,
    /// Flags of `cargo install`.
    flags: &'static [&'static str],
    /// Its optimisation level. A higher one takes longer to compile than all its runs save.
    optimised: &'static str,
    minutes: &'static str,
}

/// Both tools, each the user's own or compiled.
pub(super) fn ensure() -> Result<()> {
    let tools = [
        Tool {
            package: "trunk",
            program: "trunk",
            version: TRUNK.to_owned(),
            // Downloading is disabled: every tool that trunk calls is on its PATH by then.
            flags: &["--locked", "--no-default-features"],
            // It copies files and starts programs.
            optimised: "0",
            minutes: "3 to 5 minutes on two idle processors",
        },
        Tool {
            package: "wasm-bindgen-cli",
            program: "wasm-bindgen",
            version: workspace::wasm_bindgen_version()?,
            // The HTTP client of its test runner is built without TLS, which is half of the work.
            flags: &["--no-default-features", "--bin", "wasm-bindgen"],
            // It reads and writes every module.
            optimised: "1",
            minutes: "1 to 2 minutes on two idle processors",
        },
    ];
    // In parallel: the last part of a tool's compilation uses only one processor.
    std::thread::scope(|scope| {
        for thread in tools.each_ref().map(|tool| scope.spawn(|| tool.ensure())) {
            thread.join().unwrap_or_else(|_| bail!("a thread that compiles a tool ended early"))?;
        }
        Ok(())
    })
}

/// The program that checks the project's dependencies. Only `cargo xtask deny` needs it.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    let tool = Tool {
        package: "cargo-deny",
        program: "cargo-deny",
        version: CARGO_DENY.to_owned(),
        flags: &["--locked", "--no-default-features"],
        optimised: "0",
        minutes: "3 to 5 minutes on two processors",
    };
    Ok(tool.ensure()?.map_or_else(|| tool.program.into(), |bin| bin.join(tool.program)))
}

/// Path of the compiled tools: `bin/` inside has to be on PATH.
pub(super) fn folder() -> Result<PathBuf> {
    Ok(cache()?.join("tools"))
}

/// The project's folder in the user's cache.
pub(crate) fn cache() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .or_else(|| set("LOCALAPPDATA"))
        .context("neither XDG_CACHE_HOME nor HOME is set: no folder for the build tools")?;
    Ok(cache.join("portolan"))
}

impl Tool {
    /// Folder to add to PATH; none if the user's own tool has the correct version.
    fn ensure(&self) -> Result<Option<PathBuf>> {
        let name = format!("{} {}", self.program, self.version);
        if let Some(own) = on_path(self.program).filter(|own| self.fits(own)) {
            there(&name, own.display());
            // An older one of the project's would come first on the PATH of builds.
            std::fs::remove_file(folder()?.join("bin").join(format!(
                "{}{}",
                self.program,
                std::env::consts::EXE_SUFFIX
            )))
            .ok();
            return Ok(None);
        }
        let root = folder()?;
        let bin = root.join("bin");
        let program = bin.join(format!("{}{}", self.program, std::env::consts::EXE_SUFFIX));
        if program.is_file() && self.fits(&program) {
            there(&name, program.display());
            return Ok(Some(bin));
        }
        missing(&name, format!("cargo install compiles it; {}, once", self.minutes));
        let start = Instant::now();
        std::fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
        let build = root.join("build").join(self.program);
        let mut cargo = Command::new("cargo");
        cargo
            .args(["install", self.package, "--version", &self.version, "--force", "--root"])
            .arg(&root)
            .args(self.flags)
            // Not the checkout, whose own settings are for the checkout.
            .current_dir(&root)
            .env("CARGO_TARGET_DIR", &build)
            .env("CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS", "fallback")
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", self.optimised);
        run_counted(&mut cargo, &name)?;
        // Half a gigabyte that is not needed again; after a failure it is kept to speed up the next attempt.
        std::fs::remove_dir_all(&build).ok();
        println!("    {name} installed in {}", seconds(start));
        Ok(Some(bin))
    }

    fn fits(&self, program: &PathBuf) -> bool {
        ask(program, &["--version"]).is_some_and(|line| line.split_whitespace().any(|word| word == self.version))
    }
}

/// Runs a cargo that compiles, and prints its progress from time to time: a line for each of some hundred crates would
/// hide other output.
fn run_counted(cargo: &mut Command, name: &str) -> Result<()> {
    let (start, mut crates, mut said) = (Instant::now(), 0, Instant::now());
    run_heard(cargo, |line| {
        crates += usize::from(line.trim_start().starts_with("Compiling "));
        if said.elapsed() >= PAUSE {
            said = Instant::now();
            there(name, format!("{crates} crates compiled or started, {}", seconds(start)));
        }
    })
}
