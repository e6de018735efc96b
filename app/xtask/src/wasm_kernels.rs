//! The tests of the forward pass as wasm, under Wasmtime.

use crate::setup::{self, Cost, Need};
use crate::step::run;
use crate::{surroundings, workspace};
use anyhow::{Result, bail};
use std::path::PathBuf;

/// The target that Wasmtime runs.
const WASI: &str = "wasm32-wasip1";

/// The target, and a Python with Wasmtime.
pub(crate) const WASMTIME: Need = Need {
    name: "Wasmtime",
    cost: Cost::Download,
    ensure: || {
        setup::target(WASI)?;
        python().map(drop)
    },
};

/// The Python that has Wasmtime.
fn python() -> Result<PathBuf> {
    setup::python_with_packages(&setup::cache()?.join("wasm"), &folder().join("requirements.txt"))
}

fn folder() -> PathBuf {
    workspace::root().join("tests").join("wasm")
}

/// Runs the tests with SIMD in module and engine and with it in neither. Optimised, otherwise they would take minutes.
pub(crate) fn test() -> Result<()> {
    let (target, folder, python) = (WASI, folder(), python()?);
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
