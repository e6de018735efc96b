//! What a program does only when it is asked to, `if args.distributed:`, and leaves out when it is started plainly.

use crate::facts::FileView;
use crate::tree::{Id, fields, kinds};

/// Whether a call stands behind a test, itself or as the whole function it is in.
pub(super) fn asked_for(view: &FileView<'_>, call: Id) -> bool {
    let tested = |at: Id| {
        view.index.ancestors(at).any(|a| {
            view.index.kind(a) == kinds().if_statement
                && view.index.field(a, fields().condition).is_some_and(|c| !view.index.text_of(c).contains("__name__"))
        })
    };
    let callers = |function: Id| view.calls(view.name_of(function));
    tested(call)
        || view.function_of(call).is_some_and(|d| !callers(d).is_empty() && callers(d).iter().all(|c| tested(*c)))
}
