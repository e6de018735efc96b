//! Number types in files. All are converted to f32.

use half::{bf16, f16};

/// A number type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    F64,
    F32,
    F16,
    Bf16,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    /// Also for booleans, a byte each.
    U8,
}

impl Number {
    /// Bytes of one number.
    pub(crate) fn width(self) -> usize {
        match self {
            Number::F64 | Number::I64 | Number::U64 => 8,
            Number::F32 | Number::I32 | Number::U32 => 4,
            Number::F16 | Number::Bf16 | Number::I16 | Number::U16 => 2,
            Number::I8 | Number::U8 => 1,
        }
    }

    /// The values in some bytes; a remainder at the end is dropped.
    pub(crate) fn read(self, bytes: &[u8], big_endian: bool) -> Vec<f32> {
        fn each<const N: usize>(bytes: &[u8], turn: bool, convert: impl Fn([u8; N]) -> f32) -> Vec<f32> {
            let convert = |&(mut chunk): &[u8; N]| {
                if turn {
                    chunk.reverse();
                }
                convert(chunk)
            };
            bytes.as_chunks::<N>().0.iter().map(convert).collect()
        }
        match self {
            Number::F64 => each(bytes, big_endian, |b| f64::from_le_bytes(b) as f32),
            Number::F32 => each(bytes, big_endian, f32::from_le_bytes),
            Number::F16 => each(bytes, big_endian, |b| f16::from_le_bytes(b).to_f32()),
            Number::Bf16 => each(bytes, big_endian, |b| bf16::from_le_bytes(b).to_f32()),
            Number::I64 => each(bytes, big_endian, |b| i64::from_le_bytes(b) as f32),
            Number::I32 => each(bytes, big_endian, |b| i32::from_le_bytes(b) as f32),
            Number::I16 => each(bytes, big_endian, |b| f32::from(i16::from_le_bytes(b))),
            Number::I8 => each(bytes, false, |[b]| f32::from(b as i8)),
            Number::U64 => each(bytes, big_endian, |b| u64::from_le_bytes(b) as f32),
            Number::U32 => each(bytes, big_endian, |b| u32::from_le_bytes(b) as f32),
            Number::U16 => each(bytes, big_endian, |b| f32::from(u16::from_le_bytes(b))),
            Number::U8 => each(bytes, false, |[b]| f32::from(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves() {
        let check = |bits: u16, expected: f32| assert_eq!(Number::F16.read(&bits.to_le_bytes(), false), [expected]);
        check(0x3c00, 1.0);
        check(0xc000, -2.0);
        check(0x7bff, 65504.0);
        check(0x0001, 5.960_464_5e-8);
        check(0x83ff, -6.097_555e-5);
        check(0xfc00, f32::NEG_INFINITY);
        assert!(Number::F16.read(&0x7e00u16.to_le_bytes(), false)[0].is_nan());
    }

    #[test]
    fn either_byte_order() {
        let check = |number: Number, bytes: &[u8], expected: &[f32]| {
            assert_eq!(number.read(bytes, false), expected, "{number:?}");
            let turned: Vec<u8> = bytes.chunks(number.width()).flat_map(|b| b.iter().rev().copied()).collect();
            assert_eq!(number.read(&turned, true), expected, "{number:?}");
        };
        check(Number::F64, &1.5f64.to_le_bytes(), &[1.5]);
        check(Number::F32, &(-3.0f32).to_le_bytes(), &[-3.0]);
        check(Number::Bf16, &[0x80, 0x3f], &[1.0]);
        check(Number::I64, &(-7i64).to_le_bytes(), &[-7.0]);
        check(Number::U16, &[1, 0, 255, 255], &[1.0, 65535.0]);
        check(Number::I8, &[255], &[-1.0]);
    }
}
