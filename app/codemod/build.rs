//! Bakes the guides' recipes into the crate: reads `guides/*.md` and writes them as one file.

use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guides");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut paths: Vec<_> = std::fs::read_dir(&root)
        .map(|entries| {
            entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|x| x == "md")).collect()
        })
        .unwrap_or_default();
    paths.sort();
    let mut guides = Vec::new();
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        match guide::Guide::parse(&format!("guides/{name}"), &text) {
            Ok(guide) => guides.push(guide),
            // The guide tests say what is wrong, with its line; a build that fails here would hide their message.
            Err(errors) => errors.iter().for_each(|e| println!("cargo::warning={e}")),
        }
    }
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        // Sections that are there to be read are on the site.
        for guide in &mut guides {
            guide.sections.retain(|section| !section.rules.is_empty() || !section.examples.is_empty());
        }
        // Where a rule stands in its guide is for those who write one; here it only tells it from the section's others.
        for section in guides.iter_mut().flat_map(|g| &mut g.sections) {
            (section.line, section.level) = (0, 0);
            for (n, rule) in section.rules.iter_mut().enumerate() {
                rule.line = n + 1;
                rule.conditions.iter_mut().for_each(|condition| condition.line = 0);
            }
        }
        // The page opens examples as input and runs the port itself: what should come out, and the line to name when it
        // doesn't, are for the tests.
        for example in guides.iter_mut().flat_map(|g| &mut g.sections).flat_map(|s| &mut s.examples) {
            example.line = 0;
            if example.kind == guide::ExampleKind::After {
                example.text.clear();
            }
        }
    }
    guides.sort_by(|a, b| (a.front.order, &a.name).cmp(&(b.front.order, &b.name)));
    let out = Path::new(&std::env::var("OUT_DIR").unwrap_or_default()).join("guides.bin");
    std::fs::write(&out, postcard::to_allocvec(&guide::pack(guides)).unwrap_or_default())
        .unwrap_or_else(|e| panic!("{}: {e}", out.display()));
}
