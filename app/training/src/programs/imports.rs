//! Which files of the project a file consists of: itself, and those it imports.

use crate::view::FileView;
use std::collections::{BTreeSet, HashMap};

/// The modules of a project by their names.
pub(crate) struct Imports<'v, 't> {
    views: &'v [&'v FileView<'t>],
    /// The file of a path without its extension, the first if there are several.
    modules: HashMap<&'v str, usize>,
    /// The first file whose path ends with this, below a folder.
    endings: HashMap<&'v str, usize>,
}

impl<'v, 't> Imports<'v, 't> {
    /// Reads the paths of all files.
    pub(crate) fn of(views: &'v [&'v FileView<'t>]) -> Self {
        let (mut modules, mut endings) = (HashMap::new(), HashMap::new());
        for (at, view) in views.iter().enumerate() {
            let module = view.path.trim_end_matches(".py").trim_end_matches("/__init__");
            modules.entry(module).or_insert(at);
            for (slash, _) in module.match_indices('/') {
                endings.entry(&module[slash + 1..]).or_insert(at);
            }
        }
        Self { views, modules, endings }
    }

    /// Indices of the files that a file reaches by imports, itself first.
    pub(crate) fn reached(&self, from: usize) -> Vec<usize> {
        let mut order = vec![from];
        let mut seen = BTreeSet::from_iter([from]);
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for name in imported(self.views[at]) {
                if let Some(found) = self.resolve(at, &name).filter(|found| seen.insert(*found)) {
                    order.push(found);
                }
            }
        }
        order
    }

    /// The file that contains a dotted name: the longest prefix of the name that is a module of the project.
    fn resolve(&self, from: usize, name: &str) -> Option<usize> {
        let folder: Vec<&str> = self.views[from].path.split('/').collect();
        let folder = &folder[..folder.len() - 1];
        let rest = name.trim_start_matches('.');
        let dots = name.len() - rest.len();
        let parts: Vec<&str> = rest.split('.').filter(|part| !part.is_empty()).collect();
        let at = |module: &str| self.modules.get(module).copied();
        for length in (0..=parts.len()).rev() {
            if dots > 0 {
                let base = folder.get(..folder.len().checked_sub(dots - 1)?)?;
                if let Some(found) = at(&[base, &parts[..length]].concat().join("/")) {
                    return Some(found);
                }
            } else if length > 0 {
                let module = parts[..length].join("/");
                // First next to the file, then at the root, then below any folder that the program may add to its path.
                // A single word may also be a third-party package.
                let below = || self.endings.get(module.as_str()).copied().filter(|_| length > 1);
                let beside = at(&[folder, &parts[..length]].concat().join("/"));
                if let Some(found) = beside.or_else(|| at(&module)).or_else(below) {
                    return Some(found);
                }
            }
        }
        None
    }
}

fn imported(view: &FileView<'_>) -> BTreeSet<String> {
    let names = &view.names;
    let bound = names.bindings.iter().map(|binding| &binding.qualified);
    let compact = |name: &String| name.chars().filter(|c| !c.is_whitespace()).collect();
    bound.chain(&names.modules).chain(&names.wildcards).map(compact).collect()
}
