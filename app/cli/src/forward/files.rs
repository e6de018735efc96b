//! Files with named tensors, told apart by how they begin.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use uresnet::{Tensor, read_npy, read_safetensors};

/// No checkpoint or event that the network takes is larger.
const LARGEST: u64 = 1 << 30;

/// Reads a safetensors file, or an `.npy` file as one tensor called `input`.
pub(crate) fn tensors(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    read(path).with_context(|| path.display().to_string())
}

fn read(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        bail!("larger than 1 GiB, which no weights and no event of this network are");
    }
    if bytes.starts_with(b"\x93NUMPY") {
        return Ok(BTreeMap::from([("input".to_string(), read_npy(&bytes)?)]));
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\x80\x02") {
        bail!(
            "a zip or pickle, as torch.save and numpy.savez write them, is not read, because reading a pickle can run \
             code. Save a checkpoint's tensors with safetensors: \
             `save_file(torch.load(FILE, weights_only=True)[\"state_dict\"], \"weights.safetensors\")`"
        );
    }
    if bytes.starts_with(b"\x89HDF") {
        bail!(
            "HDF5 is not read. Save the event's pixels as the tensors `plane`, `row`, `col`, `value` and, if known, \
             `label` with safetensors; in larcv's files a voxel's id is col * rows + row"
        );
    }
    Ok(read_safetensors(&bytes)?)
}
