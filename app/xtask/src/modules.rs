//! `cargo xtask modules FOLDER`: the modules that compute the network, one for each instruction set. Trunk can't build
//! them: wasm-bindgen does not support the target of those with threads, and none needs it. Trunk's hook calls this
//! (`Trunk.toml`).

use crate::paths;
use crate::setup;
use crate::step::run;
use crate::workspace;
use anyhow::{Context, Result};
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// The target of a module without threads.
const ALONE: &str = "wasm32-unknown-unknown";

/// The target whose standard library has threads.
pub(crate) const THREADED: &str = "wasm32-wasip1-threads";

/// Its linker's options: initial memory of the same size as in the scripts (`crew.js`, `page.mjs`), and a maximum of
/// all that wasm32 can address; the target's default is a quarter of it.
pub(crate) const LINKED: (&str, &str) = (
    "CARGO_TARGET_WASM32_WASIP1_THREADS_RUSTFLAGS",
    "-Clink-arg=--initial-memory=4194304 -Clink-arg=--max-memory=4294967296",
);

/// `app/forward` as modules: their output paths, the target, and the features that choose their instructions.
pub(crate) const MODULES: [(&str, &str, &str); 5] = [
    ("forward.wasm", ALONE, "simd128"),
    ("relaxed_forward.wasm", ALONE, "relaxed-simd"),
    ("scalar_forward.wasm", ALONE, ""),
    ("threads/threaded_forward.wasm", THREADED, "simd128,threads"),
    ("threads/threaded_relaxed_forward.wasm", THREADED, "relaxed-simd,threads"),
];

/// Builds the modules into a folder: kernels for speed, the rest for size.
pub(crate) fn build(folder: &Path) -> Result<()> {
    let _alone = alone()?;
    for (place, target, features) in MODULES {
        run(&mut cargo(workspace::command("cargo"), target, features)?)?;
        let built = workspace::target().join(target).join("forward").join("forward.wasm");
        let place = folder.join(place);
        let within = place.parent().unwrap_or(folder);
        std::fs::create_dir_all(within).with_context(|| format!("cannot create {}", within.display()))?;
        let mut optimise = workspace::command(setup::npm_program("wasm-opt"));
        run(optimise.args(["-O4", "--strip-debug", "--strip-producers"]).arg(built).arg("-o").arg(place))?;
    }
    Ok(())
}

/// Compiles them for a later build. `command` creates a command from a program's name.
pub(crate) fn compile(_alone: File, command: &(dyn Fn(&str) -> Result<Command> + Sync)) -> Result<()> {
    MODULES.iter().try_for_each(|(_, target, features)| run(&mut cargo(command("cargo")?, target, features)?))
}

/// Cargo writes every module to the same path, so concurrent builds would overwrite each other's.
pub(crate) fn alone() -> Result<File> {
    let target = workspace::target();
    std::fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
    let lock = File::create(target.join("modules.lock")).context("cannot write target/modules.lock")?;
    lock.lock().context("cannot lock target/modules.lock")?;
    Ok(lock)
}

fn cargo(mut cargo: Command, target: &str, features: &str) -> Result<Command> {
    cargo.args(["build", "--quiet", "--package", "forward", "--profile", "forward", "--target", target]);
    cargo.args(["--features", features]);
    keep_paths_out(&mut cargo)?;
    Ok(cargo)
}

/// Keeps local paths out of modules compiled by a command, if they are published; and passes the linker options that
/// modules with threads need.
pub(crate) fn keep_paths_out(command: &mut Command) -> Result<()> {
    let flags = paths::flags()?;
    // Cargo adds them to those of its configuration file.
    if !flags.is_empty() {
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", &flags);
    }
    let (name, linked) = LINKED;
    command.env(name, [linked, &flags].join(" ").trim_end());
    Ok(())
}
