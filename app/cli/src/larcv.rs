//! larcv's HDF5 files, of which only the requested events are read: whole files have many GiB.

use anyhow::{Context, Result};
use hdf5_pure::File;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use uresnet::{Tensor, count_larcv, read_larcv};

/// Whether a file begins like HDF5.
pub(crate) fn is_hdf5(path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    std::fs::File::open(path)?.take(8).read_to_end(&mut start)?;
    Ok(start == *b"\x89HDF\r\n\x1a\n")
}

/// The pixels of events, counted from 0, in the form of the network's other files.
pub(crate) fn events(path: &Path, events: Range<u64>) -> Result<BTreeMap<String, Tensor>> {
    with_file(path, |file| Ok(read_larcv(file, events)?))
}

/// The number of events in a file.
pub(crate) fn count(path: &Path) -> Result<u64> {
    with_file(path, |file| Ok(count_larcv(file)?))
}

fn with_file<T>(path: &Path, read: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    let opened = File::open_streaming(path).map_err(anyhow::Error::from);
    opened.and_then(|file| read(&file)).with_context(|| path.display().to_string())
}
