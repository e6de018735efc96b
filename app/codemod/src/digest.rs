//! Hashes as text.

use sha2::{Digest, Sha256};

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}

/// The SHA-256 of a text, in hex.
pub(crate) fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
