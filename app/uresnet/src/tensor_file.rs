//! safetensors files, read into and written from named f32 tensors.

use std::borrow::Cow;
use std::collections::BTreeMap;

use safetensors::tensor::{Dtype, SafeTensors, View, serialize};

use crate::error::Error;
use crate::tensor::Tensor;

/// Reads a safetensors file. Floats of any width and integers become f32; other types are refused by name.
pub fn read_safetensors(bytes: &[u8]) -> Result<BTreeMap<String, Tensor>, Error> {
    let file =
        SafeTensors::deserialize(bytes).map_err(|e| Error::File(format!("not a whole safetensors file: {e}")))?;
    file.iter()
        .map(|(name, view)| {
            let data = numbers(view.dtype(), view.data())
                .ok_or_else(|| Error::File(format!("{name} has the type {:?}, which is not read", view.dtype())))?;
            let tensor = Tensor::from_vec(view.shape(), data)
                .ok_or_else(|| Error::File(format!("{name} does not hold as many numbers as its shape says")))?;
            Ok((name.to_string(), tensor))
        })
        .collect()
}

/// Writes named tensors as a safetensors file, the same bytes for the same tensors.
pub fn write_safetensors<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<Vec<u8>, Error> {
    let tensors = tensors.into_iter().map(|(name, tensor)| (name, Written(tensor)));
    serialize(tensors, None).map_err(|e| Error::File(format!("can't be written: {e}")))
}

/// A tensor that becomes bytes when it is written, not all of a file's before.
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

fn numbers(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f32>> {
    fn each<const N: usize>(bytes: &[u8], convert: impl Fn([u8; N]) -> f32) -> Vec<f32> {
        bytes.as_chunks::<N>().0.iter().map(|&chunk| convert(chunk)).collect()
    }
    Some(match dtype {
        Dtype::F32 => each(bytes, f32::from_le_bytes),
        Dtype::F64 => each(bytes, |b| f64::from_le_bytes(b) as f32),
        Dtype::F16 => each(bytes, |b| half_to_f32(u16::from_le_bytes(b))),
        Dtype::BF16 => each(bytes, |b| f32::from_bits(u32::from(u16::from_le_bytes(b)) << 16)),
        Dtype::I64 => each(bytes, |b| i64::from_le_bytes(b) as f32),
        Dtype::I32 => each(bytes, |b| i32::from_le_bytes(b) as f32),
        Dtype::I16 => each(bytes, |b| f32::from(i16::from_le_bytes(b))),
        Dtype::I8 => each(bytes, |b| f32::from(i8::from_le_bytes(b))),
        Dtype::U8 | Dtype::BOOL => each(bytes, |[b]| f32::from(b)),
        _ => return None,
    })
}

/// IEEE 754 binary16 to f32, exact.
pub(crate) fn half_to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = u32::from(half >> 10) & 0x1f;
    let fraction = u32::from(half & 0x3ff);
    let magnitude = match exponent {
        0 => fraction as f32 * f32::from_bits(0x3380_0000),
        0x1f => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    f32::from_bits(magnitude.to_bits() | sign)
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

    #[test]
    fn halves() {
        let check = |bits, expected: f32| assert_eq!(half_to_f32(bits).to_bits(), expected.to_bits(), "{bits:#x}");
        check(0x3c00, 1.0);
        check(0xc000, -2.0);
        check(0x7bff, 65504.0);
        check(0x0001, 5.960_464_5e-8);
        check(0x83ff, -6.097_555e-5);
        check(0x8000, -0.0);
        check(0xfc00, f32::NEG_INFINITY);
        assert!(half_to_f32(0x7e00).is_nan());
    }
}
