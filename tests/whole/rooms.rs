//! Checks the rooms of ARCHITECTURE.md against cargo's own data about the workspace.
//!
//! A rule is a line in one of the tables below. A new crate that is in no table fails the test, so that somebody
//! decides where it belongs.

mod circles;
mod paths;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which room may use which. Dependencies point one way; those that are not listed are not allowed.
const MAY_USE: &[(&str, &[&str])] = &[
    ("sorting", &[]),
    ("guide", &["sorting"]),
    ("uresnet", &[]),
    ("python", &["sorting"]),
    ("training", &["guide", "python", "sorting"]),
    ("codemod", &["guide", "python", "sorting", "training"]),
    ("tables", &["guide", "sorting"]),
    ("launch", &["guide", "sorting", "tables"]),
    ("forward", &["uresnet"]),
    ("site", &["guide", "python", "sorting", "codemod", "launch"]),
    ("web", &["guide", "python", "sorting", "training", "codemod", "launch", "uresnet", "forward"]),
    ("cli", &["guide", "python", "sorting", "training", "codemod", "launch", "uresnet", "site"]),
    ("xtask", &[]),
    (
        "tests",
        &[
            "guide", "python", "sorting", "training", "codemod", "tables", "launch", "uresnet", "forward", "site",
            "cli", "web",
        ],
    ),
];

/// External crates that only one room may depend on (a trailing `*` matches any suffix), and that room.
const OWNED: &[(&str, &[&str])] = &[
    ("pulldown-cmark*", &["guide"]),
    ("tree-sitter*", &["python"]),
    ("ast-grep*", &["python"]),
    ("similar", &["codemod"]),
    ("leptos*", &["web"]),
    ("reactive_*", &["web"]),
    ("web-sys", &["web"]),
    ("js-sys", &["web"]),
    ("wasm-bindgen*", &["web"]),
    ("anyhow", &["cli", "xtask"]),
];

/// Rooms of pure functions: no file, socket, process, environment, clock or terminal, and nothing of the browser.
const PURE: &[&str] = &["guide", "sorting", "python", "training", "codemod", "tables", "launch", "uresnet", "forward"];

/// Forbidden in a pure room's source, except in build scripts and tests.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::io",
    "std::time",
    "println!(",
    "print!(",
    "dbg!(",
    "todo!(",
];

/// Rooms that are compiled for a download sort with `sorting`, and keep order with its maps and sets.
const SORTED: &[&str] = &["guide", "python", "training", "codemod", "tables", "launch"];

/// What `sorting` replaces.
const COMPILED_ANEW: &[&str] = &[".sort(", ".sort_", "BTreeMap", "BTreeSet"];

/// Crates that depend on a browser.
const BROWSER: &[&str] = &["web-sys", "js-sys", "wasm-bindgen"];

/// The data for the rules: dependencies, and the sources of the pure rooms.
#[derive(Default)]
struct Workspace {
    /// Member → its ordinary and build dependencies.
    names: BTreeMap<String, BTreeSet<String>>,
    /// Any crate → the crates with which it is compiled for wasm32.
    reaches: BTreeMap<String, BTreeSet<String>>,
    /// Member, path, text.
    sources: Vec<(String, PathBuf, String)>,
}

/// All violations, as sentences.
fn broken_rules(workspace: &Workspace) -> Vec<String> {
    let mut broken = Vec::new();
    let members: BTreeSet<&String> = workspace.names.keys().collect();
    for (room, named) in &workspace.names {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| name == room) else {
            broken.push(format!("{room} is not in the table of rooms"));
            continue;
        };
        for other in named {
            if members.contains(other) && !allowed.contains(&other.as_str()) {
                broken.push(format!("{room} must not know {other}"));
            }
            let owner = OWNED.iter().find(|(pattern, _)| fits(pattern, other));
            if let Some((_, owners)) = owner.filter(|(_, owners)| room != "tests" && !owners.contains(&room.as_str())) {
                broken.push(format!("{room} must not name {other}: it belongs to {}", owners.join(", ")));
            }
        }
    }
    for room in PURE.iter().filter(|room| workspace.names.contains_key(**room)) {
        if let Some(path) = way_to(workspace, room, BROWSER) {
            broken.push(format!("{room} must not reach the browser: {}", path.join(" -> ")));
        }
    }
    for (room, path, text) in &workspace.sources {
        for (number, line) in ordinary_code(text) {
            for word in IMPURE.iter().filter(|word| line.contains(**word)) {
                broken.push(format!("{room} does no IO, but {}:{number} says {word}", path.display()));
            }
            if SORTED.contains(&room.as_str()) && COMPILED_ANEW.iter().any(|word| line.contains(word)) {
                broken.push(format!("{}:{number}: sort with the crate `sorting`, and take its maps and sets: the standard library's are compiled again for each type", path.display()));
            }
        }
    }
    broken
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// The shortest chain of dependencies from a room to one of the goals.
fn way_to(workspace: &Workspace, room: &str, goals: &[&str]) -> Option<Vec<String>> {
    let mut ways = vec![vec![room.to_owned()]];
    let mut seen = BTreeSet::from([room.to_owned()]);
    let mut next = 0;
    while let Some(way) = ways.get(next).cloned() {
        next += 1;
        let last = way.last().expect("a way starts with its room");
        if goals.contains(&last.as_str()) {
            return Some(way);
        }
        for other in workspace.reaches.get(last).into_iter().flatten() {
            if seen.insert(other.clone()) {
                ways.push(way.iter().chain([other]).cloned().collect());
            }
        }
    }
    None
}

/// Lines that are neither comments nor part of the tests at the file's end.
fn ordinary_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    lines.take_while(|(_, line)| line.trim() != "#[cfg(test)]").filter(|(_, line)| !line.trim().starts_with("//"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the checkout").to_path_buf()
}

fn the_workspace() -> Workspace {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--filter-platform", "wasm32-unknown-unknown"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();

    let name_of: BTreeMap<String, String> =
        list(&metadata["packages"]).iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
    let members: BTreeSet<String> = list(&metadata["workspace_members"]).iter().map(text).collect();
    let mut workspace = Workspace::default();
    for package in list(&metadata["packages"]) {
        if members.contains(&text(&package["id"])) {
            let ordinary = list(&package["dependencies"]).into_iter().filter(|dependency| dependency["kind"] != "dev");
            let names = ordinary.map(|dependency| text(&dependency["name"])).collect();
            workspace.names.insert(text(&package["name"]), names);
        }
    }
    for node in list(&metadata["resolve"]["nodes"]) {
        let compiled_in = list(&node["deps"])
            .into_iter()
            .filter(|dependency| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()));
        let names = compiled_in.filter_map(|dependency| name_of.get(&text(&dependency["pkg"])).cloned());
        workspace.reaches.entry(name_of[&text(&node["id"])].clone()).or_default().extend(names);
    }
    for room in PURE {
        collect(&root().join("app").join(room).join("src"), room, &mut workspace.sources);
    }
    workspace
}

fn collect(folder: &Path, room: &str, sources: &mut Vec<(String, PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, room, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file is text");
            let shown = path.strip_prefix(root()).unwrap_or(&path).to_path_buf();
            sources.push((room.to_owned(), shown, text));
        }
    }
}

#[test]
fn the_rooms_keep_to_the_plan() {
    let broken = broken_rules(&the_workspace());
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn the_workspace_is_really_looked_at() {
    let workspace = the_workspace();
    assert!(workspace.names["codemod"].contains("guide"));
    assert!(workspace.names["python"].contains("tree-sitter"));
    assert!(way_to(&workspace, "web", BROWSER).is_some());
    for room in ["guide", "python", "training", "codemod"] {
        assert!(workspace.sources.iter().any(|(owner, _, _)| owner == room), "no source of {room} was read");
    }
}

/// The library and the tool that writes its JavaScript must have exactly the same version; setup installs the one in
/// the lock file, so the manifest must pin it.
#[test]
fn wasm_bindgen_is_pinned_to_the_locked_version() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the root manifest is there");
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("the lock file is there");
    let (_, entry) = lock.split_once("name = \"wasm-bindgen\"\nversion = \"").expect("wasm-bindgen is locked");
    let version = entry.split('"').next().unwrap_or_default();
    assert!(manifest.contains(&format!("wasm-bindgen = \"={version}\"")), "Cargo.toml does not pin {version}");
}

fn made_up(names: &[(&str, &[&str])], reaches: &[(&str, &[&str])], sources: &[(&str, &str)]) -> Vec<String> {
    let owned = |table: &[(&str, &[&str])]| {
        let rows = table.iter();
        rows.map(|(name, others)| (name.to_string(), others.iter().map(|other| other.to_string()).collect())).collect()
    };
    let sources = sources.iter().map(|(room, text)| (room.to_string(), PathBuf::from("x.rs"), text.to_string()));
    broken_rules(&Workspace { names: owned(names), reaches: owned(reaches), sources: sources.collect() })
}

#[test]
fn a_good_workspace_breaks_nothing() {
    let names: &[(&str, &[&str])] = &[("guide", &["pulldown-cmark"]), ("codemod", &["guide", "similar"])];
    let source = "//! No std::fs here.\nfn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }\n";
    assert_eq!(made_up(names, &[("codemod", &["guide"])], &[("guide", source)]), Vec::<String>::new());
}

#[test]
fn a_dependency_against_the_arrows_is_named() {
    let broken = made_up(&[("guide", &["codemod"]), ("codemod", &["guide"])], &[], &[]);
    assert_eq!(broken, ["guide must not know codemod"]);
}

#[test]
fn a_crate_that_belongs_elsewhere_is_named() {
    let broken = made_up(&[("site", &["tree-sitter-python"]), ("cli", &["leptos_meta"])], &[], &[]);
    assert_eq!(
        broken,
        [
            "cli must not name leptos_meta: it belongs to web",
            "site must not name tree-sitter-python: it belongs to python",
        ]
    );
}

#[test]
fn a_way_into_the_browser_is_shown() {
    let reaches: &[(&str, &[&str])] = &[("codemod", &["uuid"]), ("uuid", &["js-sys"])];
    let broken = made_up(&[("codemod", &["uuid"])], reaches, &[]);
    assert_eq!(broken, ["codemod must not reach the browser: codemod -> uuid -> js-sys"]);
}

#[test]
fn io_in_a_pure_room_is_named_with_its_line() {
    let broken = made_up(&[], &[], &[("codemod", "fn f() {\n    std::fs::read(\"x\");\n}\n")]);
    assert_eq!(broken, ["codemod does no IO, but x.rs:2 says std::fs"]);
}

#[test]
fn a_sort_of_its_own_in_a_downloaded_room_is_named() {
    let broken = made_up(&[], &[], &[("codemod", "fn f(mut list: Vec<u8>) {\n    list.sort();\n}\n")]);
    assert_eq!(
        broken,
        [
            "x.rs:2: sort with the crate `sorting`, and take its maps and sets: the standard library's are compiled again for each type"
        ]
    );
}

#[test]
fn a_crate_without_a_room_is_named() {
    assert_eq!(made_up(&[("attic", &[])], &[], &[]), ["attic is not in the table of rooms"]);
}

/// The sources of a member as Rust, by module; the root has no name. A separate program in `bin/` belongs to no module.
fn modules_of(member: &str) -> BTreeMap<Vec<String>, syn::File> {
    let mut sources = Vec::new();
    let folder = root().join("app").join(member).join("src");
    collect(&folder, member, &mut sources);
    let mut modules = BTreeMap::new();
    for (_, path, text) in sources {
        let inside = root().join(path).strip_prefix(&folder).expect("it was found there").with_extension("");
        let mut names: Vec<String> =
            inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        let is_test = names.last().is_some_and(|name| name == "tests");
        if is_test || names.first().is_some_and(|name| name == "bin") {
            continue;
        }
        if names == ["lib"] || names == ["main"] {
            names.clear();
        }
        modules.insert(names, syn::parse_file(&text).expect("a source file is Rust"));
    }
    modules
}

#[test]
fn no_modules_use_one_another_in_a_circle() {
    let mut found = Vec::new();
    for member in the_workspace().names.keys().filter(|member| *member != "tests") {
        let modules = modules_of(member);
        assert!(!modules.is_empty(), "no source of {member} was read");
        found.extend(circles::circles(&modules).into_iter().map(|circle| format!("{member}: {circle}")));
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// Pages of `web`, and their layers: plain data between programs, state, the connection to the browser, the view. Each
/// may use those before it.
const PAGES: &[&str] = &["port", "launch", "check"];
const LAYERS: &[&str] = &["protocol", "state", "work", "view"];

#[test]
fn the_two_ways_through_the_engine_go_one_way() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map is there");
    for (heading, down, least) in
        [("## From a pasted line to a hunk", false, 10), ("## From a section to a rule", true, 8)]
    {
        let files = paths::listed(&map, heading);
        assert!(files.len() >= least, "{heading}: {files:?}");
        assert_eq!(paths::against_order(&files, &paths::texts(&root(), &files), down), [""; 0], "{heading}");
    }
}

#[test]
fn pages_keep_to_their_layers() {
    let modules = modules_of("web");
    for page in PAGES {
        for layer in ["state", "work", "view"] {
            assert!(modules.contains_key(&vec![page.to_string(), layer.to_string()]), "{page} has no {layer}");
        }
    }
    let broken = circles::against_layers(&modules, PAGES, LAYERS, "shared");
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// Where `unsafe` is allowed, each with its reason. Everywhere else the workspace's lint denies it.
const UNSAFE: &[(&str, &str)] = &[
    ("app/uresnet/src/kernels.rs", "instructions of processors, and memory that threads share"),
    ("app/forward/src/main.rs", "the interface of the modules to JavaScript"),
    ("tests/fuzz/libfuzzer.rs", "functions that libFuzzer calls by their names"),
];

#[test]
fn unsafe_stands_in_the_kernels_and_at_the_border_alone() {
    let manifest = |path: &str| std::fs::read_to_string(root().join(path)).expect("a manifest is there");
    assert!(manifest("Cargo.toml").contains("unsafe_code = \"deny\""));
    let mut sources = Vec::new();
    for member in the_workspace().names.keys() {
        let folder = if member == "tests" { member.clone() } else { format!("app/{member}") };
        assert!(manifest(&format!("{folder}/Cargo.toml")).contains("[lints]\nworkspace = true"), "{member}");
        if member != "tests" {
            collect(&root().join(folder), member, &mut sources);
        }
    }
    // The tests' own sources, but for this file, which contains the word itself.
    for entry in std::fs::read_dir(root().join("tests")).expect("tests/ is there").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && !["browser", "fixtures"].iter().any(|other| name == *other) {
            collect(&path, "tests", &mut sources);
        } else if name.to_string_lossy().ends_with(".rs") {
            let text = std::fs::read_to_string(&path).expect("a source file is text");
            sources.push(("tests".to_owned(), Path::new("tests").join(name), text));
        }
    }
    sources.retain(|(_, path, _)| !path.ends_with("whole/rooms.rs"));
    let lifts = |text: &str| text.contains("unsafe_code");
    let lifted =
        sources.iter().filter(|(_, _, text)| lifts(text)).map(|(_, path, _)| path.to_string_lossy().replace('\\', "/"));
    let lifted: BTreeSet<String> = lifted.collect();
    assert_eq!(lifted, UNSAFE.iter().map(|(path, _)| path.to_string()).collect());
}
