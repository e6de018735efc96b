//! safetensors files, and anything else that claims to be a tensor file.

use super::tensors::hold;
use super::{Mutator, Target, Ways};
use crate::fuzz::seeds::{self, Seed};
use uresnet::{read_safetensors, read_tensors, write_safetensors};

pub(super) const TARGET: Target = Target { name: "safetensors", check, seeds, mutator: Mutator::Bytes, short: 400 };

/// The fixtures with the few values of their smallest tensors: errors are in the header.
fn seeds() -> Vec<Seed> {
    let small = |(name, bytes): Seed| {
        let tensors = read_safetensors(&bytes).ok()?;
        let few = tensors.iter().filter(|(_, tensor)| tensor.data().len() < 64).take(6);
        Some((name, write_safetensors(few.map(|(name, tensor)| (name.as_str(), tensor))).ok()?))
    };
    seeds::files("tests/fixtures/uresnet", ".safetensors").into_iter().filter_map(small).collect()
}

fn check(input: &[u8], _: Ways) {
    hold(input, &read_safetensors(input));
    hold(input, &read_tensors(input));
}
