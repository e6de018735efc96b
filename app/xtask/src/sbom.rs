//! `cargo xtask sbom FILE`: the bill of materials of a release, as CycloneDX 1.5.
//!
//! It lists every package of `Cargo.lock` with the hash that cargo checks, those of the build and the tests too, and the one vendored script, whose
//! bytes `search.test.mjs` compares with the package of npm's lock file.

use crate::workspace;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::Path;

/// Writes the list.
pub(crate) fn write(file: &Path) -> Result<()> {
    let root = workspace::root();
    let read = |path: &str| {
        let path = root.join(path);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let mut components = crates(&read("Cargo.lock")?);
    let npm: Value = serde_json::from_str(&read("tests/browser/package-lock.json")?)?;
    let version = npm["packages"]["node_modules/minisearch"]["version"].as_str();
    let version = version.context("npm's lock file has no minisearch")?;
    components.push(json!({
        "type": "library", "name": "minisearch", "version": version, "purl": format!("pkg:npm/minisearch@{version}"),
    }));
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": "portolan", "version": env!("CARGO_PKG_VERSION") } },
        "components": components,
    });
    std::fs::write(file, format!("{list:#}\n")).with_context(|| format!("cannot write {}", file.display()))
}

/// The packages of a lock file that come from a registry.
fn crates(lock: &str) -> Vec<Value> {
    let packages = lock.split("[[package]]").skip(1).filter_map(|package| {
        let field = |name: &str| package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        let [name, version, hash] = ["name", "version", "checksum"].map(|name| Some(field(name)?.trim_matches('"')));
        let (name, version) = (name?, version?);
        Some(json!({
            "type": "library",
            "name": name,
            "version": version,
            "purl": format!("pkg:cargo/{name}@{version}"),
            "hashes": [{ "alg": "SHA-256", "content": hash? }],
        }))
    });
    packages.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_registries_are_listed() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.2.3+x\"\nsource = \"registry+r\"\nchecksum = \"0f\"\n\
                    dependencies = [\n \"b\",\n]\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        let [only] = &crates(lock)[..] else { panic!("one package") };
        assert_eq!(only["purl"], "pkg:cargo/a@1.2.3+x");
        assert_eq!(only["hashes"][0]["content"], "0f");
    }
}
