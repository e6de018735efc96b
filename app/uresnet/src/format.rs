//! Files of named tensors, told apart by how they begin.

use std::collections::BTreeMap;

use crate::archive::Archive;
use crate::checkpoint::read_checkpoint;
use crate::error::Error;
use crate::numpy::{read_npy, read_npz};
use crate::tensor::Tensor;
use crate::tensor_file::read_safetensors;

/// Reads a file of tensors of any format that is known: safetensors, a checkpoint of `torch.save`, `.npz`, or `.npy`,
/// whose one array is called `input`.
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
            "written in torch.save's form of before PyTorch 1.6; save it again in today's: \
             torch.save(torch.load(FILE, map_location=\"cpu\", weights_only=True), FILE)",
        ),
        [0x80, 2..=5, ..] => refuse(
            "a bare pickle, which holds no tensors that could be read without running it; \
             use torch.save, safetensors or numpy.savez",
        ),
        [0x89, b'H', b'D', b'F', ..] => refuse(
            "HDF5 is not read here: `portolan events --input FILE.h5 --out events.safetensors` takes events out of larcv's files",
        ),
        // The length of a header in eight bytes, then the header, which is JSON.
        [_, _, _, _, _, _, _, _, b'{', ..] => read_safetensors(bytes),
        _ => refuse(
            "not a whole safetensors file, and no other file of tensors that is read: torch.save's (.pt, .pth, .ckpt) and \
             NumPy's (.npz, .npy) are",
        ),
    }
}
