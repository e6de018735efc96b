//! Packages that a file imports from another file of its project: `from .compat import torch`.

use crate::file::PythonFile;
use crate::modules::Modules;
use crate::names::Packages;
use rustc_hash::FxHashSet;

/// How many files may pass a package on to one another.
const LONGEST: usize = 8;

/// The packages that each file imports from others.
#[must_use]
pub fn packages(files: &[&PythonFile<'_>]) -> Vec<Packages> {
    let modules = Modules::of(files.to_vec());
    let all = files.iter().flat_map(|file| &file.names.bindings);
    let passed_on: FxHashSet<&str> = all.filter(|b| !b.qualified.contains('.')).map(|b| b.local.as_str()).collect();
    let of_file = |file: usize| {
        let may_be = |name: &str| name.rsplit_once('.').is_some_and(|(_, name)| passed_on.contains(name));
        let bindings = files[file].names.bindings.iter().filter(|binding| may_be(&binding.qualified));
        let named = bindings.filter_map(|binding| {
            let package = package(&modules, file, &binding.qualified)?;
            Some((binding.qualified.clone(), package))
        });
        named.collect()
    };
    (0..files.len()).map(of_file).collect()
}

/// The package that a name of a file is in another file, if that or one further on imports it.
fn package(modules: &Modules<'_, '_>, file: usize, qualified: &str) -> Option<String> {
    let (mut file, mut qualified) = (file, qualified);
    for _ in 0..LONGEST {
        let (holder, rest) = modules.resolve(file, qualified)?;
        let [name] = rest.as_slice() else { return None };
        let other = modules.files()[holder];
        let binding = other.names.bindings.iter().rev().find(|b| b.scope.is_none() && b.local == *name)?;
        if other.defines(name) {
            return None;
        }
        let is_package = !binding.qualified.contains('.') && modules.resolve(holder, &binding.qualified).is_none();
        if is_package {
            return Some(binding.qualified.clone());
        }
        (file, qualified) = (holder, &binding.qualified);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::packages;
    use crate::{PythonFile, Tree};

    #[test]
    fn what_a_file_imports_from_another_may_be_a_package() {
        let check = |files: &[(&str, &str)], expected: &str| {
            let trees: Vec<Tree> = files.iter().map(|(_, text)| Tree::parse(text)).collect();
            let files = files.iter().zip(&trees).map(|((path, _), tree)| PythonFile::read(path, tree));
            let files: Vec<PythonFile<'_>> = files.collect();
            let found = packages(&files.iter().collect::<Vec<_>>());
            let mut found: Vec<String> = found[0].iter().map(|(name, package)| format!("{name} {package}")).collect();
            found.sort();
            assert_eq!(found.join(", "), expected);
        };
        let compat = "try:\n    import torch\n    import numpy as np\nexcept ImportError:\n    torch = None\n";
        check(
            &[("a/b.py", "from .compat import np, torch\n"), ("a/compat.py", compat)],
            ".compat.np numpy, .compat.torch torch",
        );
        check(
            &[("b.py", "from a import torch as t\n"), ("a/__init__.py", "from .c import torch\n"), ("a/c.py", compat)],
            "a.torch torch",
        );
        check(&[("b.py", "from a import torch\n"), ("c.py", compat)], "");
        check(
            &[
                ("b.py", "from a import torch\nimport a\nfrom a import Net\n"),
                ("a.py", "import net\nclass torch: pass\nimport torch\nfrom net import Net\n"),
            ],
            "",
        );
        // Its own module, and a part of a package.
        check(&[("b.py", "from a import c, nn\n"), ("a.py", "import c\nfrom torch import nn\n"), ("c.py", "")], "");
        // In a circle.
        check(&[("b.py", "from a import torch\n"), ("a.py", "from b import torch\n")], "");
    }
}
