//! General code names no vendor. The words are read from the guides' front matter, so a new target adds its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Rooms whose sources are entirely general.
const GENERAL: &[&str] = &[
    "app/python/src",
    "app/training/src",
    "app/codemod/src",
    "app/guide/src",
    "app/tables/src",
    "app/launch/src",
    "app/site/src",
    "app/cli/src",
    "app/web/src",
];

/// Names in a target's table that are not vendor-specific.
const COMMON: &[&str] = &[
    "CCL_WORKER_COUNT",
    "JOB_HOSTS",
    "LD_LIBRARY_PATH",
    "LOCAL_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "MPI_ROOT",
    "NODE_RANK",
    "OMP_NUM_THREADS",
    "PATH",
    "RANK",
    "SLURM_JOB_ID",
    "WORLD_SIZE",
    "nccl",
    "one",
    "many",
    "process",
    "processes",
    "python",
    "torch",
    // A framework of several vendors, and a page that is not a vendor's.
    "lightning",
    "tutorial",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The vendor-specific words of a guide.
fn words(front: &Table) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut add = |text: &str| {
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.len() > 2) {
            words.insert(word.to_lowercase());
        }
    };
    let text = |table: &Table, key: &str| table.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    add(&text(front, "target"));
    for module in front.get("modules").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        add(module);
        add(module.split(['_', '.']).next().unwrap_or_default());
    }
    for name in front.get("variable").and_then(Value::as_table).into_iter().flat_map(Table::keys) {
        add(name);
    }
    let Some(launch) = front.get("launch").and_then(Value::as_table) else { return words };
    // `HPU (Intel Gaudi)`
    add(&text(launch, "label"));
    let rows = |table: &Table, key: &str| -> Vec<Table> {
        let list = table.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        list.into_iter().filter_map(|row| row.as_table().cloned()).collect()
    };
    for row in rows(launch, "set") {
        add(&text(&row, "name"));
    }
    let lint = launch.get("lint").and_then(Value::as_table).cloned().unwrap_or_default();
    for key in ["name", "variable"] {
        for row in rows(&lint, key) {
            add(&text(&row, "name"));
            add(&text(&row, "right"));
        }
    }
    for (table, key) in [("shares", "program"), ("backend", "right")] {
        add(&lint.get(table).and_then(Value::as_table).map(|table| text(table, key)).unwrap_or_default());
    }
    words
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

#[test]
fn general_code_names_no_vendor() {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("guides")).expect("guides").flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        if let Ok((front, _)) = guide::split_front_matter(&text) {
            all.extend(words(&toml::from_str(front).expect("TOML")));
        }
    }
    all.retain(|word| !COMMON.iter().any(|common| common.eq_ignore_ascii_case(word)));
    assert!(all.contains("gaudi") && all.contains("poprun") && all.contains("pt_hpu_lazy_mode"), "{all:?}");
    let mut broken = Vec::new();
    for room in GENERAL {
        let mut files = Vec::new();
        sources(&root().join(room), &mut files);
        let texts: Vec<(PathBuf, String)> = files
            .into_iter()
            .map(|file| {
                let text = std::fs::read_to_string(&file).expect("UTF-8");
                (file, text)
            })
            .collect();
        let only_tested = |file: &Path| {
            let declared = format!("#[cfg(test)]\nmod {};", file.file_stem().unwrap_or_default().display());
            texts.iter().any(|(other, text)| other.parent() == file.parent() && text.contains(&declared))
        };
        for (file, text) in texts.iter().filter(|(file, _)| !only_tested(file)) {
            // A file's own tests are not general.
            let general = text.split("#[cfg(test)]").next().unwrap_or_default();
            // A comment may use a vendor as an example.
            let code = general.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            for (at, line) in code {
                let own = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(str::to_lowercase);
                let named: Vec<String> = own.filter(|word| all.contains(word)).collect();
                if !named.is_empty() {
                    broken.push(format!("{}:{}: {}", file.display(), at + 1, named.join(", ")));
                }
            }
        }
    }
    assert!(broken.is_empty(), "vendors' words belong in guides, sites and tests:\n{}", broken.join("\n"));
}
