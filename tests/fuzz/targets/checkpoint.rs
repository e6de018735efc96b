//! `torch.save` checkpoints: whole archives, and pickles that are put into one.

use super::tensors::hold;
use super::{Mutator, Target, Ways};
use uresnet::{read_checkpoint, read_tensors};

pub(super) const TARGET: Target =
    Target { name: "checkpoint", check, seeds: Vec::new, mutator: Mutator::Bytes, short: 400 };

fn check(input: &[u8], _: Ways) {
    if input.starts_with(b"PK") {
        hold(input, &read_tensors(input));
    } else {
        let packed = stored(&[("a/data.pkl", input), ("a/data/0", &[0x3f; 64]), ("a/data/1", &[0; 8])]);
        hold(&packed, &read_checkpoint(&packed));
    }
}

/// A zip archive of uncompressed files.
fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut archive, mut list) = (Vec::new(), Vec::new());
    for (path, content) in files {
        let (at, crc, size) = (archive.len() as u32, crc32(content), content.len() as u32);
        // Version, flags, method, time and date; checksum, both sizes, and the length of the name.
        let mut entry = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        entry.extend([crc, size, size].into_iter().flat_map(u32::to_le_bytes));
        entry.extend((path.len() as u16).to_le_bytes());
        archive.extend([b"PK\x03\x04".as_slice(), &entry, &[0, 0], path.as_bytes(), content].concat());
        list.extend([b"PK\x01\x02\x14\0".as_slice(), &entry, &[0; 12], &at.to_le_bytes(), path.as_bytes()].concat());
    }
    let (at, size, count) = (archive.len() as u32, list.len() as u32, (files.len() as u16).to_le_bytes());
    let end = [b"PK\x05\x06\0\0\0\0".as_slice(), &count, &count, &size.to_le_bytes(), &at.to_le_bytes(), &[0, 0]];
    [archive, list, end.concat()].concat()
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}
