//! Cycles between modules of a crate. A module and its children may use each other: a parent names its children, and a
//! child uses definitions that its parent shares.

use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;

/// A module's path inside its crate, without the crate: `["step", "host"]`; empty for the crate's root.
type Module = Vec<String>;

/// Every cycle between modules of a crate, each as the modules in it. `files` are the crate's, by module.
pub(crate) fn circles(files: &BTreeMap<Module, syn::File>) -> Vec<String> {
    let mut uses = uses(files);
    for (module, others) in &mut uses {
        others.retain(|other| !related(module, other));
    }
    let mut found = Vec::new();
    let mut told: BTreeSet<&Module> = BTreeSet::new();
    for module in uses.keys() {
        let from_it = reached(&uses, module);
        let back = |other: &&&Module| reached(&uses, other).contains(*module);
        let circle: BTreeSet<&Module> = from_it.iter().filter(back).copied().collect();
        if circle.contains(module) && told.insert(module) {
            told.extend(circle.iter());
            found.push(circle.iter().map(|m| m.join("::")).collect::<Vec<_>>().join(", "));
        }
    }
    found
}

/// The modules that each module uses, with re-exports resolved.
fn uses(files: &BTreeMap<Module, syn::File>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let known: BTreeSet<&Module> = files.keys().collect();
    let handed_on: BTreeMap<&Module, BTreeMap<String, Vec<String>>> =
        files.iter().map(|(module, file)| (module, reexports(module, file))).collect();
    let mut uses: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for (module, file) in files {
        let mut paths = Paths { module, found: Vec::new() };
        paths.visit_file(file);
        let homes = paths.found.iter().filter_map(|path| home(path, &known, &handed_on, 8));
        uses.insert(module, homes.collect());
    }
    uses
}

/// Uses that violate the order of layers: below each of the folders, a layer may use those named before it and itself.
/// A folder named in `shared` may be used by all and uses none of them; the folders do not use one another.
pub(crate) fn against_layers(
    files: &BTreeMap<Module, syn::File>,
    folders: &[&str],
    layers: &[&str],
    shared: &str,
) -> Vec<String> {
    let place = |name: &str| layers.iter().position(|layer| *layer == name);
    let mut broken = Vec::new();
    for (module, others) in uses(files) {
        let Some(folder) = module.first() else { continue };
        for other in others {
            let Some(target) = other.first().filter(|name| folders.contains(&name.as_str())) else { continue };
            let (from, to) = (module.get(1), other.get(1));
            let wrong = match (from.and_then(|name| place(name)), to.and_then(|name| place(name))) {
                _ if folder == shared || folder != target => true,
                (Some(from), Some(to)) => to > from,
                _ => false,
            };
            if wrong {
                broken.push(format!("{} must not use {}", module.join("::"), other.join("::")));
            }
        }
    }
    broken
}

fn related(a: &[String], b: &[String]) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// All modules reachable from one.
fn reached<'m>(uses: &BTreeMap<&'m Module, BTreeSet<&'m Module>>, from: &Module) -> BTreeSet<&'m Module> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Module> = uses.get(from).into_iter().flatten().copied().collect();
    while let Some(module) = open.pop() {
        if seen.insert(module) {
            open.extend(uses.get(module).into_iter().flatten());
        }
    }
    // The inserted values are the map's own keys and values.
    seen.into_iter().filter_map(|module| uses.get_key_value(module).map(|(key, _)| *key)).collect()
}

/// The module to which a path from the root leads, with re-exports resolved.
fn home<'m>(
    path: &[String],
    known: &BTreeSet<&'m Module>,
    handed_on: &BTreeMap<&Module, BTreeMap<String, Vec<String>>>,
    depth: usize,
) -> Option<&'m Module> {
    let length = (0..=path.len()).rev().find(|length| known.contains(&path[..*length].to_vec()))?;
    let module = known.get(&path[..length].to_vec()).copied()?;
    let next = path.get(length).and_then(|name| handed_on.get(module)?.get(name));
    match next.filter(|_| depth > 0) {
        Some(elsewhere) => home(elsewhere, known, handed_on, depth - 1),
        None => Some(module),
    }
}

/// Names that a module re-exports, with their origin, from the root.
fn reexports(module: &[String], file: &syn::File) -> BTreeMap<String, Vec<String>> {
    let mut out = BTreeMap::new();
    for item in &file.items {
        if let syn::Item::Use(item) = item
            && !matches!(item.vis, syn::Visibility::Inherited)
        {
            let mut leaves = Vec::new();
            flatten(&item.tree, &mut Vec::new(), &mut leaves);
            for leaf in leaves {
                // `pub use child::Name`: the path begins at the module itself.
                let path = from_root(module, &leaf).unwrap_or_else(|| module.iter().chain(&leaf).cloned().collect());
                if let Some(name) = leaf.last() {
                    out.insert(name.clone(), path);
                }
            }
        }
    }
    out
}

/// A path as written, from the root; none for a path that begins elsewhere.
fn from_root(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|segment| *segment == "super").count();
    match path.first().map(String::as_str) {
        Some("crate") => Some(path[1..].to_vec()),
        Some("self") => Some(module.iter().chain(&path[1..]).cloned().collect()),
        Some("super") if ups <= module.len() => {
            Some(module[..module.len() - ups].iter().chain(&path[ups..]).cloned().collect())
        }
        _ => None,
    }
}

/// Each path of a `use`.
fn flatten(tree: &syn::UseTree, start: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    match tree {
        syn::UseTree::Path(path) => {
            start.push(path.ident.to_string());
            flatten(&path.tree, start, out);
            start.pop();
        }
        syn::UseTree::Name(name) if name.ident == "self" => out.push(start.clone()),
        syn::UseTree::Name(name) => out.push(start.iter().cloned().chain([name.ident.to_string()]).collect()),
        syn::UseTree::Rename(name) => out.push(start.iter().cloned().chain([name.ident.to_string()]).collect()),
        syn::UseTree::Glob(_) => out.push(start.clone()),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, start, out)),
    }
}

/// Collects the paths in a file that begin in its crate.
struct Paths<'m> {
    module: &'m [String],
    found: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // Unit tests may use whatever they test.
        if !item.attrs.iter().any(|a| a.path().is_ident("cfg")) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut leaves = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut leaves);
        self.found.extend(leaves.iter().filter_map(|leaf| from_root(self.module, leaf)));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        self.found.extend(from_root(self.module, &segments));
        syn::visit::visit_path(self, path);
    }
}

fn made_up(modules: &[(&str, &str)]) -> Vec<String> {
    let module = |name: &str| name.split("::").filter(|n| !n.is_empty()).map(str::to_owned).collect();
    let file = |text: &str| syn::parse_file(text).expect("the test's source is Rust");
    circles(&modules.iter().map(|(name, text)| (module(name), file(text))).collect())
}

#[test]
fn parents_and_children_may_know_each_other() {
    let none: Vec<String> = Vec::new();
    assert_eq!(made_up(&[("", "mod a;"), ("a", "mod b; use b::B;"), ("a::b", "use super::A; struct B;")]), none);
    assert_eq!(made_up(&[("", "mod a; mod b;"), ("a", "use crate::b::B;"), ("b", "struct B;")]), none);
}

#[test]
fn a_circle_is_named() {
    let two = made_up(&[("", ""), ("a", "use crate::b::B;"), ("b", "fn f(a: crate::a::A) {}")]);
    assert_eq!(two, ["a, b"]);
    let three = made_up(&[("", ""), ("a", "use super::b::B;"), ("b", "use super::c::{C, D};"), ("c", "use super::a;")]);
    assert_eq!(three, ["a, b, c"]);
    // With re-exports of the root resolved.
    let root = "pub use a::A; pub use b::B;";
    assert_eq!(made_up(&[("", root), ("a", "use crate::B;"), ("b", "use crate::A;")]), ["a, b"]);
    let tested = "#[cfg(test)] mod tests { use crate::b::B; }";
    assert_eq!(made_up(&[("", ""), ("a", tested), ("b", "use crate::a::A;")]), Vec::<String>::new());
}

#[test]
fn a_use_against_the_layers_is_named() {
    let check = |modules: &[(&str, &str)]| {
        let module = |name: &str| name.split("::").filter(|n| !n.is_empty()).map(str::to_owned).collect();
        let file = |text: &str| syn::parse_file(text).expect("the test's source is Rust");
        let files = modules.iter().map(|(name, text)| (module(name), file(text))).collect();
        against_layers(&files, &["a", "b"], &["state", "work", "view"], "shared")
    };
    let down = [("a::state", "struct S;"), ("a::work", "use crate::a::state::S;"), ("a::view", "use super::work;")];
    assert_eq!(check(&down), Vec::<String>::new());
    let up = [("a::state", "use crate::a::work::rows::R;"), ("a::work", ""), ("a::work::rows", "struct R;")];
    assert_eq!(check(&up), ["a::state must not use a::work::rows"]);
    assert_eq!(check(&[("a::state", "use crate::b::S;"), ("b", "struct S;")]), ["a::state must not use b"]);
    assert_eq!(check(&[("shared", "use crate::a::S;"), ("a", "struct S;")]), ["shared must not use a"]);
}
