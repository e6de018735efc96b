//! The modules of a project: which file a name in an import is in, and which files a file reaches.

use crate::file::PythonFile;
use rustc_hash::FxHashMap;
use sorting::SortedSet;
use std::cell::OnceCell;

/// The modules of a project by their names.
pub struct Modules<'v, 't> {
    files: Vec<&'v PythonFile<'t>>,
    /// The file of a path without its extension, the first if there are several.
    modules: FxHashMap<&'v str, usize>,
    /// The first file whose path ends with this, below a folder.
    endings: FxHashMap<&'v str, usize>,
    /// The files that each file imports.
    imports: Vec<OnceCell<Vec<usize>>>,
}

impl<'v, 't> Modules<'v, 't> {
    /// Reads the paths of all files.
    pub fn of(files: Vec<&'v PythonFile<'t>>) -> Self {
        let (mut modules, mut endings) = (FxHashMap::default(), FxHashMap::default());
        for (at, file) in files.iter().enumerate() {
            let module = file.path.trim_end_matches(".py").trim_end_matches("/__init__");
            modules.entry(module).or_insert(at);
            for (slash, _) in module.match_indices('/') {
                endings.entry(&module[slash + 1..]).or_insert(at);
            }
        }
        let imports = vec![OnceCell::new(); files.len()];
        Self { files, modules, endings, imports }
    }

    /// Indices of the files that a file reaches by imports, itself first.
    pub fn reached(&self, from: usize) -> Vec<usize> {
        let mut order = vec![from];
        let mut seen = SortedSet::from_iter([from]);
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            order.extend(self.imports(at).iter().filter(|found| seen.insert(**found)));
        }
        order
    }

    fn imports(&self, from: usize) -> &[usize] {
        let found = |name: &String| self.resolve(from, name).map(|(found, _)| found);
        self.imports[from].get_or_init(|| imported(self.files[from]).iter().filter_map(found).collect())
    }

    /// The files, as they were passed.
    pub(crate) fn files(&self) -> &[&'v PythonFile<'t>] {
        &self.files
    }

    /// Whether the project has a module of this name, in any folder.
    pub fn has(&self, module: &str) -> bool {
        self.modules.contains_key(module) || self.endings.contains_key(module)
    }

    /// The folder from which a program imports the project's files: its own, or the one by which its imports name them.
    pub fn import_root(&self, program: usize) -> &'v str {
        let path = self.files[program].path;
        let folder = folder_of(path);
        let imported = imported(self.files[program]);
        let roots = imported.iter().filter(|name| !name.starts_with('.')).filter_map(|name| {
            let (found, rest) = self.resolve(program, name)?;
            let parts = name.split('.').count() - rest.len();
            let module = self.files[found].path.trim_end_matches(".py").trim_end_matches("/__init__");
            Some((0..parts).fold(module, |path, _| folder_of(path)))
        });
        let roots: SortedSet<&str> = roots.collect();
        if roots.contains(folder) {
            return folder;
        }
        if let Some(root) = roots.iter().next() {
            return root;
        }
        // A file with relative imports is started as a module of its package.
        let mut root = folder;
        let is_package = |folder: &str| {
            let start = format!("{folder}/__init__.py");
            self.files.iter().any(|file| file.path == start)
        };
        if imported.iter().any(|name| name.starts_with('.')) {
            while !root.is_empty() && (root == folder || is_package(root)) {
                root = folder_of(root);
            }
        }
        root
    }

    /// The file that contains a dotted name, and what remains of the name: the longest prefix that is a module of the project.
    pub(crate) fn resolve<'n>(&self, from: usize, name: &'n str) -> Option<(usize, Vec<&'n str>)> {
        let folder: Vec<&str> = self.files[from].path.split('/').collect();
        let folder = &folder[..folder.len() - 1];
        let rest = name.trim_start_matches('.');
        let dots = name.len() - rest.len();
        let parts: Vec<&str> = rest.split('.').filter(|part| !part.is_empty()).collect();
        let at = |module: &str| self.modules.get(module).copied();
        for length in (0..=parts.len()).rev() {
            if dots > 0 {
                let base = folder.get(..folder.len().checked_sub(dots - 1)?)?;
                if let Some(found) = at(&[base, &parts[..length]].concat().join("/")) {
                    return Some((found, parts[length..].to_vec()));
                }
            } else if length > 0 {
                let module = parts[..length].join("/");
                // First next to the file, then at the root, then below any folder that the program may add to its path.
                // A single word may also be a third-party package.
                let below = || self.endings.get(module.as_str()).copied().filter(|_| length > 1);
                let beside = at(&[folder, &parts[..length]].concat().join("/"));
                if let Some(found) = beside.or_else(|| at(&module)).or_else(below) {
                    return Some((found, parts[length..].to_vec()));
                }
            }
        }
        None
    }
}

/// The folder of a path; empty for the project's own.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn imported(file: &PythonFile<'_>) -> SortedSet<String> {
    let names = &file.names;
    let bound = names.bindings.iter().map(|binding| &binding.qualified);
    let compact = |name: &String| name.chars().filter(|c| !c.is_whitespace()).collect();
    bound.chain(&names.modules).chain(&names.wildcards).map(compact).collect()
}
