//! The wasm32 standard libraries; rustfmt and clippy, which rustup's minimal profile leaves out.

use super::{missing, there};
use crate::modules;
use crate::step::{ask, on_path, run};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

const TARGETS: [&str; 2] = ["wasm32-unknown-unknown", modules::THREADED];

pub(super) fn ensure() -> Result<()> {
    let sysroot =
        ask("rustc", &["--print", "sysroot"]).context("cannot run rustc: install Rust from https://rustup.rs")?;
    let version = ask("rustc", &["--version"]).unwrap_or_default();
    there("Rust", version.trim_start_matches("rustc "));
    for target in TARGETS {
        target_in(&sysroot, target)?;
    }
    Ok(())
}

pub(super) fn ensure_linters() -> Result<()> {
    for (component, program) in [("rustfmt", "rustfmt"), ("clippy", "cargo-clippy")] {
        // rustup has a proxy for every program that it knows, so the program has to be run to find out.
        if ask(program, &["--version"]).is_none() {
            missing(component, "rustup downloads it; seconds");
            rustup(&["component", "add", component])?;
        }
    }
    Ok(())
}

/// Installs the standard library for another target.
pub(crate) fn target(name: &str) -> Result<()> {
    let sysroot = ask("rustc", &["--print", "sysroot"]).context("cannot run rustc")?;
    target_in(&sysroot, name)
}

fn target_in(sysroot: &str, name: &str) -> Result<()> {
    if Path::new(sysroot).join("lib/rustlib").join(name).join("lib").is_dir() {
        there(name, "there");
        return Ok(());
    }
    missing(name, "rustup downloads it; seconds");
    rustup(&["target", "add", name])
}

fn rustup(args: &[&str]) -> Result<()> {
    if on_path("rustup").is_none() {
        bail!("this Rust was not installed by rustup and has no {}: install Rust from https://rustup.rs", args[2]);
    }
    run(Command::new("rustup").args(args))
}
