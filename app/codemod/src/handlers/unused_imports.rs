//! `drop-unused-imports`: imports whose last use went with a change.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::names::Binding;
use crate::order::Set;
use crate::tree::{Id, fields, kinds};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    if input.text == input.original {
        return Vec::new();
    }
    let k = kinds();
    let index = &view.index;
    let in_use = names_in_use(view);
    let exports = exports(view);
    let mut by_statement: Vec<(Id, Vec<&Binding>)> = Vec::new();
    for binding in &view.names.bindings {
        if index.kind(binding.statement) == k.assignment
            || binding.qualified == "torch"
            || exports.iter().any(|names| names.contains(&binding.local))
        {
            continue;
        }
        // `import torch.backends.cudnn` binds `torch`; such a line is kept for what it loads.
        let plain_module =
            index.kind(binding.statement) == k.import_statement && index.kind(binding.part) == k.dotted_name;
        if plain_module
            || in_use.contains(binding.local.as_str())
            || !input.used.contains(&(binding.local.clone(), binding.qualified.clone()))
        {
            continue;
        }
        match by_statement.iter_mut().find(|(s, _)| *s == binding.statement) {
            Some((_, list)) => list.push(binding),
            None => by_statement.push((binding.statement, vec![binding])),
        }
    }
    by_statement.into_iter().map(|(statement, bindings)| without(view, statement, &bindings)).collect()
}

/// The assignments to `__all__`: a name in one of them is for other files.
fn exports<'t>(view: &FileView<'t>) -> Vec<&'t str> {
    let index = &view.index;
    let lists = view.identifiers("__all__").iter().filter_map(|id| {
        let assignment = index.parent(*id)?;
        let is_left = index.kind(assignment) == kinds().assignment && index.item(*id).field == fields().left;
        is_left.then(|| index.text_of(assignment))
    });
    lists.collect()
}

/// Imported names that are read somewhere beside their imports.
fn names_in_use<'t>(view: &FileView<'t>) -> Set<&'t str> {
    let k = kinds();
    let index = &view.index;
    let imported: Set<&str> = view.names.bindings.iter().map(|b| b.local.as_str()).collect();
    index
        .of_kind(k.identifier)
        .iter()
        .filter(|id| imported.contains(index.text_of(**id)))
        .filter(|id| {
            !index.ancestors(**id).any(|a| [k.import_statement, k.import_from_statement].contains(&index.kind(a)))
                && !index.parent(**id).is_some_and(|p| {
                    (index.kind(p) == k.attribute && index.field(p, fields().attribute) == Some(**id))
                        || (index.kind(p) == k.keyword_argument && index.field(p, fields().name) == Some(**id))
                })
        })
        .map(|id| index.text_of(*id))
        .collect()
}

/// Imported names that the file uses, each with what it stands for.
pub(crate) fn used(view: &FileView<'_>) -> Set<(String, String)> {
    let in_use = names_in_use(view);
    view.names
        .bindings
        .iter()
        .filter(|b| in_use.contains(b.local.as_str()))
        .map(|b| (b.local.clone(), b.qualified.clone()))
        .collect()
}

fn without(view: &FileView<'_>, statement: Id, bindings: &[&Binding]) -> Wish {
    let f = fields();
    let index = &view.index;
    let parts: Vec<Id> = index.children(statement).filter(|c| index.item(*c).field == f.name).collect();
    let gone = |id: &Id| bindings.iter().any(|b| b.part == *id);
    let at = index.item(statement).start;
    if parts.iter().all(gone) {
        return Wish {
            at,
            changes: vec![Change::Replace { first: statement, last: statement, text: String::new() }],
            imports: Vec::new(),
        };
    }
    let mut changes = Vec::new();
    for (n, part) in parts.iter().enumerate().filter(|(_, p)| gone(p)) {
        // With the comma behind it, or before it for the last ones.
        let next_kept = parts[n + 1..].iter().any(|p| !gone(p));
        let range = if next_kept {
            index.item(*part).start..index.item(parts[n + 1]).start
        } else {
            index.item(parts[n - 1]).end..index.item(*part).end
        };
        changes.push(Change::Raw { range, text: String::new() });
    }
    Wish { at, changes, imports: Vec::new() }
}
