//! `portolan events`: synthetic events, or those of a larcv file, in a file that every part of Portolan reads.

use crate::args::EventsArgs;
use crate::forward::SYNTHETIC;
use crate::larcv;
use crate::output::{Written, check_out};
use crate::usage::usage;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::ops::Range;
use uresnet::{Event, Tensor, write_safetensors};

/// Pixels of all generated images: some three gigabytes of memory, and seconds.
const MOST_PIXELS: u64 = 4096 * (320 * 512);

/// Generates or reads the events and writes their pixels.
pub(crate) fn run(args: &EventsArgs) -> Result<bool> {
    check_out("--out", &args.out, Written::Tensors)?;
    let columns = match &args.input {
        Some(path) if !larcv::is_hdf5(path).with_context(|| path.display().to_string())? => {
            return Err(usage(format!("{} is not a larcv HDF5 file", path.display())).into());
        }
        Some(path) => {
            let last = larcv::count(path)?.min(args.first.saturating_add(args.count.unwrap_or(u64::MAX)));
            larcv::events(path, args.first..last.max(args.first.saturating_add(1)))?
        }
        None => {
            let (count, size) = (args.count.unwrap_or(1), args.size.unwrap_or(SYNTHETIC));
            let pixels = count * size.0 as u64 * size.1 as u64;
            if pixels > MOST_PIXELS {
                let (height, width) = size;
                let most = MOST_PIXELS / (height * width) as u64;
                return Err(
                    usage(format!("--count {count}: at most {most} events of {height}x{width} in one file")).into()
                );
            }
            drawn(args.first..args.first + count, size)
        }
    };
    let bytes = write_safetensors(columns.iter().map(|(name, tensor)| (name.as_str(), tensor)))?;
    std::fs::write(&args.out, bytes).with_context(|| args.out.display().to_string())?;
    Ok(true)
}

fn drawn(numbers: Range<u64>, (height, width): (usize, usize)) -> BTreeMap<String, Tensor> {
    let size = vec![height as f32, width as f32];
    let mut columns: BTreeMap<String, Vec<f32>> = BTreeMap::from([("image_size".to_string(), size)]);
    for number in numbers {
        for (name, column) in Event::synthetic(number, height, width).to_sparse(number as usize) {
            columns.entry(name).or_default().extend(column.data());
        }
    }
    columns.into_iter().filter_map(|(name, data)| Some((name, Tensor::from_vec(&[data.len()], data)?))).collect()
}
