//! Initial inputs: files of the repository, read in place, and the few in `seeds/`.

use crate::fuzz::projects;
use std::fs;
use std::path::{Path, PathBuf};

/// A file's name and its bytes.
pub(crate) type Seed = (String, Vec<u8>);

/// The checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(1).unwrap_or(Path::new(".")).to_path_buf()
}

/// Files below a folder of the repository whose names have this suffix, sorted by path.
pub(crate) fn files(folder: &str, end: &str) -> Vec<Seed> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())));
        } else if path.to_string_lossy().ends_with(end) {
            let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string().replace(['/', '\\'], "-");
            found.extend(fs::read(&path).ok().map(|bytes| (name, bytes)));
        }
    }
    found.sort();
    found
}

/// The committed seeds of a target, including fixed failures.
pub(crate) fn own(target: &str) -> Vec<Seed> {
    files(&format!("tests/fuzz/seeds/{target}"), "")
}

/// Programs that a port changes: fixtures, and the examples of the guides.
pub(crate) fn programs() -> Vec<Seed> {
    let mut found: Vec<Seed> = ["scripts", "projects", "targets", "twins", "bad"]
        .iter()
        .flat_map(|folder| files(&format!("tests/fixtures/{folder}"), ".py"))
        .filter(|(_, bytes)| bytes.len() < 16 << 10)
        .collect();
    for guide in guides() {
        let examples = guide.sections.iter().flat_map(|section| &section.examples);
        let examples = examples.filter(|example| example.language == "python");
        found.extend(examples.map(|one| (format!("{}-{}.py", guide.name, one.line), one.text.clone().into_bytes())));
    }
    found
}

/// Projects: parts of the fixture's, and programs side by side.
pub(crate) fn projects() -> Vec<Seed> {
    const ROOT: &str = "tests/fixtures/projects/cristae";
    const CONFIG: [&str; 4] =
        ["requirements.txt", "cristae/config/__init__.py", "cristae/config/mode.py", "cristae/config/run.py"];
    const PARTS: [&[&str]; 4] = [
        &["cristae/core/base_trainer.py", "cristae/core/ranks.py", "cristae/torch_backend/distributed.py"],
        &["bin/segment.py", "cristae/torch_backend/unet.py", "cristae/torch_backend/loss.py"],
        &["cristae/config/data.py", "cristae/config/config.yaml", "cristae/tf_backend/trainer.py"],
        &["cristae/torch_backend/trainer.py"],
    ];
    const PATHS: [&str; 3] = ["train.py", "net.py", "data.py"];
    let read = |path: &str| Some((path.to_owned(), fs::read_to_string(root().join(ROOT).join(path)).ok()?));
    let parts = PARTS.iter().map(|part| CONFIG.iter().chain(*part).filter_map(|path| read(path)).collect());
    let programs = programs();
    let besides = programs.chunks(PATHS.len()).map(|chunk| {
        let texts = chunk.iter().map(|(_, text)| String::from_utf8_lossy(text).into_owned());
        let files = PATHS.iter().map(|path| (*path).to_owned()).zip(texts);
        files.chain([("requirements.txt".to_owned(), "torch==2.1\ntensorflow\n".to_owned())]).collect()
    });
    let all: Vec<Vec<(String, String)>> = parts.chain(besides).collect();
    let joined = all.iter().enumerate().map(|(n, files)| (format!("{n}.txt"), projects::join(files).into_bytes()));
    joined.filter(|(_, text)| text.len() < 24 << 10).collect()
}

/// The guides with their examples.
fn guides() -> Vec<guide::Guide> {
    let text = |(path, bytes): Seed| Some((path.replacen('-', "/", 1), String::from_utf8(bytes).ok()?));
    let files: Vec<(String, String)> = files("guides", ".md").into_iter().filter_map(text).collect();
    let pages = guide::pages(files.iter().map(|(path, text)| (&**path, &**text)))
        .map_or_else(|_| Vec::new(), |(pages, _)| pages);
    pages.iter().filter_map(|page| page.parse().ok()).collect()
}

/// Sections of the guides, each a text that begins with its heading.
pub(crate) fn sections() -> Vec<Seed> {
    let mut found = Vec::new();
    for (path, bytes) in files("guides", ".md") {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut lines: Vec<String> = Vec::new();
        for line in text.split_inclusive('\n') {
            if line.starts_with("## ") || line.starts_with("### ") || lines.is_empty() {
                lines.push(String::new());
            }
            lines.last_mut().into_iter().for_each(|section| section.push_str(line));
        }
        let sections = lines.into_iter().skip(1).filter(|section| section.contains("```diff rule"));
        found.extend(sections.enumerate().map(|(n, section)| (format!("{path}-{n}.md"), section.into_bytes())));
    }
    found
}
