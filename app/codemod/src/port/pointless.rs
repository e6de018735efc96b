//! Code that a port has made pointless: `x = x`, a choice between two equal values, `if amp:` with the same statements
//! as its `else` once the scaler is removed.

use super::emptied::is_quiet;
use super::overlap::keep_blocks;
use crate::rope::{Replacement, Rope};
use python::edit::{Change, splices, unindented};
use python::tree::{Id, kinds};
use training::FileView;

/// Simplifies code in which the port wrote or deleted something; the outermost of nested ones.
pub(super) fn pointless(view: &FileView<'_>, rope: &Rope<'_>) -> Vec<Replacement> {
    let (index, k) = (&view.index, kinds());
    let of_kind = |kind| index.of_kind(kind).iter().copied();
    let choices = of_kind(k.conditional_expression).filter_map(|choice| chosen_value(view, choice));
    let statements = index.assignments().filter_map(|a| assignment_to_itself(view, a.id()));
    let branches = of_kind(k.if_statement).filter_map(|test| equal_branches(view, test));
    let found = choices.chain(statements).chain(branches).filter_map(|change| {
        let node = change.node()?;
        // A deletion after the last byte is recorded at that byte.
        let range = index.range(node);
        Some((node, (change, rope.first_author(&(range.start..range.end + 1))?.clone())))
    });
    let mut found: Vec<_> = found.collect();
    sorting::by_key(&mut found, |(node, _)| *node);
    index.outermost(&mut found, |(node, _)| *node);
    keep_blocks(view, &mut found.iter_mut().map(|(_, (change, _))| change).collect::<Vec<_>>());
    let replacements = found.into_iter().flat_map(|(_, (change, by))| {
        splices(view, &change).into_iter().map(move |s| Replacement { range: s.range, text: s.text, by: by.clone() })
    });
    replacements.collect()
}

/// The value of a choice whatever its test: one of two equal values, or `x` of `x if x is not None else None`.
fn chosen_value(view: &FileView<'_>, choice: Id) -> Option<Change> {
    let index = &view.index;
    let [value, test, other] = index.parts(choice).collect::<Vec<_>>()[..] else { return None };
    let (text, otherwise) = (index.text_of(value), index.text_of(other));
    let is_none = otherwise == "None" && index.text_of(test) == format!("{text} is not None");
    let change = Change::Expression { node: choice, range: index.range(choice), text: text.to_owned() };
    ((text == otherwise || is_none) && is_quiet(view, test)).then_some(change)
}

/// Removes `x = x`.
fn assignment_to_itself(view: &FileView<'_>, assignment: Id) -> Option<Change> {
    let index = &view.index;
    let (to, from) = (index.target(assignment)?, index.source(assignment)?);
    // `x, y = (x, y)`
    let (k, is_list) = (kinds(), |id: Id, kinds: [u16; 2]| kinds.contains(&index.kind(id)));
    let lists = is_list(to, [k.pattern_list, k.tuple_pattern]) && is_list(from, [k.expression_list, k.tuple]);
    let texts = |id: Id| index.parts(id).map(|part| index.text_of(part));
    let same = index.text_of(to) == index.text_of(from) || lists && texts(to).eq(texts(from));
    if !same || !is_quiet(view, to) {
        return None;
    }
    let at = view.statement_of(assignment)?;
    Some(Change::Replace { first: at, last: at, text: String::new() })
}

/// Replaces two equal branches by one.
fn equal_branches(view: &FileView<'_>, test: Id) -> Option<Change> {
    let index = &view.index;
    let branch = index.if_statement(test)?;
    let mut clauses = branch.clauses();
    let (only, None) = (clauses.next()?, clauses.next()) else { return None };
    let other = only.body.filter(|_| only.condition.is_none())?;
    let text = |block: Id| {
        let first = index.parts(block).next()?;
        Some(unindented(index.text, index.item(first).start..index.item(block).end))
    };
    let same = text(other).filter(|_| branch.body().is_some_and(|body| is_same_code(view, body, other)))?;
    if !index.of_kind_in(kinds().comment, test).is_empty() || !branch.condition().is_some_and(|c| is_quiet(view, c)) {
        return None;
    }
    let text = if same == "pass" { String::new() } else { same };
    Some(Change::Replace { first: test, last: test, text })
}

/// Whether two blocks have the same code, lines broken anywhere.
fn is_same_code(view: &FileView<'_>, one: Id, other: Id) -> bool {
    let index = &view.index;
    let nodes = |block: Id| {
        let inside = (block..).take_while(move |id| index.is_within(*id, block));
        inside.map(move |id| {
            let leaf = index.children(id).next().is_none().then(|| index.text_of(id));
            (index.kind(id), leaf, index.parent(id).and_then(|parent| parent.checked_sub(block)))
        })
    };
    index.text_of(one).split_whitespace().eq(index.text_of(other).split_whitespace()) && nodes(one).eq(nodes(other))
}
