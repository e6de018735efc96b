//! The files of a zip archive, as written by `torch.save` and `numpy.savez`.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use crc::{CRC_32_ISO_HDLC, Crc, Table};
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

use crate::error::Error;

/// The total size of all decompressed files: a few bytes can claim to contain any number of them.
const LARGEST: usize = 1 << 30;

/// One table of 1 KiB: the archive library's own has sixteen, which a page's visitor would download.
static CHECKSUM: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// An archive in memory. Uncompressed files are read in place.
pub(crate) struct Archive<'a> {
    zip: ZipSliceArchive<&'a [u8]>,
    entries: BTreeMap<String, Entry>,
    /// Bytes decompressed so far.
    inflated: Cell<usize>,
}

struct Entry {
    method: CompressionMethod,
    size: u64,
    crc: u32,
    place: ZipArchiveEntryWayfinder,
}

impl<'a> Archive<'a> {
    /// Reads the list of files.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Archive<'a>, Error> {
        let fault = |error: rawzip::Error| Error::File(format!("incomplete or damaged zip archive: {error}"));
        let zip = ZipArchive::from_slice(bytes).map_err(fault)?;
        let mut entries = BTreeMap::new();
        let mut list = zip.entries();
        while let Some(entry) = list.next_entry().map_err(fault)? {
            let path = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
            let (method, size, crc) = (entry.compression_method(), entry.uncompressed_size_hint(), entry.crc32());
            entries.insert(path, Entry { method, size, crc, place: entry.wayfinder() });
        }
        Ok(Archive { zip, entries, inflated: Cell::new(0) })
    }

    /// Paths in the archive.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The content of a file; none if there is no such file.
    pub(crate) fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, Error> {
        let Some(entry) = self.entries.get(path) else { return Ok(None) };
        let fault = |problem: String| Error::File(format!("{path} in the archive: {problem}"));
        let data = self.zip.get_entry(entry.place).map_err(|error| fault(error.to_string()))?.data();
        let content: Cow<[u8]> = match entry.method {
            CompressionMethod::STORE => data.into(),
            CompressionMethod::DEFLATE => {
                let room = LARGEST - self.inflated.get();
                let size = usize::try_from(entry.size).ok().filter(|&size| size <= room);
                let size = size.ok_or_else(|| fault(format!("it has {} bytes, more than the limit", entry.size)))?;
                self.inflated.update(|inflated| inflated + size);
                let inflated = miniz_oxide::inflate::decompress_to_vec_with_limit(data, size);
                inflated.map_err(|error| fault(format!("decompression failed: {error}")))?.into()
            }
            _ => return Err(fault("unsupported compression method".to_string())),
        };
        if CHECKSUM.checksum(&content) != entry.crc {
            return Err(fault("damaged: wrong checksum".to_string()));
        }
        Ok(Some(content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_together_have_a_bound() {
        let archive = Archive::new(include_bytes!("../../../tests/fuzz/seeds/npy/deflated.npz")).unwrap();
        let size = archive.read("input.npy").unwrap().unwrap().len();
        assert_eq!(archive.inflated.get(), size);
        archive.inflated.set(LARGEST - size + 1);
        assert!(archive.read("input.npy").is_err_and(|error| error.to_string().contains("more than the limit")));
    }
}
