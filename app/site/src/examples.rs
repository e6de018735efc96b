//! The files that the page at `/port/` opens examples out of, one a guide.

use codemod::pack_examples;
use guide::Guide;

/// Their folder, from the site's root.
pub(crate) const FOLDER: &str = "examples/";

/// A guide's file, as a path from the site's root, and what is in it; none for a guide without examples.
pub(crate) fn write(guide: &Guide) -> Option<(String, Vec<u8>)> {
    let packed = pack_examples(guide);
    (!packed.is_empty()).then(|| (format!("{FOLDER}{}.bin", guide.name), packed.into_bytes()))
}
