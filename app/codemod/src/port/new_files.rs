//! Files that a port adds: modules of the guides that its programs import and the project lacks.

use super::plan::Plan;
use crate::condition::{first_import, imports};
use crate::definitions::Module;
use crate::messages;
use crate::place::Remark;
use crate::ported::{Applicability, Diagnostic, Edit, Ported, PortedFile, Severity};
use crate::recipe::RecipeSet;
use python::modules::Modules;
use python::names::PUBLISHED_TWICE;
use sorting::{SortedMap, SortedSet};
use std::rc::Rc;
use training::{FileView, starts_of};

/// The new files, and by file what is said at its first import of one.
pub(super) fn new_files(
    plan: &Plan<'_>,
    views: &[Option<Rc<FileView<'_>>>],
) -> (Vec<PortedFile>, SortedMap<usize, Remark>) {
    let (mut files, mut remarks) = (Vec::new(), SortedMap::new());
    for (name, module) in plan.settings.definitions.modules() {
        if plan.options.rejected_recipes.contains(&module.recipe) {
            continue;
        }
        let (numbers, views): (Vec<usize>, Vec<&FileView<'_>>) =
            views.iter().enumerate().filter_map(|(n, view)| Some((n, view.as_deref()?))).unzip();
        let importing: Vec<usize> = (0..views.len()).filter(|n| imports(views[*n], name)).collect();
        let Some(first) = importing.first() else { continue };
        let modules = Modules::of(views.iter().map(|view| &view.file).collect());
        let text = as_imported_by(views[*first], &module.text);
        // Python looks next to the program, wherever the import is.
        let starts = starts_of(&views);
        let programs = |file: usize| {
            let found = starts.iter().filter(|files| files.contains(&file)).map(|files| files[0]).collect::<Vec<_>>();
            if found.is_empty() { vec![file] } else { found }
        };
        let mut folders = SortedSet::new();
        for file in importing {
            let roots: SortedSet<&str> =
                programs(file).into_iter().map(|start| folder_on_path(&modules, &views, start)).collect();
            let at = |root: &str, end: &str| if root.is_empty() { end.to_owned() } else { format!("{root}/{end}") };
            let existing = |root: &&str| {
                let paths = [at(root, &format!("{name}.py")), at(root, &format!("{name}/__init__.py"))];
                views.iter().find(|view| paths.iter().any(|path| path == view.path))
            };
            let (there, lacking): (Vec<&str>, Vec<&str>) = roots.into_iter().partition(|root| existing(root).is_some());
            let unfit = there.iter().filter_map(existing).find(|other| !has_what_is_imported(other, views[file], name));
            let paths: Vec<String> = lacking.iter().map(|root| at(root, &format!("{name}.py"))).collect();
            let said = match unfit {
                Some(other) => Some((Severity::Warning, messages::new_file_exists(other.path))),
                None if paths.is_empty() => None,
                None => Some((Severity::Info, messages::new_file(paths.join("`, `")))),
            };
            if let Some((severity, said)) = said {
                let range = first_import(views[file], &[name.to_owned()]).map(|id| views[file].index.range(id));
                let remark = Remark::warning(range.unwrap_or(0..0), &module.recipe, said);
                remarks.insert(numbers[file], Remark { severity, ..remark });
            }
            folders.extend(paths);
        }
        files.extend(folders.into_iter().map(|path| new_file(path, module, &text)));
    }
    (files, remarks)
}

/// The folder in which Python looks first when it runs a file: that of the script, unless it is run as a module of a package, by
/// whose name it or other files import what is in it.
fn folder_on_path<'v>(modules: &Modules<'v, '_>, views: &[&'v FileView<'_>], start: usize) -> &'v str {
    let (view, root) = (views[start], modules.import_root(start));
    let folder = view.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let init = format!("{folder}/__init__.py");
    let below = view.path.strip_prefix(root).unwrap_or(view.path).trim_start_matches('/');
    let names_package = || below.split('/').next().is_some_and(|package| imports(view, package));
    let is_module = folder != root
        && (views.iter().any(|other| other.path == init)
            || names_package()
            || view.names.bindings.iter().any(|binding| binding.qualified.starts_with('.'))
            || (0..views.len()).any(|other| other != start && modules.reached(other).contains(&start)));
    if is_module { root } else { folder }
}

/// Whether a module of the project has all that a file imports from it.
fn has_what_is_imported(module: &FileView<'_>, file: &FileView<'_>, name: &str) -> bool {
    let imported =
        file.names.bindings.iter().filter_map(|binding| binding.qualified.strip_prefix(name)?.strip_prefix('.'));
    let is_there =
        |own: &str| module.defines(own) || module.assigns(own) || module.names.bindings.iter().any(|b| b.local == own);
    !module.names.wildcards.is_empty() || imported.filter(|own| !own.contains('.')).all(is_there)
}

/// Removes a new file that is there already, outside of what was ported. If it has other contents, the messages about it
/// say that it was left.
pub fn keep_existing(ported: &mut Ported, path: &str, is_same: bool, recipes: &RecipeSet) {
    let Some(at) = ported.files.iter().position(|file| file.is_new && file.path == path) else { return };
    let file = ported.files.remove(at);
    ported.certificate.files.remove(path);
    let about = |said: &Diagnostic| file.edits.iter().any(|edit| edit.recipe == said.recipe);
    let (message, _) = recipes.definitions(&ported.target).message(&messages::new_file_exists(path));
    for other in &mut ported.files {
        match is_same {
            true => other.diagnostics.retain(|said| !about(said)),
            false => other.diagnostics.iter_mut().filter(|said| about(said)).for_each(|said| {
                said.severity = Severity::Warning;
                said.message.clone_from(&message);
            }),
        }
    }
}

fn new_file(path: String, module: &Module, text: &str) -> PortedFile {
    let edit = Edit {
        id: format!("{}@0", module.recipe),
        recipe: module.recipe.clone(),
        applicability: Applicability::Safe,
        start: 0,
        end: 0,
        text: text.to_owned(),
        comments_removed: Vec::new(),
    };
    PortedFile {
        path,
        changed: true,
        text: text.to_owned(),
        edits: vec![edit],
        diagnostics: Vec::new(),
        notebook: None,
        is_new: true,
    }
}

/// A module's text, with the name by which a program imports a package that is published under two.
fn as_imported_by(view: &FileView<'_>, text: &str) -> String {
    let (usual, other) = PUBLISHED_TWICE;
    let package = usual.split('.').next().unwrap_or(usual);
    match imports(view, other) && !imports(view, package) {
        true => text.replace(usual, other),
        false => text.to_owned(),
    }
}
