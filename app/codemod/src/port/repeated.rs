//! Imports that a port has written twice into one block: two recipes added them in different rounds, or around two
//! calls. An import of the program's own that a port needs further up has been moved there.

use crate::rope::{Replacement, Rope};
use python::edit::{Change, splices};
use python::tree::{Id, ROOT, kinds};
use training::FileView;

/// Removes each import, in a `try` or not, that a statement above it in its block already makes, if one of the two is
/// the port's.
pub(super) fn repeated(view: &FileView<'_>, rope: &Rope<'_>) -> Vec<Replacement> {
    let (index, k) = (&view.index, kinds());
    let is_import = |s: Id| [k.import_statement, k.import_from_statement].contains(&index.kind(s));
    let tries_import = |s: Id| index.body(s).is_some_and(|body| index.parts(body).all(is_import));
    let tries = index.of_kind(k.try_statement).iter().copied().filter(|s| tries_import(*s));
    let imports =
        [k.import_statement, k.import_from_statement].into_iter().flat_map(|kind| index.of_kind(kind)).copied();
    let mut statements: Vec<Id> = tries.chain(imports).collect();
    sorting::plain(&mut statements);
    let mut out: Vec<Replacement> = Vec::new();
    for s in statements {
        let start = index.item(s).start;
        if out.last().is_some_and(|last| last.range.end > start) {
            continue;
        }
        let above = index.parts(index.parent(s).unwrap_or(ROOT)).take_while(|other| *other < s);
        let mut same = above.filter(|other| index.text_of(*other) == index.text_of(s));
        let author = |id: Id| rope.author(index.item(id).start);
        let by = same.next().and_then(|first| author(s).or_else(|| author(first)));
        if let Some(by) = by {
            let gone = splices(view, &Change::Replace { first: s, last: s, text: String::new() });
            out.extend(gone.into_iter().map(|g| Replacement { range: g.range, text: g.text, by: by.clone() }));
        }
    }
    out
}
