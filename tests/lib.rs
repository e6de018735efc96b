//! Tests of the whole: see the targets in Cargo.toml.
