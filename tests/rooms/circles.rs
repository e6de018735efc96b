//! Modules of a crate that use one another in a circle. A module and what it is made of may know each other: a parent names its
//! children, and a child what its parent holds for all of them.

use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;

/// A module's path inside its crate, without the crate: `["step", "host"]`; empty for the crate's root.
type Module = Vec<String>;

/// Every circle between modules of a crate, each as the modules in it. `files` are the crate's, by module.
pub(crate) fn circles(files: &BTreeMap<Module, syn::File>) -> Vec<String> {
    let known: BTreeSet<&Module> = files.keys().collect();
    let handed_on: BTreeMap<&Module, BTreeMap<String, Vec<String>>> =
        files.iter().map(|(module, file)| (module, reexports(module, file))).collect();
    let mut uses: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for (module, file) in files {
        let mut paths = Paths { module, found: Vec::new() };
        paths.visit_file(file);
        let homes = paths.found.iter().filter_map(|path| home(path, &known, &handed_on, 8));
        uses.insert(module, homes.filter(|other| !related(module, other)).collect());
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

fn related(a: &[String], b: &[String]) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// All modules that one leads to.
fn reached<'m>(uses: &BTreeMap<&'m Module, BTreeSet<&'m Module>>, from: &Module) -> BTreeSet<&'m Module> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Module> = uses.get(from).into_iter().flatten().copied().collect();
    while let Some(module) = open.pop() {
        if seen.insert(module) {
            open.extend(uses.get(module).into_iter().flatten());
        }
    }
    // What was opened came out of the map's own keys and values.
    seen.into_iter().filter_map(|module| uses.get_key_value(module).map(|(key, _)| *key)).collect()
}

/// The module that a path from the root leads into, behind what modules hand on of one another.
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

/// Names that a module hands on, with where they come from, from the root.
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

/// Collects the paths of a file that begin in its crate.
struct Paths<'m> {
    module: &'m [String],
    found: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // Tests beside the code may use whatever they test.
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
    // Also behind what the root hands on.
    let root = "pub use a::A; pub use b::B;";
    assert_eq!(made_up(&[("", root), ("a", "use crate::B;"), ("b", "use crate::A;")]), ["a, b"]);
    let tested = "#[cfg(test)] mod tests { use crate::b::B; }";
    assert_eq!(made_up(&[("", ""), ("a", tested), ("b", "use crate::a::A;")]), Vec::<String>::new());
}
