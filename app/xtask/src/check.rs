//! `cargo xtask test`: every check, ordered by how quickly it fails, in defined [surroundings].

use crate::corpus::Part;
use crate::step::{run, seconds, step};
use crate::{browser_tests, corpus, dist, setup, size, surroundings, workspace};
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::time::Instant;

/// Runs the steps and stops at the first that fails.
pub(crate) fn run_all() -> Result<()> {
    let start = Instant::now();
    surroundings::clear_home()?;
    step("packages for tests", bring)?;
    let cargo = |line: &str| run(surroundings::command("cargo")?.args(line.split_whitespace()));
    step("format", || cargo("fmt --all --check"))?;
    step("native lints", || cargo("clippy --workspace --all-targets -- -D warnings"))?;
    step("wasm32 lints", || {
        cargo("clippy --package web --package forward --target wasm32-unknown-unknown -- -D warnings")
    })?;
    step("tests", || cargo("test --workspace"))?;
    corpus::run_part(Part::Bounded, None)?;
    step("wasm kernels, without SIMD and with all of it", wasm_tests)?;
    step("recipes", || cargo("run --quiet --package cli -- recipes test"))?;
    dist::build_by(&|program| surroundings::command(program))?;
    step("sizes", || size::run(size::Limit::Ceiling))?;
    step("browser tests", browser_tests::run_all)?;
    println!("\nAll checks passed in {}.", seconds(start));
    Ok(())
}

/// Additional requirements of single tests. They are installed first, since this uses the network with the user's own
/// settings.
fn bring() -> Result<()> {
    setup::target(WASI)?;
    wasm_python()?;
    corpus::ensure(Part::Bounded).map(drop)
}

/// The target that Wasmtime runs.
const WASI: &str = "wasm32-wasip1";

/// The Python that has Wasmtime.
fn wasm_python() -> Result<PathBuf> {
    setup::python_with_packages(&setup::cache()?.join("wasm"), &wasm_folder().join("requirements.txt"))
}

fn wasm_folder() -> PathBuf {
    workspace::root().join("tests").join("wasm")
}

/// The tests of the forward pass under Wasmtime, with SIMD in module and engine and with it in neither. Optimised,
/// otherwise they would take minutes.
fn wasm_tests() -> Result<()> {
    let (target, folder, python) = (WASI, wasm_folder(), wasm_python()?);
    let tests = |features: &str, engine: &str| {
        let mut cargo = surroundings::command("cargo")?;
        cargo.args([
            "test",
            "--quiet",
            "--release",
            "--package",
            "uresnet",
            "--target",
            target,
            "--features",
            features,
        ]);
        // A list, because words in one string can't contain spaces.
        let runner = [python.display().to_string(), folder.join("run.py").display().to_string(), engine.to_string()];
        cargo.arg("--config").arg(format!("target.{target}.runner={}", serde_json::json!(runner)));
        // Whole-program optimisation is only for releases.
        cargo.envs([("CARGO_PROFILE_RELEASE_LTO", "off"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")]);
        run(&mut cargo)
    };
    // Each runs on one thread.
    std::thread::scope(|scope| {
        let with_all = scope.spawn(|| tests("relaxed-simd", "simd"));
        let without = tests("", "plain");
        with_all.join().unwrap_or_else(|_| bail!("the thread of the tests with SIMD ended early")).and(without)
    })
}
