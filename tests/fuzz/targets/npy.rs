//! NumPy's arrays, alone and in archives.

use super::tensors::hold;
use super::{Mutator, Target, Ways};
use std::collections::BTreeMap;
use uresnet::{read_npy, read_npz};

pub(super) const TARGET: Target = Target { name: "npy", check, seeds: Vec::new, mutator: Mutator::Bytes, short: 400 };

fn check(input: &[u8], _: Ways) {
    hold(input, &read_npy(input).map(|array| BTreeMap::from([("input".to_owned(), array)])));
    hold(input, &read_npz(input));
}
