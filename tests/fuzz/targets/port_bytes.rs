//! The port of bytes that are hardly a program.

use super::port_program::{RECIPES, ports};
use super::{Mutator, Target};
use crate::fuzz::seeds;

pub(super) const TARGET: Target = Target {
    name: "port_bytes",
    check: |input, ways| ports(&String::from_utf8_lossy(input), &RECIPES, ways),
    seeds: seeds::programs,
    mutator: Mutator::Bytes,
    short: 60,
};
