//! The wasm32 standard library; rustfmt and clippy, which rustup's minimal profile leaves out.

use super::{Need, missing, there};
use crate::step::{ask, on_path, run};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";

pub(super) fn ensure(need: Need) -> Result<()> {
    let sysroot =
        ask("rustc", &["--print", "sysroot"]).context("cannot run rustc: install Rust from https://rustup.rs")?;
    let version = ask("rustc", &["--version"]).unwrap_or_default();
    there("Rust", version.trim_start_matches("rustc "));
    if Path::new(&sysroot).join("lib/rustlib").join(TARGET).join("lib").is_dir() {
        there(TARGET, "there");
    } else {
        missing(TARGET, "rustup downloads it; seconds");
        rustup(&["target", "add", TARGET])?;
    }
    if need == Need::Test {
        for (component, program) in [("rustfmt", "rustfmt"), ("clippy", "cargo-clippy")] {
            // rustup leaves a proxy for every program it knows, so only asking tells.
            if ask(program, &["--version"]).is_none() {
                missing(component, "rustup downloads it; seconds");
                rustup(&["component", "add", component])?;
            }
        }
    }
    Ok(())
}

fn rustup(args: &[&str]) -> Result<()> {
    if on_path("rustup").is_none() {
        bail!("this Rust was not installed by rustup and has no {}: install Rust from https://rustup.rs", args[2]);
    }
    run(Command::new("rustup").args(args))
}
