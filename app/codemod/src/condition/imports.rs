//! The imports of a file, and their places.

use super::Situation;
use super::surroundings::trains;
use python::tree::{Id, ROOT, kinds};
use training::FileView;
use training::program_start::main_block;

/// The guides' list of torch and modules that always load it.
pub(crate) const BUILT_ON_TORCH: &str = "modules_built_on_torch";

/// The guides' list of modules that never load torch; every other import may.
pub(crate) const WITHOUT_TORCH: &str = "modules_without_torch";

fn is_import(view: &FileView<'_>, id: Id) -> bool {
    [kinds().import_statement, kinds().import_from_statement].contains(&view.index.kind(id))
}

/// First parts of the module names in an import statement; a relative import has none but those of packages that another file
/// passes on.
fn imported_heads<'v>(view: &'v FileView<'_>, id: Id) -> Vec<&'v str> {
    let k = kinds();
    let index = &view.index;
    let words = index.of_kind_in(k.dotted_name, id).iter().map(|n| index.text_of(*n));
    let take = if index.kind(id) == k.import_from_statement { 1 } else { usize::MAX };
    let relative = index.text_of(id).trim_start_matches("from").trim_start().starts_with('.');
    let named = words.take(if relative { 0 } else { take }).map(|word| word.split('.').next().unwrap_or(word));
    named.chain(view.names.packages.get(&id).into_iter().flatten().map(String::as_str)).collect()
}

/// First parts of the module names that a top-level statement imports: an import, or a `try` or `if` with imports in
/// it.
fn loaded_heads<'v>(view: &'v FileView<'_>, id: Id) -> Option<Vec<&'v str>> {
    let k = kinds();
    let index = &view.index;
    if is_import(view, id) {
        return Some(imported_heads(view, id));
    }
    // The main block runs after the definitions of the file, and contains what uses them.
    if index.kind(id) != k.try_statement && index.kind(id) != k.if_statement || main_block(view) == Some(id) {
        return None;
    }
    let imports = index.of_kind_in(k.import_statement, id).iter().chain(index.of_kind_in(k.import_from_statement, id));
    let heads: Vec<&str> =
        imports.filter(|i| view.function_of(**i).is_none()).flat_map(|i| imported_heads(view, *i)).collect();
    (!heads.is_empty()).then_some(heads)
}

/// The statements that contain the import of torch: those of the file or, if only a function imports it and nothing is
/// ported yet, of that function.
fn beside_torch(view: &FileView<'_>, ported: &[String]) -> Vec<Id> {
    let index = &view.index;
    let loads = |id: &Id| loaded_heads(view, *id).is_some_and(|h| h.contains(&"torch"));
    let at_top = index.parts(ROOT).any(|id| loads(&id));
    let inner = first_import(view, &["torch".to_owned()]).filter(|_| !at_top && first_import(view, ported).is_none());
    index.parts(inner.and_then(|id| index.parent(id)).unwrap_or(ROOT)).collect()
}

/// The first statement that imports torch or something that may import it, such as another file of a project that
/// trains.
pub(super) fn first_torch_import(s: &Situation<'_, '_>) -> Option<Id> {
    let view = s.view;
    let of_project = leads_to_training(s);
    // Something that is given a device loads torch, although nothing here imports it.
    let without_torch = s.project.starts(view) && trains(s) && first_import(view, &["torch".to_owned()]).is_none();
    let [built_on_torch, without] = [BUILT_ON_TORCH, WITHOUT_TORCH].map(|list| s.settings.definitions.names(list));
    let known = |h: &&str| built_on_torch.iter().any(|m| m.name == *h) || (of_project && s.project.places.contains(*h));
    let first = |statements: Vec<Id>| {
        let loading: Vec<(Id, Vec<&str>)> =
            statements.into_iter().filter_map(|id| loaded_heads(view, id).map(|h| (id, h))).collect();
        // A file that never names torch, or a library based on it, does not need its bridge.
        let needs = |heads: &[&str]| without_torch || heads.iter().any(known) || (of_project && heads.is_empty());
        loading.iter().find(|(_, heads)| needs(heads))?;
        let may = |head: &&str| !without.iter().any(|module| module.name == *head);
        loading.into_iter().find(|(_, heads)| heads.is_empty() || heads.iter().any(may)).map(|(id, _)| id)
    };
    let at_top = (of_project || without_torch).then(|| first(view.index.parts(ROOT).collect())).flatten();
    at_top.or_else(|| first(beside_torch(view, &s.settings.target.modules)))
}

/// Whether a program starts in the file, and it or a file that it loads trains or has modules of the target.
pub(super) fn leads_to_training(s: &Situation<'_, '_>) -> bool {
    s.project.starts(s.view) && s.project.leads_to_training(s.view)
}

/// The first statement that imports one of these packages, or something from it.
pub(crate) fn first_import(view: &FileView<'_>, packages: &[String]) -> Option<Id> {
    let k = kinds();
    let statements = view.index.of_kind(k.import_statement).iter().chain(view.index.of_kind(k.import_from_statement));
    let of_package = |id: &Id| imported_heads(view, *id).iter().any(|head| packages.iter().any(|p| p == head));
    statements.copied().filter(of_package).min()
}

/// The last of the consecutive imports that include the first import of torch itself.
pub(super) fn last_torch_import(view: &FileView<'_>, ported: &[String]) -> Option<Id> {
    let statements = beside_torch(view, ported);
    let torch = statements.iter().position(|id| loaded_heads(view, *id).is_some_and(|h| h.contains(&"torch")))?;
    let run = statements[torch..].iter().copied();
    run.take_while(|id| loaded_heads(view, *id).is_some()).last()
}

/// Whether the file imports a module or a name, in any form.
pub(crate) fn imports(view: &FileView<'_>, qualified: &str) -> bool {
    view.names.modules.iter().any(|m| m == qualified || m.strip_prefix(qualified).is_some_and(|r| r.starts_with('.')))
        || view.names.imports(qualified)
}
