//! The views of the site that compute: each a folder here, each built as programs of its own, so that a page loads only
//! what it shows.
//!
//! [`port`] ports a script: its page (`bin/page.rs`) and the worker that holds the engine (`bin/engine.rs`).
//!
//! [`launch`] writes launch scripts: one program (`bin/launch.rs`), and the workers that read what users bring of their
//! own: a site file (`bin/site_file.rs`), a script to be checked (`bin/own_script.rs`).
//!
//! [`check`] computes CosmicTagger's network and holds a port's outputs against it: its page (`bin/check.rs`) and the
//! worker (`bin/desk.rs`), which has the network computed by a module of `forward`.
//!
//! What can be said without a browser is said without one and tested natively; what touches elements is compiled for the
//! browser only. `browser` holds the calls that Leptos does not know.

pub mod check;
pub mod launch;
pub mod port;
pub mod shared;
