//! Zip archives: which files to read from one. The browser does the inflating.

use crate::port::state::project::{self, LeftOut, Refusal};
use crate::shared::archive::checksum;
use rawzip::{CompressionMethod, ZipArchive};

/// A file of an archive, still compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Path inside the archive.
    pub path: String,
    /// Whether the data is deflated; otherwise it is stored.
    pub deflated: bool,
    /// The data as stored in the archive.
    pub data: Vec<u8>,
    /// Checksum of the uncompressed data.
    pub crc: u32,
}

/// The files of an archive that belong to a project or may be guides, and the number of other files.
pub fn list(bytes: &[u8]) -> Result<(Vec<Packed>, LeftOut), Refusal> {
    let fault = |error: rawzip::Error| Refusal::Archive(error.to_string());
    let archive = ZipArchive::from_slice(bytes).map_err(fault)?;
    let mut files: Vec<Packed> = Vec::new();
    let mut left_out = LeftOut::default();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(fault)? {
        if entry.is_dir() {
            continue;
        }
        // The text of a symbolic link is the path of its target.
        if entry.mode().is_symlink() {
            left_out.add("");
            continue;
        }
        // Also removes `..` and a leading `/` from the path.
        let Ok(path) = entry.file_path().try_normalize() else {
            left_out.add("");
            continue;
        };
        let path = path.as_ref().to_owned();
        let may_belong = project::belongs(&path) || project::is_markdown(&path);
        if !may_belong || files.iter().any(|f| f.path == path) {
            left_out.add(&path);
            continue;
        }
        if entry.flags().is_encrypted() {
            return Err(Refusal::Archive(format!("{path} is encrypted")));
        }
        let deflated = match entry.compression_method() {
            CompressionMethod::STORE => false,
            CompressionMethod::DEFLATE => true,
            _ => return Err(Refusal::Archive(format!("{path} is compressed in a way that this page does not read"))),
        };
        if files.len() == project::MAX_FILES {
            return Err(Refusal::TooMany);
        }
        let data = archive.get_entry(entry.wayfinder()).map_err(fault)?.data().to_vec();
        files.push(Packed { path, deflated, data, crc: entry.crc32() });
    }
    if files.is_empty() { Err(Refusal::NoPython) } else { Ok((files, left_out)) }
}

/// Whether uncompressed data matches the archive's checksum.
pub fn intact(file: &Packed, unpacked: &[u8]) -> Result<(), Refusal> {
    match checksum(unpacked) == file.crc {
        true => Ok(()),
        false => Err(Refusal::Archive(format!("{} is damaged", file.path))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::archive::write;

    #[test]
    fn what_was_packed_is_found() {
        let bytes = write([("src/a.py", "x = 1\r\n"), ("notes.txt", "no"), ("ä.py", "")]).unwrap();
        let (files, left_out) = list(&bytes).unwrap();
        assert_eq!(left_out, LeftOut { files: 1, first: vec!["notes.txt".into()] });
        assert_eq!(files[0].crc, rawzip::crc32(&files[0].data));
        assert_eq!(files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["src/a.py", "ä.py"]);
        assert_eq!(files[0].data, b"x = 1\r\n");
        assert_eq!(intact(&files[0], b"x = 1\r\n"), Ok(()));
        let archive = ZipArchive::from_slice(&bytes).unwrap();
        let entry = archive.entries().next_entry().unwrap().unwrap();
        let date = entry.last_modified();
        assert_eq!((date.year(), date.month(), date.day()), (1980, 1, 1));
        assert!(intact(&files[0], b"x = 2\r\n").is_err());
    }

    #[test]
    fn bad_archives_are_refused() {
        assert!(matches!(list(b"PK\x03\x04 nothing more"), Err(Refusal::Archive(_))));
        assert!(matches!(list(b""), Err(Refusal::Archive(_))));
        assert_eq!(list(&write([("a.txt", "")]).unwrap()), Err(Refusal::NoPython));
        let bytes = write([("a.py", "text")]).unwrap();
        assert!(list(&bytes[..bytes.len() - 30]).is_err());
    }
}
