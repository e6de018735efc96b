//! Which files of a project load which, according to their imports.

use crate::view::FileView;
use python::modules::Modules;
use python::strings::plain_string;
use python::tree::{Id, kinds};
use rustc_hash::FxHashMap;
use sorting::SortedSet;
use std::cell::OnceCell;

/// Functions that load modules whose names are known only at run time.
const BY_NAME: [&str; 3] = ["importlib", "runpy", "__import__"];
/// Functions that do the same.
const LOOKUPS: [&str; 4] = ["instantiate", "get_class", "get_method", "get_object"];

/// What a file imports: `torch.nn` of `import torch.nn`, `torch.nn.Linear` of `from torch.nn import Linear`.
pub(crate) fn imported<'v>(view: &'v FileView<'_>) -> impl Iterator<Item = &'v str> {
    let names = &view.names;
    let imports = names.bindings.iter().filter(|b| view.index.kind(b.statement) != kinds().assignment);
    let whole = names.modules.iter().chain(&names.wildcards).map(String::as_str);
    whole.chain(imports.map(|b| b.qualified.as_str()))
}

/// Every identifier in a file's imports.
pub(crate) fn imported_words<'v>(view: &'v FileView<'_>) -> impl Iterator<Item = &'v str> {
    let bound = view.names.bindings.iter().map(|b| b.qualified.as_str());
    let whole = view.names.modules.iter().chain(&view.names.wildcards).map(String::as_str);
    bound.chain(whole).flat_map(|name| name.split('.'))
}

/// Files that train or import one of the target's modules, and those from which imports lead to such a file. A module
/// whose name is known only at run time may lead anywhere.
pub(crate) fn leading_to_training(views: &[&FileView<'_>], modules: &[String]) -> SortedSet<String> {
    leading_to(views, |view| imports_one(view, modules) || trains_here(view))
}

/// Files for which something holds, and those from which imports lead to such a file.
pub(crate) fn leading_to(views: &[&FileView<'_>], holds: impl Fn(&FileView<'_>) -> bool) -> SortedSet<String> {
    if !views.iter().any(|view| holds(view)) {
        return SortedSet::new();
    }
    let (mut importers, mut todo): (FxHashMap<&str, Vec<usize>>, Vec<usize>) = Default::default();
    for (number, view) in views.iter().enumerate() {
        let words: SortedSet<&str> = imported_words(view).collect();
        let looks_up = LOOKUPS.iter().any(|lookup| !view.calls(lookup).is_empty());
        if holds(view) || looks_up || BY_NAME.iter().any(|name| words.contains(name)) {
            todo.push(number);
        }
        words.into_iter().for_each(|word| importers.entry(word).or_default().push(number));
    }
    let mut leading = SortedSet::new();
    while let Some(number) = todo.pop() {
        if leading.insert(views[number].path.to_owned()) {
            // Those that import another file of this name are known already.
            let name = module_name(views[number].path);
            todo.extend(name.and_then(|name| importers.remove(name)).into_iter().flatten());
        }
    }
    leading
}

/// Whether a file has modules of the target, or imports torch and has a training step or a device: CUDA's or the target's
/// own.
pub(crate) fn trains(view: &FileView<'_>, modules: &[String], own: Option<&str>) -> bool {
    let index = &view.index;
    let is_device = |text: &str| text == "cuda" || text.starts_with("cuda:") || own == Some(text);
    let names_device = |id: &Id| plain_string(index, *id).is_some_and(is_device);
    imports_one(view, modules)
        || view.names.imports("torch") && (trains_here(view) || index.of_kind(kinds().string).iter().any(names_device))
}

fn trains_here(view: &FileView<'_>) -> bool {
    !view.steps.training.is_empty() || !view.calls("cuda").is_empty()
}

fn imports_one(view: &FileView<'_>, modules: &[String]) -> bool {
    let within = |name: &String, module: &String| {
        name.strip_prefix(module.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    view.names.modules.iter().any(|name| modules.iter().any(|m| within(name, m)))
}

/// Files that programs load, directly or indirectly, and that are not programs; and files that another file loads if
/// that file, or another one loaded with them, changes a learning rate. `programs` and `rates` have an entry for each
/// file, in order.
pub(crate) fn loaded(views: &[&FileView<'_>], programs: &[bool], rates: &[bool]) -> [SortedSet<String>; 2] {
    let imports = Modules::of(views.iter().map(|view| &view.file).collect());
    let mut found = [SortedSet::new(), SortedSet::new()];
    let changes_rates = rates.contains(&true);
    for loader in (0..views.len()).filter(|loader| changes_rates || programs[*loader]) {
        let reached = imports.reached(loader);
        let changing = reached.iter().filter(|n| rates[**n]).count();
        for file in reached {
            let holds = [programs[loader] && !programs[file], file != loader && changing > usize::from(rates[file])];
            for (set, _) in found.iter_mut().zip(holds).filter(|(_, holds)| *holds) {
                set.insert(views[file].path.to_owned());
            }
        }
    }
    found
}

/// Files that train in a program which consists of files without a device; for each file it is known whether a program
/// starts there.
pub(crate) fn without_device(
    views: &[&FileView<'_>],
    starts: &[bool],
    names_device: impl Fn(&FileView<'_>) -> bool,
) -> SortedSet<String> {
    let imports = Modules::of(views.iter().map(|view| &view.file).collect());
    let trains = |n: &usize| !views[*n].steps.training.is_empty() && !views[*n].names.is_of_other_framework();
    let programs = (0..views.len()).filter(|n| starts[*n]).map(|n| imports.reached(n));
    let named = vec![OnceCell::new(); views.len()];
    let names_device = |n: &usize| *named[*n].get_or_init(|| names_device(views[*n]));
    let on_host = programs.filter(|files| files.iter().any(trains) && !files.iter().any(names_device));
    on_host.flatten().filter(trains).map(|n| views[n].path.to_owned()).collect()
}

/// The last part of the name by which a file is imported: its own name, or that of the package for an `__init__.py`.
pub(crate) fn module_name(path: &str) -> Option<&str> {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    path.rsplit('/').next()
}

#[cfg(test)]
mod tests {
    use super::{imported, imported_words, leading_to_training, loaded, module_name, trains, without_device};
    use crate::marked;
    use sorting::SortedSet;

    fn joined(paths: SortedSet<String>) -> String {
        paths.into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_file_imports() {
        let program = "import a.b\nfrom c import d as e\nfrom f import *\n";
        let sorted = |words: SortedSet<&str>| words.into_iter().collect::<Vec<_>>().join(" ");
        marked::check(program, "a.b c.d f".to_owned(), |at| {
            sorted(imported(at.file().view).filter(|name| *name != "a").collect())
        });
        marked::check(program, "a b c d f".to_owned(), |at| sorted(imported_words(at.file().view).collect()));
    }

    #[test]
    fn files_from_which_imports_lead_to_training() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| {
                joined(leading_to_training(&at.project_views(), &["poptorch".to_owned()]))
            });
        };
        let fit = "#- fit.py\nimport torch\ndef fit():\n    net(x).backward()\n";
        check(&format!("#- main.py\nimport fit\n#- plot.py\nimport draw\n{fit}"), "fit.py main.py");
        check(&format!("#- main.py\nimport importlib\n{fit}"), "fit.py main.py");
        check("#- main.py\nimport importlib\n", "");
        check("#- main.py\nimport poptorch.nn\n#- other.py\nimport poptorchvision\n", "main.py");
    }

    #[test]
    fn a_file_that_trains_or_names_a_device() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| trains(at.file().view, &[], Some("hpu")));
        };
        check("import torch\nx.to('cuda:1')\n", true);
        check("import torch\nx.to('hpu')\n", true);
        check("import torch\nx.to('cpu')\n", false);
        check("x.to('cuda')\n", false);
    }

    #[test]
    fn files_that_programs_load() {
        let check = |program: &str, expected: [&str; 2]| {
            marked::check(program, expected.map(str::to_owned), |at| {
                let views = at.project_views();
                let named = |name: &str| views.iter().map(|view| view.has_word(name)).collect::<Vec<bool>>();
                loaded(&views, &named("program"), &named("rate")).map(joined)
            });
        };
        check("#- a.py\nimport b\nprogram\n#- b.py\nx = 1\n#- c.py\nrate\n", ["b.py", ""]);
        check("#- a.py\nimport b\nimport c\nprogram\n#- b.py\nx = 1\n#- c.py\nrate\n", ["b.py c.py", "b.py"]);
    }

    #[test]
    fn programs_without_a_device() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| {
                let views = at.project_views();
                let starts: Vec<bool> = views.iter().map(|view| view.has_word("start")).collect();
                joined(without_device(&views, &starts, |view| view.has_word("device")))
            });
        };
        let fit = "#- fit.py\nimport torch\ndef fit():\n    net(x).backward()\n";
        check(&format!("#- main.py\nimport fit\nstart\n{fit}"), "fit.py");
        check(&format!("#- main.py\nimport fit\nstart\ndevice\n{fit}"), "");
    }

    #[test]
    fn the_name_of_a_module() {
        let check = |path: &str, expected: &str| assert_eq!(module_name(path), Some(expected), "{path}");
        check("a/b.py", "b");
        check("a/__init__.py", "a");
    }
}
