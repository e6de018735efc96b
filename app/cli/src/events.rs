//! `portolan events`: synthetic events in a file.

use crate::args::EventsArgs;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use uresnet::{Event, Tensor, write_safetensors};

/// Draws the events and writes their pixels.
pub(crate) fn run(args: &EventsArgs) -> Result<bool> {
    let (height, width) = args.size;
    let mut columns: BTreeMap<String, Vec<f32>> = BTreeMap::new();
    for number in args.first..args.first + args.count {
        for (name, column) in Event::synthetic(number, height, width).to_sparse(number as usize) {
            columns.entry(name).or_default().extend(column.data());
        }
    }
    let columns = columns.into_iter().filter_map(|(name, data)| Some((name, Tensor::from_vec(&[data.len()], data)?)));
    let columns: Vec<(String, Tensor)> = columns.collect();
    let bytes = write_safetensors(columns.iter().map(|(name, tensor)| (name.as_str(), tensor)))?;
    std::fs::write(&args.out, bytes).with_context(|| args.out.display().to_string())?;
    Ok(true)
}
