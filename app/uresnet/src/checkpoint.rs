//! Checkpoints as written by `torch.save`: a zip archive with a pickle, which describes the contents, and a separate
//! file for the values of each storage. No code in the pickle is executed.

mod pickle;

use std::collections::{BTreeMap, BTreeSet};

use crate::archive::Archive;
use crate::error::Error;
use crate::number::Number;
use crate::tensor::Tensor;
use pickle::{Id, Pickle, Stored, Value};

/// The maximum number of values per byte of a file, for all tensors together: many tensors may repeat the same few
/// values, and a small file must not exhaust memory. Weights shared by two layers are read twice.
const MOST_OF_A_BYTE: usize = 16;

/// The maximum nesting depth of the weights: `checkpoint["model"]["state_dict"]` is two.
const DEEPEST: usize = 4;

/// Reads the weights of a checkpoint: those of the dictionary with the most named tensors, which excludes an
/// optimizer's, because it numbers them. Only these tensors' values are read.
pub fn read_checkpoint(bytes: &[u8]) -> Result<BTreeMap<String, Tensor>, Error> {
    let archive = Archive::new(bytes)?;
    let folder = archive.paths().find_map(|path| path.strip_suffix("data.pkl").filter(|f| f.matches('/').count() <= 1));
    let Some(folder) = folder.map(str::to_string) else {
        return Err(Error::File("the archive contains neither a PyTorch checkpoint nor NumPy arrays".to_string()));
    };
    if archive.paths().any(|path| path.strip_prefix(&folder).is_some_and(|path| path.starts_with("code/"))) {
        let problem = "this is a TorchScript program, whose weights can't be read without running it; save them with \
                       torch.save(net.state_dict(), FILE)";
        return Err(Error::File(problem.to_string()));
    }
    let missing = |path: &str| Error::File(format!("{path} is missing from the archive"));
    let read = |name: &str| {
        let path = format!("{folder}{name}");
        archive.read(&path)?.ok_or_else(|| missing(&path))
    };
    let pickle = Pickle::read(&read("data.pkl")?)?;
    let big_endian = archive.read(&format!("{folder}byteorder"))?.is_some_and(|order| order.starts_with(b"big"));
    let (count, entries) = largest_state(&pickle);
    if count == 0 {
        return Err(Error::File("the checkpoint contains no named tensors".to_string()));
    }
    let mut tensors = BTreeMap::new();
    let mut room = bytes.len().saturating_mul(MOST_OF_A_BYTE).max(1 << 20);
    for (name, id) in entries {
        match pickle.get(id) {
            Value::Tensor(stored) => {
                room = stored.count().and_then(|count| room.checked_sub(count)).ok_or_else(|| {
                    let problem = format!("the tensors up to {name} are larger than a file of this size allows");
                    Error::File(problem)
                })?;
                let numbers = number(&stored.class).ok_or_else(|| {
                    Error::File(format!("{name} is stored in a {}, which is not supported", stored.class))
                })?;
                let bytes = read(&format!("data/{}", stored.key))?;
                let tensor = gather(stored, numbers, &bytes, big_endian).ok_or_else(|| {
                    let (shape, length) = (&stored.shape, bytes.len());
                    Error::File(format!("{name} has shape {shape:?}, which does not fit its {length} bytes"))
                })?;
                tensors.insert(name, tensor);
            }
            Value::Object(call) => {
                let problem =
                    format!("{name} is created by {call}, which is not supported; save it from the CPU as float32");
                return Err(Error::File(problem));
            }
            // `_extra_state` and the like are not weights.
            _ => {}
        }
    }
    Ok(tensors)
}

/// The entries of the dictionary with the most named tensors, and their number. Of several the least nested counts.
fn largest_state(pickle: &Pickle) -> (usize, Vec<(String, Id)>) {
    let mut largest = (0, Vec::new());
    let mut seen = BTreeSet::new();
    let mut level = vec![pickle.root()];
    for _ in 0..=DEEPEST {
        let mut deeper = Vec::new();
        for id in level {
            let Value::Dict(entries) = pickle.get(id) else { continue };
            // Values may be shared, and without this limit a small file could make the search run forever.
            if !seen.insert(id) {
                continue;
            }
            let named = entries.iter().filter_map(|(key, value)| match pickle.get(*key) {
                Value::Text(name) => Some((name.clone(), *value)),
                _ => None,
            });
            let named: Vec<(String, Id)> = named.collect();
            deeper.extend(named.iter().map(|(_, value)| *value));
            let count = named.iter().filter(|(_, value)| matches!(pickle.get(*value), Value::Tensor(_))).count();
            if count > largest.0 {
                largest = (count, named);
            }
        }
        level = deeper;
    }
    largest
}

/// The number type of a storage, by the storage's class.
fn number(class: &str) -> Option<Number> {
    Some(match class.strip_prefix("torch.")?.rsplit('.').next()? {
        "DoubleStorage" => Number::F64,
        "FloatStorage" => Number::F32,
        "HalfStorage" => Number::F16,
        "BFloat16Storage" => Number::Bf16,
        "LongStorage" => Number::I64,
        "IntStorage" => Number::I32,
        "ShortStorage" => Number::I16,
        "CharStorage" => Number::I8,
        "ByteStorage" | "BoolStorage" => Number::U8,
        _ => return None,
    })
}

/// A tensor from its storage; none if it extends beyond it.
fn gather(stored: &Stored, number: Number, bytes: &[u8], big_endian: bool) -> Option<Tensor> {
    let (shape, width) = (stored.shape.as_slice(), number.width());
    let count = stored.count()?;
    if count == 0 {
        return Tensor::from_vec(shape, Vec::new());
    }
    let last = shape
        .iter()
        .zip(&stored.strides)
        .try_fold(stored.offset, |at, (&length, stride)| at.checked_add((length - 1).checked_mul(*stride)?))?;
    let end = last.checked_add(1)?.checked_mul(width)?;
    // A stride of zero repeats values, and a few bytes must not exhaust memory.
    if end > bytes.len() || count > (bytes.len() / width).max(1 << 20) {
        return None;
    }
    let part = number.read(&bytes[stored.offset * width..end], big_endian);
    let (mut packed, mut step) = (true, 1);
    for (&length, &stride) in shape.iter().zip(&stored.strides).rev() {
        packed &= length == 1 || stride == step;
        step *= length;
    }
    if packed {
        return Tensor::from_vec(shape, part);
    }
    let place = |mut index: usize| {
        let mut at = 0;
        for (&length, &stride) in shape.iter().zip(&stored.strides).rev() {
            at += index % length * stride;
            index /= length;
        }
        at
    };
    Tensor::from_vec(shape, (0..count).map(|index| part[place(index)]).collect())
}
