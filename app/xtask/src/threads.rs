//! `cargo xtask threads FOLDER`: the modules that compute the network with several threads, which Trunk can't build:
//! wasm-bindgen doesn't bind their target. Trunk's hook calls it (`Trunk.toml`).

use crate::setup;
use crate::step::run;
use crate::workspace;
use anyhow::{Context, Result};
use std::path::Path;

/// The target whose standard library has threads.
pub(crate) const TARGET: &str = "wasm32-wasip1-threads";

/// Its linker's options: as much memory to begin with as the scripts bring (`crew.js`, `page.mjs`), and up to all that
/// wasm32 can address; the target's own bound is a quarter of it.
pub(crate) const LINKED: (&str, &str) = (
    "CARGO_TARGET_WASM32_WASIP1_THREADS_RUSTFLAGS",
    "-Clink-arg=--initial-memory=4194304 -Clink-arg=--max-memory=4294967296",
);

/// The program as a module: the name it is delivered under, and the features that choose its instructions.
const MODULES: [(&str, &str); 2] =
    [("threaded_forward", "simd128,threads"), ("threaded_relaxed_forward", "relaxed-simd,threads")];

/// Builds the modules into a folder, as small and fast as Trunk builds the others.
pub(crate) fn build(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, features) in MODULES {
        let mut cargo = workspace::command("cargo");
        cargo.args(["build", "--quiet", "--package", "web", "--bin", "threaded_forward", "--profile", "web"]);
        cargo.args(["--target", TARGET, "--no-default-features", "--features", features]);
        run(cargo.env(LINKED.0, LINKED.1))?;
        let built = workspace::target().join(TARGET).join("web").join("threaded_forward.wasm");
        let mut optimise = workspace::command(setup::npm_program("wasm-opt"));
        optimise.args(["-O4", "--strip-debug", "--strip-producers"]).arg(built);
        run(optimise.arg("-o").arg(folder.join(name).with_extension("wasm")))?;
    }
    Ok(())
}
