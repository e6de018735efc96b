//! Events in larcv's HDF5 files.

use super::tensors::hold;
use super::{Mutator, Target, Ways};
use crate::fuzz::seeds::{self, Seed};
use uresnet::{larcv_event, read_safetensors};

pub(super) const TARGET: Target = Target { name: "hdf5", check, seeds, mutator: Mutator::Bytes, short: 60 };

fn seeds() -> Vec<Seed> {
    seeds::files("app/cli/tests/portolan", ".h5")
}

fn check(input: &[u8], _: Ways) {
    let event = larcv_event(input.to_vec(), 0).and_then(|bytes| read_safetensors(&bytes));
    hold(input, &event);
}
