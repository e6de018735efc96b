//! Files with named tensors.

use anyhow::{Context, Result, anyhow};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use uresnet::{Tensor, read_tensors};

/// In GiB: no checkpoint or event for the network is larger.
const INPUT: u64 = 1;

/// In GiB: outputs including those of all modules, for the largest image.
const OUTPUTS: u64 = 16;

/// Weights that were trained on synthetic events, as described in `app/uresnet/sample`.
const SAMPLE: &[u8] = include_bytes!("../../../../public/check/sample.safetensors");

/// Reads weights: the sample by its name, or a file.
pub(crate) fn weights(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    if is_sample(path) { Ok(read_tensors(SAMPLE)?) } else { tensors(path) }
}

/// Whether this is the name of the sample weights.
pub(crate) fn is_sample(path: &Path) -> bool {
    path == Path::new("sample")
}

/// Reads a file in any format supported for weights and events.
pub(crate) fn tensors(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    read(path, INPUT).with_context(|| path.display().to_string())
}

/// The same for another run's output, which may be larger.
pub(crate) fn outputs(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    read(path, OUTPUTS).with_context(|| path.display().to_string())
}

fn read(path: &Path, most: u64) -> Result<BTreeMap<String, Tensor>> {
    let file = std::fs::File::open(path)?;
    let too_large = || anyhow!("larger than {most} GiB, more than any file for this network");
    if file.metadata()?.len() > most << 30 {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take((most << 30) + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most << 30 {
        return Err(too_large());
    }
    Ok(read_tensors(&bytes)?)
}
