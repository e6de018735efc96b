//! Writing zip archives. Only the porting page reads them.
//!
//! Files are stored, not deflated: scripts are small, and the same files give the same bytes on every machine.

use crc::{CRC_32_ISO_HDLC, Crc, Table};
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, DataDescriptorOutput, ZipArchiveWriter};
use std::io::Write;

/// 1 KiB: the archive library's own table is sixteen times as large, every reader would download it, and it does not
/// compress.
static CHECKSUM: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// The earliest time that an archive can store, so that the same files give the same bytes at any time.
const FIRST_DAY: UtcDateTime = UtcDateTime::from_components(1980, 1, 1, 0, 0, 0, 0).unwrap();

/// The checksum that archives use.
pub fn checksum(bytes: &[u8]) -> u32 {
    CHECKSUM.checksum(bytes)
}

/// Packs files, each a path and a text, into an archive; the error says why it can't be written.
pub fn write<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Vec<u8>, String> {
    pack(files).map_err(|error| error.to_string())
}

fn pack<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Vec<u8>, rawzip::Error> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for (path, text) in files {
        let entry = archive.new_file(path).compression_method(CompressionMethod::STORE);
        let (mut entry, _) = entry.last_modified(FIRST_DAY).start()?;
        entry.write_all(text.as_bytes())?;
        entry.finish(DataDescriptorOutput::new(checksum(text.as_bytes()), text.len() as u64))?;
    }
    archive.finish()
}
