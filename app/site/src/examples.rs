//! The files from which the page at `/port/` opens examples, one per guide.

use codemod::pack_examples;
use guide::Guide;

/// Their folder, relative to the site's root.
pub(crate) const FOLDER: &str = "examples/";

/// A guide's file, as a path from the site's root, and its contents; none for a guide without examples.
pub(crate) fn write(guide: &Guide) -> Option<(String, Vec<u8>)> {
    let packed = pack_examples(guide);
    (!packed.is_empty()).then(|| (format!("{FOLDER}{}.bin", guide.name), packed.into_bytes()))
}
