//! Branches for the source vendor's device that the target does without: other code of the program is right for it.

use crate::condition::names_cuda_device;
use crate::reached::asks_for_cuda;
use python::names::called_name;
use python::tree::{Id, kinds};
use training::FileView;

/// Whether a branch only moves things to the vendor's device, for which some need what the target has not, and its `else` moves
/// them to the device that the test asks, whichever it is.
pub(super) fn by_else(view: &FileView<'_>, clause: Id, is_vendors: &dyn Fn(Id) -> bool) -> bool {
    let (k, index) = (kinds(), &view.index);
    let is_choice = index.kind(clause) == k.conditional_expression;
    let mut arms = index.parts(clause).filter(|_| is_choice);
    let [code, test, other] = match is_choice {
        true => [(); 3].map(|()| arms.next()),
        false => [index.consequence(clause), index.condition(clause), else_of(view, clause)],
    };
    let (Some(code), Some(test), Some(other)) = (code, test, other) else { return false };
    let Some(device) = asked(view, test) else { return false };
    let within =
        |kind, at| index.of_kind_in(kind, at).iter().copied().chain(Some(at).filter(move |at| index.kind(*at) == kind));
    let moves = |call: &Id| matches!(called_name(index, *call), Some("to" | "cuda"));
    let to_device = |call: Id| {
        let first = index.arguments(call).positional().next();
        called_name(index, call) == Some("to") && first.is_some_and(|first| index.is_text(first, device))
    };
    let is_move = |statement: Id| {
        let mut calls = within(k.call, statement).peekable();
        within(k.call, statement).any(|call| moves(&call)) && calls.all(|call| moves(&call) || is_vendors(call))
    };
    let statements = || index.parts(code).filter(|_| !is_choice).chain(Some(code).filter(|_| is_choice));
    within(k.call, other).any(to_device) && statements().all(is_move)
}

/// Whether a branch for a device that the program names only ends it where the vendor's is missing. That is no question for
/// the target, whose own is asked for elsewhere or by PyTorch.
pub(super) fn only_checks(view: &FileView<'_>, clause: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let is_named = || index.condition(clause).and_then(|test| asked(view, test)).is_some();
    let ends = |block: Id| {
        index.parts(block).all(|statement| {
            let kind = index.kind(statement);
            let exits = || index.of_kind_in(k.call, statement).iter().any(|c| called_name(index, *c) == Some("exit"));
            kind == k.raise_statement || kind == k.expression_statement && exits()
        })
    };
    let is_check = |statement: Id| {
        let test = match index.kind(statement) {
            kind if kind == k.assert_statement => index.parts(statement).next(),
            kind if kind == k.if_statement => index
                .condition(statement)
                .filter(|_| index.is_plain_if(statement) && index.consequence(statement).is_some_and(ends)),
            _ => None,
        };
        test.is_some_and(|test| asks_for_cuda(view, test))
    };
    index.consequence(clause).is_some_and(|body| index.parts(body).all(is_check)) && is_named()
}

/// The body of the `else` of a clause's chain, if no other clause is in between.
fn else_of(view: &FileView<'_>, clause: Id) -> Option<Id> {
    let (k, index) = (kinds(), &view.index);
    let chain = if index.kind(clause) == k.elif_clause { index.parent(clause)? } else { clause };
    let mut later =
        index.children(chain).filter(|c| *c > clause && [k.elif_clause, k.else_clause].contains(&index.kind(*c)));
    later.next().filter(|next| index.kind(*next) == k.else_clause).and_then(|next| index.body(next))
}

/// The device that a test compares with the vendor's, itself or as one of the parts that all have to be true:
/// `device` in `wide and device.type == "cuda"`.
fn asked<'t>(view: &FileView<'t>, test: Id) -> Option<&'t str> {
    let (k, index) = (kinds(), &view.index);
    if index.kind(test) == k.boolean_operator || index.kind(test) == k.parenthesized_expression {
        return index.parts(test).find_map(|part| asked(view, part));
    }
    let sides: Vec<Id> = index.parts(test).filter(|_| index.kind(test) == k.comparison_operator).collect();
    let [left, right] = sides[..] else { return None };
    let other = match [left, right].map(|side| names_cuda_device(view, side)) {
        [false, true] => left,
        [true, false] => right,
        _ => return None,
    };
    let text = index.text_of(other);
    Some(text.strip_suffix(".type").unwrap_or(text))
}
