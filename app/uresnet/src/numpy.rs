//! Arrays of NumPy's `.npy` and `.npz` files (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>).

use std::collections::BTreeMap;

use crate::archive::Archive;
use crate::error::Error;
use crate::number::Number;
use crate::tensor::Tensor;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an `.npy` file in either byte order and either layout; values are converted to f32. Arrays of Python objects,
/// which NumPy itself reads by running a pickle, are rejected like every other non-numeric type.
pub fn read_npy(bytes: &[u8]) -> Result<Tensor, Error> {
    let error = |problem: &str| Error::File(format!("invalid .npy file: {problem}"));
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| error("wrong magic number"))?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        _ => return Err(error("unknown version")),
    };
    let (header, data) = rest.split_at_checked(length).ok_or_else(|| error("the header is truncated"))?;
    let header = std::str::from_utf8(header).map_err(|_| error("the header is not text"))?;
    let kind = value(header, "descr").ok_or_else(|| error("the header has no type"))?;
    let kind = kind.strip_prefix('\'').and_then(|k| k.split_once('\'')).map_or("a record", |(kind, _)| kind);
    let shape = shape(header).ok_or_else(|| error("the header has no shape"))?;
    let columns_first = value(header, "fortran_order").is_some_and(|v| v.starts_with("True"));

    let (order, name) = kind.split_at_checked(1).unwrap_or(("", kind));
    let number = number(name)
        .ok_or_else(|| Error::File(format!("the array has the unsupported type {kind}; save it as float32")))?;
    let numbers = number.read(data, order == ">");
    let count = numbers.len();
    let numbers = if columns_first { rows_first(&shape, &numbers) } else { numbers };
    Tensor::from_vec(&shape, numbers)
        .ok_or_else(|| error(&format!("its shape is {shape:?}, but it contains {count} numbers")))
}

/// Reads the arrays of an `.npz` archive, compressed or not, by their names.
pub fn read_npz(bytes: &[u8]) -> Result<BTreeMap<String, Tensor>, Error> {
    let archive = Archive::new(bytes)?;
    let mut arrays = BTreeMap::new();
    for path in archive.paths() {
        if let (Some(name), Some(content)) = (path.strip_suffix(".npy"), archive.read(path)?) {
            let array = read_npy(&content).map_err(|error| match error {
                Error::File(problem) => Error::File(format!("{path} in the archive: {problem}")),
                other => other,
            })?;
            arrays.insert(name.to_string(), array);
        }
    }
    Ok(arrays)
}

/// The text after a key of the header, which is a Python dictionary, up to the header's end.
fn value<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{key}'"))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let (inside, _) = value(header, "shape")?.strip_prefix('(')?.split_once(')')?;
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}

fn number(name: &str) -> Option<Number> {
    Some(match name {
        "f8" => Number::F64,
        "f4" => Number::F32,
        "f2" => Number::F16,
        "i8" => Number::I64,
        "i4" => Number::I32,
        "i2" => Number::I16,
        "i1" => Number::I8,
        "u8" => Number::U64,
        "u4" => Number::U32,
        "u2" => Number::U16,
        "u1" | "b1" => Number::U8,
        _ => return None,
    })
}

/// Reorders values from column-major to row-major. Unchanged if their number does not match the shape.
fn rows_first(shape: &[usize], numbers: &[f32]) -> Vec<f32> {
    let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    if count != Some(numbers.len()) {
        return numbers.to_vec();
    }
    let place = |mut index: usize| {
        let (mut at, mut stride) = (0, numbers.len());
        for &length in shape.iter().rev() {
            stride /= length;
            at += index % length * stride;
            index /= length;
        }
        at
    };
    (0..numbers.len()).map(|index| numbers[place(index)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let length = (header.len() as u16).to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), data].concat()
    }

    #[test]
    fn types_orders_and_layouts() {
        let check = |header: &str, data: &[u8], shape: &[usize], expected: &[f32]| {
            let found = read_npy(&file(header, data)).unwrap();
            assert_eq!((found.shape(), found.data()), (shape, expected), "{header}");
        };
        let floats: Vec<u8> = [1.0f32, -2.0, 0.5, 4.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        check(
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n",
            &floats,
            &[2, 2],
            &[1.0, -2.0, 0.5, 4.0],
        );
        check("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", &floats, &[2, 2], &[1.0, 0.5, -2.0, 4.0]);
        check("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", &[1, 0, 255, 255], &[2], &[256.0, -1.0]);
        check("{'shape': (3,), 'fortran_order': False, 'descr': '|u1'}", &[1, 2, 3], &[3], &[1.0, 2.0, 3.0]);
        check("{'descr': '<f2', 'fortran_order': False, 'shape': ()}", &[0, 0x3c], &[], &[1.0]);
    }

    #[test]
    fn cut_anywhere_it_is_an_error() {
        let whole = file("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[0; 16]);
        assert!(read_npy(&whole).is_ok());
        for length in 0..whole.len() {
            assert!(matches!(read_npy(&whole[..length]), Err(Error::File(_))), "cut at {length}");
        }
        let objects = file("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"\x80\x04");
        assert!(read_npy(&objects).unwrap_err().to_string().contains("|O"));
    }
}
