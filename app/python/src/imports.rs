//! Imported names that a file reads, and removal of a name from its import statement.

use crate::edit::Change;
use crate::file::PythonFile;
use crate::names::Binding;
use crate::tree::{Id, fields, kinds};
use sorting::SortedSet;

/// Names that imports bind and that are read outside imports.
fn read_names<'t>(file: &PythonFile<'t>) -> SortedSet<&'t str> {
    let (k, f) = (kinds(), fields());
    let index = &file.index;
    let imported: SortedSet<&str> = file.names.bindings.iter().map(|b| b.local.as_str()).collect();
    let reads = |id: &Id| {
        let parent = index.parent(*id);
        let names_part = parent.is_some_and(|p| {
            (index.kind(p) == k.attribute && index.field(p, f.attribute) == Some(*id))
                || (index.kind(p) == k.keyword_argument && index.field(p, f.name) == Some(*id))
        });
        let in_import =
            || index.ancestors(*id).any(|a| [k.import_statement, k.import_from_statement].contains(&index.kind(a)));
        imported.contains(index.text_of(*id)) && !names_part && !in_import()
    };
    index.of_kind(k.identifier).iter().filter(|id| reads(id)).map(|id| index.text_of(*id)).collect()
}

/// Imported names that the file reads, each with its meaning.
pub fn read_imports(file: &PythonFile<'_>) -> SortedSet<(String, String)> {
    let read = read_names(file);
    let bindings = file.names.bindings.iter().filter(|b| read.contains(b.local.as_str()));
    bindings.map(|b| (b.local.clone(), b.qualified.clone())).collect()
}

/// Imported names that nothing reads and that `__all__` does not export. A plain `import a.b` is excluded: it may be
/// there for its side effects.
pub fn unread_imports<'f>(file: &'f PythonFile<'_>) -> impl Iterator<Item = &'f Binding> {
    let k = kinds();
    let index = &file.index;
    let read = read_names(file);
    let exports: Vec<&str> = file
        .identifiers("__all__")
        .iter()
        .filter(|id| index.item(**id).field == fields().left)
        .filter_map(|id| index.parent(*id).filter(|a| index.kind(*a) == k.assignment))
        .map(|assignment| index.text_of(assignment))
        .collect();
    file.names.bindings.iter().filter(move |b| {
        let plain_module = index.kind(b.statement) == k.import_statement && index.kind(b.part) == k.dotted_name;
        index.kind(b.statement) != k.assignment
            && !plain_module
            && !read.contains(b.local.as_str())
            && !exports.iter().any(|names| names.contains(&b.local))
    })
}

/// An import statement without some of the names that it binds.
pub fn without_names(file: &PythonFile<'_>, statement: Id, gone: &[Id]) -> Vec<Change> {
    let index = &file.index;
    let parts: Vec<Id> = index.children(statement).filter(|c| index.item(*c).field == fields().name).collect();
    if parts.iter().all(|p| gone.contains(p)) {
        return vec![Change::Replace { first: statement, last: statement, text: String::new() }];
    }
    let places = parts.iter().enumerate().filter(|(_, p)| gone.contains(p));
    places
        .map(|(n, part)| {
            // With the comma after it, or before it for the last ones.
            let next_stays = parts[n + 1..].iter().any(|p| !gone.contains(p));
            let range = if next_stays {
                index.item(*part).start..index.item(parts[n + 1]).start
            } else {
                index.item(parts[n - 1]).end..index.item(*part).end
            };
            Change::Raw { range, text: String::new() }
        })
        .collect()
}
