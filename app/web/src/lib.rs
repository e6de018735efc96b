//! The views of the site that compute: each a folder here, each built as programs of its own, so that a page loads only
//! what it shows.
//!
//! [`port`] ports a script: its page (`bin/page.rs`) and the worker that holds the engine (`bin/engine.rs`).
//!
//! [`launch`] writes launch scripts: one program (`bin/launch.rs`).
//!
//! [`check`] computes CosmicTagger's network and holds a port's outputs against it: its page (`bin/check.rs`) and the
//! worker that holds the network (`bin/forward.rs`, and with threads `bin/threaded_forward.rs`).
//!
//! What can be said without a browser is said without one and tested natively; what touches elements is compiled for the
//! browser only. `browser` holds the calls that Leptos does not know.

pub mod check;
#[cfg(feature = "views")]
pub mod launch;
#[cfg(feature = "views")]
pub mod port;

#[cfg(all(target_arch = "wasm32", feature = "views"))]
mod browser;
