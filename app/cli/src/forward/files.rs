//! Files with named tensors.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use uresnet::{Tensor, read_tensors};

/// No checkpoint or event that the network takes is larger.
const LARGEST: u64 = 1 << 30;

const TOO_LARGE: &str = "larger than 1 GiB, which no weights and no event of this network are";

/// Reads a file of any format that the network's weights and events come in.
pub(crate) fn tensors(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    read(path).with_context(|| path.display().to_string())
}

fn read(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    let file = std::fs::File::open(path)?;
    if file.metadata()?.len() > LARGEST {
        bail!(TOO_LARGE);
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        bail!(TOO_LARGE);
    }
    Ok(read_tensors(&bytes)?)
}
