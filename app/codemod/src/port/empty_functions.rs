//! Functions that a port has emptied: they do nothing, so their calls are removed, and then the functions.

use super::emptied::is_quiet;
use crate::rope::{Replacement, Rope};
use python::edit::{Change, splices};
use python::syntax::Function;
use python::tree::{Id, ROOT, kinds};
use training::FileView;

/// Removes functions at the top of a file that the program called and that the port emptied, calls first, if nothing
/// else uses them.
pub(super) fn empty_functions(
    given: &FileView<'_>,
    view: &FileView<'_>,
    rope: &Rope<'_>,
    is_elsewhere: &dyn Fn(&str) -> bool,
) -> Vec<Replacement> {
    let (index, k) = (&view.index, kinds());
    for function in index.functions() {
        let (id, name) = (function.id(), function.name());
        let was_empty = || !given.index.functions().any(|f| f.name() == name && !is_empty(given, f));
        let is_kept = index.parent(id) != Some(ROOT) || !index.of_kind_in(k.comment, id).is_empty();
        let is_said = || index.of_kind(k.string).iter().any(|s| index.text_of(*s).contains(name));
        if is_kept || !is_empty(view, function) || was_empty() || is_said() {
            continue;
        }
        // Text removed after its last statement counts.
        let end = index.parts_from(id).nth(1).map_or(index.text.len(), |next| index.item(next).start);
        let Some(by) = rope.first_author(&(index.item(id).start..end + 1)) else { continue };
        if given.calls(name).is_empty() || is_elsewhere(name) {
            continue;
        }
        let calls: Vec<Id> = view.callers(id).collect();
        let uses = view.identifiers(name).iter().filter(|id| !index.is_within(**id, function.id())).count();
        let statement = |call: &Id| {
            let statement = index.parent(*call).filter(|s| index.kind(*s) == k.expression_statement)?;
            let given = index.call(*call)?.arguments().ids().all(|given| is_quiet(view, given));
            given.then_some(statement)
        };
        let Some(statements) = calls.iter().map(statement).collect::<Option<Vec<Id>>>() else { continue };
        if uses > calls.len() {
            continue;
        }
        let gone = statements.first().copied().unwrap_or(id);
        let is_alone = index.parent(gone).is_some_and(|b| index.kind(b) == k.block && index.parts(b).count() == 1);
        let text = if is_alone { "pass".to_owned() } else { String::new() };
        let mut splices = splices(view, &Change::Replace { first: gone, last: gone, text });
        if let [only] = splices.as_mut_slice()
            && gone == id
        {
            let rest = &index.text[only.range.end..];
            only.range.end += rest.len() - rest.trim_start().len();
        }
        return splices.into_iter().map(|s| Replacement { range: s.range, text: s.text, by: by.clone() }).collect();
    }
    Vec::new()
}

/// Whether a function does nothing: a `pass`, or only a docstring.
fn is_empty(view: &FileView<'_>, function: Function<'_, '_>) -> bool {
    let (index, k) = (&view.index, kinds());
    let is_text = |s: Id| index.parts(s).all(|part| index.kind(part) == k.string);
    let does_nothing =
        |s: Id| index.kind(s) == k.pass_statement || index.kind(s) == k.expression_statement && is_text(s);
    function.body().is_some_and(|body| index.parts(body).all(does_nothing))
}
