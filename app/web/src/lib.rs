//! The site's interactive pages. Each is a folder here and is built as separate programs, so that a page loads only
//! what it shows.
//!
//! [`port`] ports a script: its page (`bin/page.rs`), and the worker with the engine (`bin/engine.rs`).
//!
//! [`launch`] writes launch scripts: one program (`bin/launch.rs`), and the workers that read users' own files: a site
//! file (`bin/site_file.rs`), and a script to check (`bin/own_script.rs`).
//!
//! [`check`] runs CosmicTagger's network and compares a port's outputs with its results: its page (`bin/check.rs`) and
//! the worker (`bin/desk.rs`), which uses a module of `forward` for the network.
//!
//! Everything that does not need a browser is tested natively; code that uses elements is only compiled for the
//! browser. `browser` contains browser functions that Leptos does not provide.

pub mod check;
pub mod launch;
pub mod port;
pub mod shared;
