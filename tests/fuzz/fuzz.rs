//! Generated inputs for everything that reads external data.
//!
//! A target ([`targets`]) is a reader and its properties; its initial inputs are files of the repository ([`seeds`]),
//! which are mutated ([`mutate`]): programs by their grammar, everything else as bytes. The tests run every committed
//! seed, which include fixed failures, and a fixed number of mutations, always the same (`short_runs.rs`).
//! `cargo xtask fuzz` runs them for a given time and searches for inputs that reach new code (`libfuzzer.rs`).

pub(crate) mod failure;
mod mutate;
mod projects;
pub(crate) mod random;
pub(crate) mod seeds;
#[cfg(test)]
mod short_runs;
pub(crate) mod targets;
