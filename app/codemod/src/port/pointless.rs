//! Code that a port has made pointless: `x = x`, a choice between two equal values.

use super::emptied::is_quiet;
use crate::rope::{Replacement, Rope};
use python::edit::{Change, splices};
use python::tree::{Id, kinds};
use training::FileView;

/// Takes away assignments of a name to itself and choices between equal values, where the port wrote or deleted something in them.
pub(super) fn pointless(view: &FileView<'_>, rope: &Rope<'_>) -> Vec<Replacement> {
    let (index, k) = (&view.index, kinds());
    let choices =
        index.of_kind(k.conditional_expression).iter().filter_map(|choice| Some((*choice, chosen(view, *choice)?)));
    let choices = choices.map(|(choice, value)| (index.range(choice), index.text_of(value).to_owned()));
    let statements = index.assignments().filter(|a| {
        let same = a.target().zip(a.value()).is_some_and(|(to, from)| index.text_of(to) == index.text_of(from));
        same && a.target().is_some_and(|target| is_quiet(view, target))
    });
    let statements = statements.filter_map(|a| view.statement_of(a.id())).flat_map(|s| {
        let is_alone =
            index.parent(s).is_some_and(|block| index.kind(block) == k.block && index.parts(block).count() == 1);
        let text = if is_alone { "pass".to_owned() } else { String::new() };
        splices(view, &Change::Replace { first: s, last: s, text }).into_iter().map(|s| (s.range, s.text))
    });
    let found = choices.chain(statements).filter_map(|(range, text)| {
        // A deletion behind the last byte is recorded at that byte.
        let by = rope.authors(&(range.start..range.end + 1)).into_iter().next()?;
        Some(Replacement { range, text, by })
    });
    let mut found: Vec<Replacement> = found.collect();
    found.sort_by_key(|f| f.range.start);
    // A choice inside of another one waits for the next pass.
    let mut done = 0;
    found.retain(|f| {
        f.range.start >= done && {
            done = f.range.end;
            true
        }
    });
    found
}

/// What a choice gives whatever its test says: one of two equal values, or `x` of `x if x is not None else None`.
fn chosen(view: &FileView<'_>, choice: Id) -> Option<Id> {
    let index = &view.index;
    let [value, test, other] = index.parts(choice).collect::<Vec<_>>()[..] else { return None };
    let (text, otherwise) = (index.text_of(value), index.text_of(other));
    let is_none = otherwise == "None" && index.text_of(test) == format!("{text} is not None");
    ((text == otherwise || is_none) && is_quiet(view, test)).then_some(value)
}
