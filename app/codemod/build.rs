//! Embeds the guides' recipes in the crate: reads `guides/*.md` and writes them as one file.

use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guides");
    println!("cargo::rerun-if-changed={}", root.display());
    let entries = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    let mut paths: Vec<_> =
        entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|x| x == "md")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}: there is no guide, and without guides the engine has no recipes", root.display());
    let read = |path: &std::path::PathBuf| {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (format!("guides/{name}"), text)
    };
    let files: Vec<(String, String)> = paths.iter().map(read).collect();
    let mut guides = Vec::new();
    let mut faults = Vec::new();
    match guide::pages(files.iter().map(|(path, text)| (&**path, &**text))) {
        Ok((pages, unused)) => {
            faults.extend(unused);
            for page in pages {
                match page.parse() {
                    Ok(guide) => guides.push(guide),
                    Err(errors) => faults.extend(errors),
                }
            }
        }
        Err(errors) => faults.extend(errors),
    }
    if !faults.is_empty() {
        faults.dedup();
        faults.iter().for_each(|fault| println!("cargo::error={fault}"));
        std::process::exit(1);
    }
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        guides = guide::for_download(guides);
    }
    guides.sort_by(|a, b| (a.front.order, &a.name).cmp(&(b.front.order, &b.name)));
    let out = Path::new(&std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("guides.bin");
    let packed = postcard::to_allocvec(&guide::pack(guides)).expect("guides are plain data");
    std::fs::write(&out, packed).unwrap_or_else(|e| panic!("{}: {e}", out.display()));
}
