//! A slice of columns, `x[:, a:b]`, that is moved to a device: the move makes it contiguous there, and without it
//! nothing does.

use python::names::called_name;
use python::tree::{Id, fields, kinds};
use training::FileView;
use training::words::LAYOUT_KEPT;

/// Calls that move.
const MOVES: [&str; 2] = ["cuda", "to"];

/// Whether an expression contains such a slice, as far as its function shows, and is moved itself or has its name moved
/// next to it.
pub(super) fn is_moved_slice(view: &FileView<'_>, id: Id) -> bool {
    let index = &view.index;
    let moves = |call: &Id| {
        let object = index.receiver(*call).filter(|_| *call < id && view.function_of(*call) == view.function_of(id));
        object.is_some_and(|object| index.mentions(object, |word| index.is_text(id, word)))
    };
    slice(view, id, 6).is_some_and(|moved| moved || MOVES.iter().flat_map(|name| view.calls(name)).any(moves))
}

/// Whether an expression with a slice moves it; none if it contains no slice.
fn slice(view: &FileView<'_>, id: Id, steps: u8) -> Option<bool> {
    let (index, k) = (&view.index, kinds());
    let steps = steps.checked_sub(1)?;
    if index.kind(id) == k.subscript {
        let places = index.children(id).filter(|c| index.item(*c).field == fields().subscript);
        let is_several = |place: &Id| index.kind(*place) == k.slice || index.is_text(*place, "...");
        let mut behind = places.skip_while(|place| !is_several(place)).skip(1);
        let cuts = behind.any(|place| !index.is_text(place, ":") && index.kind(place) != k.none);
        return cuts.then_some(false);
    }
    if let Some(call) = index.call(id) {
        let name = called_name(index, id)?;
        let kept = call.receiver().or_else(|| call.arguments().positional().next())?;
        let moved = MOVES.contains(&name);
        return slice(view, kept, steps).filter(|_| moved || LAYOUT_KEPT.contains(&name)).map(|before| before || moved);
    }
    // A name has the value that was assigned last before it is read.
    let name = Some(index.text_of(id)).filter(|_| index.kind(id) == k.identifier)?;
    let function = view.function_of(id);
    let apart = |at: Id| {
        let clauses = index.ancestors(at).filter(|a| index.is_within(id, *a)).filter_map(|a| index.consequence(a));
        clauses.into_iter().any(|clause| index.is_within(at, clause) && !index.is_within(id, clause))
    };
    let given = index.bindings(name).iter().filter_map(|binding| {
        let a = index.assignment(*binding)?;
        let place = a.targets().iter().position(|target| index.is_text(*target, name))?;
        let value = a.value()?;
        let is_row = [k.expression_list, k.tuple].contains(&index.kind(value));
        let value = if is_row { index.parts(value).nth(place)? } else { value };
        let is_above = value < id && !index.is_within(id, a.id()) && view.function_of(value) == function;
        (is_above && !apart(value)).then_some(value)
    });
    slice(view, given.last()?, steps)
}
