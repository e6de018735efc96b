//! safetensors files, read and written as named f32 tensors.

use std::borrow::Cow;
use std::collections::BTreeMap;

use safetensors::tensor::{Dtype, SafeTensors, View, serialize};

use crate::error::Error;
use crate::number::Number;
use crate::tensor::Tensor;

/// Reads a safetensors file. Floats of any width and integers are converted to f32; other types are rejected by name.
pub fn read_safetensors(bytes: &[u8]) -> Result<BTreeMap<String, Tensor>, Error> {
    let file = SafeTensors::deserialize(bytes)
        .map_err(|e| Error::File(format!("incomplete or damaged safetensors file: {e}")))?;
    let mut tensors = BTreeMap::new();
    for (name, view) in file.iter() {
        let number = number(view.dtype())
            .ok_or_else(|| Error::File(format!("{name} has the unsupported type {:?}", view.dtype())))?;
        let data = number.read(view.data(), false);
        let tensor = Tensor::from_vec(view.shape(), data)
            .ok_or_else(|| Error::File(format!("the size of {name} does not match its shape")))?;
        tensors.insert(name.to_string(), tensor);
    }
    Ok(tensors)
}

/// Writes named tensors as a safetensors file; the bytes are the same for the same tensors.
pub fn write_safetensors<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<Vec<u8>, Error> {
    let tensors = tensors.into_iter().map(|(name, tensor)| (name, Written(tensor)));
    serialize(tensors, None).map_err(|e| Error::File(format!("can't be written: {e}")))
}

/// A tensor that is converted to bytes when it is written, rather than the whole file before.
struct Written<'a>(&'a Tensor);

impl View for Written<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        self.0.shape()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.0.data().iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>().into()
    }

    fn data_len(&self) -> usize {
        size_of_val(self.0.data())
    }
}

fn number(dtype: Dtype) -> Option<Number> {
    Some(match dtype {
        Dtype::F64 => Number::F64,
        Dtype::F32 => Number::F32,
        Dtype::F16 => Number::F16,
        Dtype::BF16 => Number::Bf16,
        Dtype::I64 => Number::I64,
        Dtype::I32 => Number::I32,
        Dtype::I16 => Number::I16,
        Dtype::I8 => Number::I8,
        Dtype::U64 => Number::U64,
        Dtype::U32 => Number::U32,
        Dtype::U16 => Number::U16,
        Dtype::U8 | Dtype::BOOL => Number::U8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let a = Tensor::from_vec(&[2, 2], vec![1.0, -2.5, f32::MIN_POSITIVE, 3e38]).unwrap();
        let b = Tensor::from_vec(&[1], vec![0.1]).unwrap();
        let bytes = write_safetensors([("b", &b), ("a", &a)]).unwrap();
        let read = read_safetensors(&bytes).unwrap();
        assert_eq!(read, BTreeMap::from([("a".to_string(), a), ("b".to_string(), b)]));
        for length in 0..bytes.len() {
            assert!(matches!(read_safetensors(&bytes[..length]), Err(Error::File(_))), "cut at {length}");
        }
    }
}
