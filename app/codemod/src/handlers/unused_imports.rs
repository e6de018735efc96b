//! `drop-unused-imports`: imports whose last use was removed by a change.

use super::{Input, Wish};
use python::imports::{unread_imports, without_names};
use python::tree::Id;
use sorting::SortedMap;

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view.filter(|_| input.text != input.original) else { return Vec::new() };
    let mut by_statement: SortedMap<Id, Vec<Id>> = SortedMap::new();
    let was_read = |local: &str, qualified: &str| input.used.contains(&(local.to_owned(), qualified.to_owned()));
    for name in unread_imports(view).filter(|b| b.qualified != "torch" && was_read(&b.local, &b.qualified)) {
        by_statement.entry(name.statement).or_default().push(name.part);
    }
    let wishes = by_statement.into_iter();
    wishes.map(|(statement, gone)| Wish::new(view, statement, without_names(view, statement, &gone))).collect()
}
