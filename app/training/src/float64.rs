//! NumPy arrays that are certainly float64.

use crate::step::value_once;
use crate::view::FileView;
use crate::words::NUMPY_FLOAT64;
use python::names::called_name;
use python::tree::{Id, kinds};

/// Whether an expression is an array of NumPy's default type: it is made without another type, and computed only with
/// numbers and arrays like it.
pub fn is_float64(view: &FileView<'_>, id: Id) -> bool {
    follow(view, id, 5)
}

fn follow(view: &FileView<'_>, id: Id, steps: u8) -> bool {
    let (k, index) = (kinds(), &view.index);
    let Some(steps) = steps.checked_sub(1) else { return false };
    let kind = index.kind(id);
    let is = |id: Id| follow(view, id, steps);
    if kind == k.call {
        let name = view.qualified(id).unwrap_or_default();
        let arguments: Vec<Id> = index.arguments(id).ids().collect();
        // With a type, it may be another one.
        let types = ["float", "int", "bool", "complex", "type"];
        let is_plain = |id: &Id| types.iter().all(|word| !index.text_of(*id).contains(word));
        let makes = name.strip_prefix("numpy.").is_some_and(|name| NUMPY_FLOAT64.contains(&name));
        let same = matches!(called_name(index, id), Some("reshape" | "copy" | "transpose"));
        return makes && !arguments.is_empty() && arguments.iter().all(is_plain)
            || same && index.receiver(id).is_some_and(is);
    }
    if [k.parenthesized_expression, k.unary_operator, k.binary_operator].contains(&kind) {
        let parts: Vec<Id> = index.parts(id).collect();
        let is_number = |id: &Id| [k.integer, k.float].contains(&index.kind(*id));
        return parts.iter().any(|part| is(*part)) && parts.iter().all(|part| is_number(part) || is(*part));
    }
    let value = value_once(view, id);
    value != id && is(value)
}
