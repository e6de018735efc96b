//! The properties of every tensor file that is read.

use std::collections::BTreeMap;
use uresnet::{Error, Tensor, read_safetensors, write_safetensors};

/// The maximum number of values per byte of a file: otherwise a small file could exhaust memory.
const MOST_OF_A_BYTE: usize = 16;

/// A rejection has a reason; accepted data is no larger than its file permits, and unchanged by writing and reading.
pub(super) fn hold(input: &[u8], read: &Result<BTreeMap<String, Tensor>, Error>) {
    match read {
        Err(error) => assert!(error.to_string().len() > 10, "a refusal without a reason: {error}"),
        Ok(tensors) => {
            let numbers: usize = tensors.values().map(|tensor| tensor.data().len()).sum();
            assert!(numbers <= (1 << 20) + input.len() * MOST_OF_A_BYTE, "{numbers} numbers of {} bytes", input.len());
            for (name, tensor) in tensors {
                let size = tensor.shape().iter().product::<usize>();
                assert_eq!(size, tensor.data().len(), "{name} has as many numbers as its shape says");
            }
            let written = write_safetensors(tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)));
            let again = written.and_then(|bytes| read_safetensors(&bytes)).expect("what was read can be written");
            assert!(again.keys().eq(tensors.keys()), "the same names");
            let same = |a: &Tensor, b: &Tensor| {
                a.shape() == b.shape() && a.data().iter().map(|n| n.to_bits()).eq(b.data().iter().map(|n| n.to_bits()))
            };
            assert!(again.values().zip(tensors.values()).all(|(a, b)| same(a, b)), "the same numbers");
        }
    }
}
