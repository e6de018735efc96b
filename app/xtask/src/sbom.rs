//! `cargo xtask sbom FILE`: the bill of materials of a release, as CycloneDX 1.5.
//!
//! It lists every package of `Cargo.lock` with its licence and the hash that cargo checks, those of the build and the tests too, and the one vendored
//! script, whose bytes `search.test.mjs` compares with the package of npm's lock file.

use crate::workspace;
use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Writes the list.
pub(crate) fn write(file: &Path) -> Result<()> {
    let root = workspace::root();
    let read = |path: &str| {
        let path = root.join(path);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let mut components = crates(&read("Cargo.lock")?, &licences(&root)?);
    let npm: Value = serde_json::from_str(&read("tests/browser/package-lock.json")?)?;
    components.push(script(&npm["packages"]["node_modules/minisearch"]).context("npm's lock file has no minisearch")?);
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": "portolan", "version": env!("CARGO_PKG_VERSION") } },
        "components": components,
    });
    std::fs::write(file, format!("{list:#}\n")).with_context(|| format!("cannot write {}", file.display()))
}

/// The licence of each package by its name and version, from the packages' own manifests.
fn licences(root: &Path) -> Result<BTreeMap<(String, String), String>> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["metadata", "--locked", "--format-version", "1"]);
    let said = cargo.output().context("cannot run cargo metadata")?;
    if !said.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&said.stderr));
    }
    let metadata: Value = serde_json::from_slice(&said.stdout)?;
    let text = |package: &Value, name: &str| Some(package[name].as_str()?.to_owned());
    let licence = |package: &Value| {
        Some(((text(package, "name")?, text(package, "version")?), text(package, "license")?.replace('/', " OR ")))
    };
    Ok(metadata["packages"].as_array().into_iter().flatten().filter_map(licence).collect())
}

/// The packages of a lock file that come from a registry.
fn crates(lock: &str, licences: &BTreeMap<(String, String), String>) -> Vec<Value> {
    let packages = lock.split("[[package]]").skip(1).filter_map(|package| {
        let field = |name: &str| package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        let [name, version, hash] = ["name", "version", "checksum"].map(|name| Some(field(name)?.trim_matches('"')));
        let (name, version) = (name?, version?);
        let licence = licences.get(&(name.to_owned(), version.to_owned()));
        Some(component("cargo", name, version, ("SHA-256", hash?), licence.map(String::as_str)))
    });
    packages.collect()
}

/// A package of npm's lock file: `minisearch`.
fn script(package: &Value) -> Option<Value> {
    let hash = package["integrity"].as_str()?.strip_prefix("sha512-")?;
    let hash: String = BASE64_STANDARD.decode(hash).ok()?.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(component("npm", "minisearch", package["version"].as_str()?, ("SHA-512", &hash), package["license"].as_str()))
}

fn component(registry: &str, name: &str, version: &str, hash: (&str, &str), licence: Option<&str>) -> Value {
    json!({
        "type": "library",
        "name": name,
        "version": version,
        "purl": format!("pkg:{registry}/{name}@{version}"),
        "hashes": [{ "alg": hash.0, "content": hash.1 }],
        "licenses": licence.into_iter().map(|licence| json!({ "expression": licence })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_registries_are_listed() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.2.3+x\"\nsource = \"registry+r\"\nchecksum = \"0f\"\n\
                    dependencies = [\n \"b\",\n]\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        let licences = BTreeMap::from([(("a".to_owned(), "1.2.3+x".to_owned()), "MIT OR Apache-2.0".to_owned())]);
        let [only] = &crates(lock, &licences)[..] else { panic!("one package") };
        assert_eq!(only["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(only["purl"], "pkg:cargo/a@1.2.3+x");
        assert_eq!(only["hashes"][0]["content"], "0f");
    }

    #[test]
    fn the_script_has_the_hash_of_its_package() {
        let package = json!({ "version": "7.2.0", "integrity": "sha512-AAEC/w==", "license": "MIT" });
        let script = script(&package).unwrap();
        assert_eq!(script["hashes"][0], json!({ "alg": "SHA-512", "content": "000102ff" }));
        assert_eq!(
            (&script["purl"], &script["licenses"][0]["expression"]),
            (&"pkg:npm/minisearch@7.2.0".into(), &"MIT".into())
        );
    }
}
