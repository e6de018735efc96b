//! The tables of the guides and of the sites, as the build script packed them.

use serde::de::DeserializeOwned;
use std::sync::LazyLock;
use tables::{Outline, Site, TargetTable};

/// Outlines of the targets, separate from the tables, which a program that writes no scripts does not need.
pub(crate) static OUTLINES: LazyLock<Vec<Outline>> =
    LazyLock::new(|| unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/outlines.bin"))));

/// Tables of the targets, in the same order.
pub(crate) static TARGETS: LazyLock<Vec<TargetTable>> =
    LazyLock::new(|| unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/targets.bin"))));

/// The sites, those for any machine first.
pub(crate) fn sites() -> Vec<Site> {
    unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/sites.bin")))
}

fn unpacked<T: DeserializeOwned>(packed: &[u8]) -> T {
    postcard::from_bytes(packed).expect("the build script packed the same types")
}
