//! Files of named tensors, distinguished by their first bytes.

use std::collections::BTreeMap;

use crate::archive::Archive;
use crate::checkpoint::read_checkpoint;
use crate::error::Error;
use crate::numpy::{read_npy, read_npz};
use crate::tensor::Tensor;
use crate::tensor_file::read_safetensors;

/// Reads a file of tensors in any supported format: safetensors, a `torch.save` checkpoint, `.npz`, or `.npy`, whose
/// only array is called `input`.
pub fn read_tensors(bytes: &[u8]) -> Result<BTreeMap<String, Tensor>, Error> {
    let refuse = |problem: &str| Err(Error::File(problem.to_string()));
    match bytes {
        [] => refuse("the file is empty"),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => {
            let mut tensors = BTreeMap::new();
            tensors.insert("input".to_string(), read_npy(bytes)?);
            Ok(tensors)
        }
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => {
            let arrays = Archive::new(bytes)?.paths().any(|path| path.ends_with(".npy"));
            if arrays { read_npz(bytes) } else { read_checkpoint(bytes) }
        }
        [0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, ..] => refuse(
            "saved in torch.save's format from before PyTorch 1.6; convert it to the current format: \
             torch.save(torch.load(FILE, map_location=\"cpu\", weights_only=True), FILE)",
        ),
        [0x80, 2..=5, ..] => refuse(
            "a bare pickle, whose tensors can't be read without executing it; \
             use torch.save, safetensors or numpy.savez",
        ),
        [0x89, b'H', b'D', b'F', ..] => refuse(
            "HDF5 is not supported here; extract events from larcv files with \
             `portolan events --input FILE.h5 --out events.safetensors`",
        ),
        // The length of the header in eight bytes, then the header, which is JSON.
        [_, _, _, _, _, _, _, _, b'{', ..] => read_safetensors(bytes),
        _ => refuse(
            "not a supported file; expected safetensors, torch.save's format (.pt, .pth, .ckpt) or NumPy's (.npz, .npy)",
        ),
    }
}
