//! The device and the type of a tensor that a call creates: those of another tensor, `torch.eye(3).to(x)`.

use python::names::called_name;
use python::tree::{Id, kinds};
use training::FileView;
use training::words::{SETTINGS_NAMES, TYPE_CONVERSIONS};

/// Whether the result of a call is created on another tensor's device, or moved there: directly, by its name, or where
/// the function that returns it is called.
pub(super) fn goes_to_a_tensor(view: &FileView<'_>, call: Id) -> bool {
    match view.index.arguments(call).keyword("device") {
        Some(device) => is_of_tensor(view, device, 3),
        None => sends(view, call) || is_sent(view, call, 2),
    }
}

/// Whether a call that creates a tensor says its type, or a method called on the result does: `torch.eye(3).type_as(x)`.
pub(super) fn gets_type(view: &FileView<'_>, call: Id) -> bool {
    let index = &view.index;
    let converts = |around: Id| match called_name(index, around) {
        Some("to") => {
            let is_device = |to: Id| {
                let text = index.text_of(to);
                text.ends_with("device") || index.kind(to) == kinds().string
            };
            index.arguments(around).keyword("dtype").is_some()
                || index.arguments(around).positional().any(|to| !is_device(to))
        }
        name => name.is_some_and(|name| TYPE_CONVERSIONS.contains(&name)),
    };
    let mut whole = call;
    while let Some(around) = index.ancestors(whole).nth(1).filter(|a| index.receiver(*a) == Some(whole)) {
        if converts(around) {
            return true;
        }
        whole = around;
    }
    index.arguments(call).keyword("dtype").is_some()
}

fn is_sent(view: &FileView<'_>, call: Id, steps: u8) -> bool {
    let k = kinds();
    let index = &view.index;
    let Some(steps) = steps.checked_sub(1) else { return false };
    let mut whole = call;
    while let Some(around) = index.ancestors(whole).nth(1).filter(|a| index.receiver(*a) == Some(whole)) {
        if sends(view, around) {
            return true;
        }
        whole = around;
    }
    let function = view.function_of(call);
    let statement = view.statement_of(call).unwrap_or(call);
    let assignment =
        index.parent(whole).and_then(|parent| index.assignment(parent)).filter(|a| a.value() == Some(whole));
    let names: Vec<&str> = assignment.iter().flat_map(|a| a.targets()).map(|target| index.text_of(target)).collect();
    let mut later = view.calls("to").iter().chain(view.calls("type_as")).filter(|c| view.function_of(**c) == function);
    let returned = index.kind(statement) == k.return_statement
        && index
            .ancestors(whole)
            .take_while(|a| *a != statement)
            .all(|a| [k.expression_list, k.tuple, k.parenthesized_expression].contains(&index.kind(a)));
    later.any(|c| index.receiver(*c).is_some_and(|r| names.contains(&index.text_of(r))) && sends(view, *c))
        || returned && function.is_some_and(|f| view.callers(f).any(|c| is_sent(view, c, steps)))
}

/// `.to(x.device)`, `.type_as(x)`.
fn sends(view: &FileView<'_>, call: Id) -> bool {
    let index = &view.index;
    match called_name(index, call) {
        Some("type_as") => true,
        Some("to") => index.arguments(call).get(0, "device").is_some_and(|to| is_of_tensor(view, to, 3)),
        _ => false,
    }
}

/// Whether an expression is a tensor or the device of one, as far as its function shows. Parameters count: their values
/// are unknown. Attributes of the object itself do not, nor do settings.
fn is_of_tensor(view: &FileView<'_>, id: Id, steps: u8) -> bool {
    let k = kinds();
    let index = &view.index;
    let Some(steps) = steps.checked_sub(1) else { return true };
    let text = index.text_of(id);
    if index.kind(id) == k.identifier {
        let Some(function) = view.function_of(id) else { return false };
        let given = index.assignments_to(text).filter(|a| view.function_of(a.id()) == Some(function));
        return match given.last().and_then(|a| a.value()) {
            Some(value) => is_of_tensor(view, value, steps),
            None => view.binds(function, text),
        };
    }
    if index.kind(id) == k.string {
        return !text.contains("cpu");
    }
    if index.kind(id) != k.attribute {
        let named = called_name(index, id) == Some("device");
        return [k.call, k.subscript].contains(&index.kind(id)) && !named;
    }
    let Some(owner) = text.strip_suffix(".device") else { return false };
    // A dictionary of tensors is called `params`, too, but has no device.
    let is_settings = |last: &str| SETTINGS_NAMES.contains(&last) || last == "params";
    owner != "self" && !owner.rsplit('.').next().is_some_and(is_settings)
}
