//! Which files of the project a file is made of: its own, and those it imports.

use crate::view::FileView;
use std::collections::BTreeSet;

/// Numbers of the files that a file reaches by imports, itself first.
pub(crate) fn reached(views: &[FileView<'_>], from: usize) -> Vec<usize> {
    let mut order = vec![from];
    let mut seen = BTreeSet::from_iter([from]);
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for name in imported(&views[at]) {
            if let Some(found) = resolve(views, at, &name).filter(|found| seen.insert(*found)) {
                order.push(found);
            }
        }
    }
    order
}

fn imported(view: &FileView<'_>) -> BTreeSet<String> {
    let names = &view.names;
    let bound = names.bindings.iter().map(|binding| &binding.qualified);
    let compact = |name: &String| name.chars().filter(|c| !c.is_whitespace()).collect();
    bound.chain(&names.modules).chain(&names.wildcards).map(compact).collect()
}

/// The file that a dotted name lies in: the longest start of the name that is a module of the project.
fn resolve(views: &[FileView<'_>], from: usize, name: &str) -> Option<usize> {
    let folder: Vec<&str> = views[from].path.split('/').collect();
    let folder = &folder[..folder.len() - 1];
    let rest = name.trim_start_matches('.');
    let dots = name.len() - rest.len();
    let parts: Vec<&str> = rest.split('.').filter(|part| !part.is_empty()).collect();
    let is_at = |view: &FileView<'_>, module: &str| {
        let path = view.path.trim_end_matches(".py").trim_end_matches("/__init__");
        path == module
    };
    for length in (0..=parts.len()).rev() {
        if dots > 0 {
            let base = folder.get(..folder.len().checked_sub(dots - 1)?)?;
            let module = [base, &parts[..length]].concat().join("/");
            if let Some(found) = views.iter().position(|view| is_at(view, &module)) {
                return Some(found);
            }
        } else if length > 0 {
            let module = parts[..length].join("/");
            // Beside the file first, then at the root, then below any folder that the program may put on its path.
            let beside = [folder, &parts[..length]].concat().join("/");
            let below = format!("/{module}");
            let found = views
                .iter()
                .position(|view| is_at(view, &beside))
                .or_else(|| views.iter().position(|view| is_at(view, &module)))
                .or_else(|| {
                    let ends = |view: &FileView<'_>| {
                        view.path.trim_end_matches(".py").trim_end_matches("/__init__").ends_with(&below)
                    };
                    // A single word may as well be somebody else's package.
                    views.iter().position(ends).filter(|_| length > 1)
                });
            if found.is_some() {
                return found;
            }
        }
    }
    None
}
