//! Writes the lists of words in `guides/reading-a-program.md` as constants, for `src/words.rs`.

use guide::{Defined, Guide};
use std::fmt::Write;
use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guides/reading-a-program.md");
    println!("cargo::rerun-if-changed={}", root.display());
    let text = std::fs::read_to_string(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    let guide = Guide::parse("guides/reading-a-program.md", &text).unwrap_or_else(|faults| {
        faults.iter().for_each(|fault| println!("cargo::error={fault}"));
        std::process::exit(1);
    });
    let mut constants = String::new();
    for definition in guide.sections.iter().flat_map(|section| &section.definitions) {
        if let Defined::Words(words) = &definition.what {
            let (name, place) = (definition.name.to_uppercase(), format!("{}:{}", guide.path, definition.line));
            writeln!(constants, "/// {place}\npub const {name}: &[&str] = &{words:?};").expect("a String takes all");
        }
    }
    let out = Path::new(&std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("words.rs");
    std::fs::write(&out, constants).unwrap_or_else(|e| panic!("{}: {e}", out.display()));
}
