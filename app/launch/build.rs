//! Embeds the data for launches in the crate: the tables of the guides that have a table `[launch]`, and the site
//! files. All are read and checked here.

use serde::Serialize;
use std::path::{Path, PathBuf};
use tables::{Outline, Site, read_site, read_targets};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let front = |(path, text): (PathBuf, String)| {
        let front = guide::split_front_matter(&text).map_or("", |(front, _)| front).to_string();
        (shown(&path), front)
    };
    let fronts: Vec<_> = files(&here.join("../../guides"), "md").into_iter().map(front).collect();
    let targets = read_targets(&fronts).unwrap_or_else(|faults| stop(&faults));
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let mut sites: Vec<Site> = Vec::new();
    let mut faults = Vec::new();
    for (path, text) in files(&here.join("sites"), "toml") {
        let site = match read_site(&text, &names) {
            Ok(site) => site,
            Err(fault) => {
                faults.push(format!("{}: {fault}", shown(&path)));
                continue;
            }
        };
        if path.file_stem().is_none_or(|stem| *stem != *site.name) {
            faults.push(format!("{}: the file is called otherwise than the site, `{}`", shown(&path), site.name));
        }
        if site.checked.is_none() {
            faults.push(format!("{}: `checked` says on which day its facts were looked up", shown(&path)));
        }
        sites.push(site);
    }
    if !faults.is_empty() {
        stop(&faults);
    }
    sites.sort_by_key(|site| site.group.as_deref() != Some("generic"));
    let outlines: Vec<Outline> = targets.iter().map(tables::TargetTable::outline).collect();
    pack("outlines.bin", &outlines);
    pack("targets.bin", &targets);
    pack("sites.bin", &sites);
}

fn stop(faults: &[String]) -> ! {
    faults.iter().for_each(|fault| println!("cargo::error={fault}"));
    std::process::exit(1);
}

fn pack(name: &str, data: &impl Serialize) {
    let file = Path::new(&std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join(name);
    let packed = postcard::to_allocvec(data).expect("tables are plain data");
    std::fs::write(&file, packed).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
}

/// The path as seen from the root of the checkout.
fn shown(path: &Path) -> String {
    let tail: Vec<_> = path.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy()).collect();
    tail.iter().rev().map(AsRef::as_ref).collect::<Vec<&str>>().join("/")
}

/// The files of a folder with that extension, by name, with their texts.
fn files(folder: &Path, extension: &str) -> Vec<(PathBuf, String)> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|own| own == extension));
    paths.sort();
    let read = |path: PathBuf| {
        println!("cargo::rerun-if-changed={}", path.display());
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path, text)
    };
    paths.into_iter().map(read).collect()
}
