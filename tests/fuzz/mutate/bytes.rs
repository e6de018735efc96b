//! Mutations of bytes without regard to structure.

use crate::fuzz::random::Random;

/// Boundary values.
const EDGES: &[u64] = &[0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX >> 1, u64::MAX];

/// Other bytes: some replaced, inserted, removed, repeated, or taken from `other`.
pub(crate) fn bytes(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(5) {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at.min(end)..end)),
            2 => bytes.insert(at, random.next() as u8),
            3 => {
                let again = bytes[at.min(end)..end].to_vec();
                drop(bytes.splice(at..at, again));
            }
            4 => {
                let from = random.below(other.len() + 1);
                let part = &other[from..(from + random.below(64)).min(other.len())];
                drop(bytes.splice(at..at, part.iter().copied()));
            }
            5 => {
                let edge = random.pick(EDGES).copied().unwrap_or_default().to_le_bytes();
                let width = 1 << random.below(4);
                let end = (at + width).min(bytes.len());
                drop(bytes.splice(at..end, edge[..width].iter().copied()));
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    match random.below(3) {
                        0 => *byte ^= 1 << random.below(8),
                        1 => *byte = byte.wrapping_add(1),
                        _ => *byte = random.next() as u8,
                    }
                }
            }
        }
    }
    bytes
}
