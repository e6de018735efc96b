//! Statements that a port has emptied: `if on_gpu: pass` does nothing, so it is removed too.

use crate::rope::{Replacement, Rope};
use python::edit::{Change, splices};
use python::names::called_name;
use python::tree::{Id, kinds};
use training::FileView;
use training::words::CALLS_THAT_ASK;

/// Removes statements that only contain a `pass` written by the port, if the header has no effect and no comment is
/// lost.
pub(super) fn emptied(view: &FileView<'_>, rope: &Rope<'_>) -> Vec<Replacement> {
    let k = kinds();
    let index = &view.index;
    let mut out: Vec<Replacement> = Vec::new();
    // One per block and round: if all of its statements are empty, the last one becomes a `pass` in the next round.
    let mut blocks: Vec<Option<Id>> = Vec::new();
    for &pass in index.of_kind(k.pass_statement) {
        let Some(by) = rope.author(index.item(pass).start) else { continue };
        let alone = index.parent(pass).filter(|b| index.kind(*b) == k.block && index.parts(*b).count() == 1);
        let Some(owner) = alone.and_then(|block| index.parent(block)) else { continue };
        // A statement that contains only this one is removed with it.
        let mut owner = owner;
        let sole = |id: Id| index.parent(id).filter(|b| index.kind(*b) == k.block && index.parts(*b).count() == 1);
        while index.kind(owner) != k.else_clause
            && does_nothing(view, owner)
            && let Some(outer) = sole(owner).and_then(|block| index.parent(block))
            && does_nothing(view, outer)
        {
            owner = outer;
        }
        if !index.of_kind_in(k.comment, owner).is_empty() {
            continue;
        }
        let block = index.parent(owner);
        if blocks.contains(&block) {
            continue;
        }
        let splices = if index.kind(owner) == k.else_clause {
            without_else(view, owner).into_iter().collect()
        } else if does_nothing(view, owner) {
            splices(view, &Change::Replace { first: owner, last: owner, text: String::new() })
        } else {
            continue;
        };
        let meets =
            |s: &python::edit::Splice| out.iter().any(|r| r.range.start < s.range.end && s.range.start < r.range.end);
        if !splices.iter().any(meets) {
            blocks.push(block);
            let written = splices.into_iter().map(|s| Replacement { range: s.range, text: s.text, by: by.clone() });
            out.extend(written.collect::<Vec<_>>());
        }
    }
    out
}

/// An `if` without an `else`, or a `for` whose names are not read after it, with a header that calls nothing; a `try`
/// with nothing left to catch.
fn does_nothing(view: &FileView<'_>, owner: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let quiet = |header: Id| is_quiet(view, header);
    if index.children(owner).any(|c| [k.elif_clause, k.else_clause].contains(&index.kind(c))) {
        return false;
    }
    if index.kind(owner) == k.try_statement {
        return !index.children(owner).any(|c| index.kind(c) == k.finally_clause);
    }
    if index.kind(owner) == k.with_statement {
        return training::only_decides_on_gradients(view, owner);
    }
    if let Some(branch) = index.if_statement(owner) {
        return branch.condition().is_some_and(quiet);
    }
    let Some(turns) = index.for_statement(owner) else { return false };
    let (Some(target), Some(iterable)) = (turns.target(), turns.iterable()) else { return false };
    let names = std::iter::once(target).chain(index.of_kind_in(k.identifier, target).iter().copied());
    let is_read = |name: Id| view.identifiers(index.text_of(name)).iter().any(|id| !index.is_within(*id, target));
    quiet(iterable) && !names.into_iter().any(is_read)
}

/// Whether evaluating an expression has no effect.
pub(super) fn is_quiet(view: &FileView<'_>, header: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let acts = |id: Id| match index.kind(id) == k.call {
        true => !called_name(index, id).is_some_and(|name| CALLS_THAT_ASK.contains(&name) || name.starts_with("is_")),
        false => index.kind(id) == k.named_expression,
    };
    let mut inner = [k.call, k.named_expression].into_iter().flat_map(|kind| index.of_kind_in(kind, header)).copied();
    let words = index.text_of(header);
    !acts(header) && !inner.any(acts) && !words.contains("await") && !words.contains("yield")
}

/// The statement before an `else` that only passes, without the `else`.
fn without_else(view: &FileView<'_>, clause: Id) -> Option<python::edit::Splice> {
    let index = &view.index;
    let owner =
        index.parent(clause).filter(|o| [kinds().if_statement, kinds().for_statement].contains(&index.kind(*o)))?;
    let before = index.children(owner).filter(|c| *c < clause).map(|c| index.item(c).end).max()?;
    let between = index.text[before..index.item(clause).start].trim().is_empty();
    let range = before..index.item(clause).end;
    between.then(|| python::edit::Splice { range, text: String::new() })
}
