//! What a program does only when it is asked to, `if args.distributed:`, and leaves out when it is started plainly.

use crate::facts::FileView;
use crate::names::called_name;
use crate::tree::{Id, fields, kinds};

/// Whether a call stands behind a test, itself or as the whole function it is in.
pub(super) fn asked_for(view: &FileView<'_>, call: Id) -> bool {
    let tested = |at: Id| {
        view.index.ancestors(at).any(|a| {
            view.index.kind(a) == kinds().if_statement
                && view.index.field(a, fields().condition).is_some_and(|c| !view.index.text_of(c).contains("__name__"))
                && !in_each_case(view, a, call)
        })
    };
    let callers = |function: Id| view.calls(view.name_of(function));
    tested(call)
        || view.function_of(call).is_some_and(|d| !callers(d).is_empty() && callers(d).iter().all(|c| tested(*c)))
}

/// Whether a test comes to a call of the same function either way.
fn in_each_case(view: &FileView<'_>, test: Id, call: Id) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let calls = |block: Id| {
        called_name(index, call).is_some_and(|n| view.calls(n).iter().any(|other| index.is_within(*other, block)))
    };
    let mut clauses = index.children(test).filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c)));
    let ends = index.children(test).any(|c| index.kind(c) == k.else_clause);
    ends && clauses.all(calls) && index.field(test, f.consequence).is_some_and(calls)
}
