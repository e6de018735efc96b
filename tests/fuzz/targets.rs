//! The readers, their inputs and their properties.

mod checkpoint;
mod guide_page;
mod hdf5;
mod highlight;
mod launch_form;
mod launch_script;
mod lifting;
mod notebook;
mod npy;
mod port_bytes;
mod port_program;
mod port_project;
mod safetensors;
mod semantic_patch;
mod share_link;
mod shell;
mod site_file;
mod tensors;
mod zip;

use crate::fuzz::mutate;
use crate::fuzz::random::Random;
use crate::fuzz::seeds::Seed;

/// A reader of external data.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Panics if a property is violated.
    pub(crate) check: fn(&[u8], Ways),
    /// The initial inputs, in addition to the files in `seeds/NAME`.
    pub(crate) seeds: fn() -> Vec<Seed>,
    pub(crate) mutator: Mutator,
    /// Number of inputs in the short run.
    #[cfg_attr(feature = "libfuzzer", allow(dead_code, reason = "a long run goes by the clock"))]
    pub(crate) short: usize,
}

/// How inputs are changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutator {
    Bytes,
    Program,
    /// Several files, in the format of [`crate::fuzz::projects`].
    Project,
}

/// The amount of work for one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ways {
    /// One target and style, selected by the input: sufficient if there are many inputs.
    One,
    /// All of them.
    Every,
}

pub(crate) const TARGETS: &[Target] = &[
    checkpoint::TARGET,
    guide_page::TARGET,
    hdf5::TARGET,
    highlight::TARGET,
    launch_form::TARGET,
    launch_script::TARGET,
    lifting::TARGET,
    notebook::TARGET,
    npy::TARGET,
    port_bytes::TARGET,
    port_program::TARGET,
    port_project::TARGET,
    safetensors::TARGET,
    semantic_patch::TARGET,
    share_link::TARGET,
    site_file::TARGET,
    zip::TARGET,
];

impl Target {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Another input.
    pub(crate) fn mutate(&self, input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
        match self.mutator {
            Mutator::Bytes => mutate::bytes(input, other, random),
            Mutator::Program | Mutator::Project => {
                let change = if self.mutator == Mutator::Program { mutate::program } else { mutate::project };
                change(&String::from_utf8_lossy(input), &String::from_utf8_lossy(other), random).into_bytes()
            }
        }
    }
}

/// A hash of the input (FNV), for choices that have to be reproducible.
pub(crate) fn number_of(input: &[u8]) -> u64 {
    let mixed = input
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    Random::new(mixed).next()
}

/// The ones of all that are tried with one input.
pub(crate) fn chosen<T: Clone>(all: &[T], input: &[u8], ways: Ways) -> Vec<T> {
    match ways {
        Ways::Every => all.to_vec(),
        Ways::One => Random::new(number_of(input)).pick(all).cloned().into_iter().collect(),
    }
}
