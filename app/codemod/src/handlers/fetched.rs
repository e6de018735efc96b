//! Where the host needs the weights that the accelerator has: functions that are handed the model, and the places for it.

use super::Input;
use crate::facts::FileView;
use crate::facts::roles::Role;
use crate::names::{called_name, dotted};
use crate::tree::{Id, fields, kinds};

/// Calls that are handed a model and may run or read it while or after it learns: functions that this file does not define,
/// themselves or as a `partial` that has the model already, and the model's own methods.
pub(super) fn handed<'v>(input: &'v Input<'_, '_>, view: &'v FileView<'_>, step: Id) -> impl Iterator<Item = Id> + 'v {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let is_model = move |id: Id| {
        let value = index.field(id, f.value).filter(|_| index.kind(id) == k.keyword_argument).unwrap_or(id);
        let owner = index.field(value, f.function).filter(|_| called_name(index, value) == Some("parameters"));
        let value = owner.and_then(|o| index.field(o, f.object)).unwrap_or(value);
        input.project.role(view, value) == Some(Role::Model)
    };
    let is_handed = move |call: Id| index.field(call, f.arguments).is_some_and(|a| index.parts(a).any(is_model));
    let is_partial = move |name: &str| {
        index.of_kind(k.assignment).iter().any(|a| {
            index.field(*a, f.left).is_some_and(|l| index.text_of(l) == name)
                && index.field(*a, f.right).is_some_and(|r| called_name(index, r) == Some("partial") && is_handed(r))
        })
    };
    // What a model does with its weights beside `forward`: `model.decode(z)`.
    let is_method = move |call: Id, name: &str| {
        const OF_MODULES: [&str; 14] = [
            "train",
            "eval",
            "to",
            "cuda",
            "cpu",
            "half",
            "float",
            "apply",
            "modules",
            "children",
            "parameters",
            "named_parameters",
            "state_dict",
            "requires_grad_",
        ];
        let prepares = ["init", "reset", "set_", "load", "register", "named_"].iter().any(|p| name.starts_with(p));
        let owner = index.field(call, f.function).and_then(|g| index.field(g, f.object));
        !prepares
            && !OF_MODULES.contains(&name)
            && owner.is_some_and(|o| dotted(index, o).is_some() && input.project.role(view, o) == Some(Role::Model))
    };
    let asks = |name: &str| {
        matches!(name, "print" | "len" | "id" | "type" | "isinstance" | "hasattr" | "getattr" | "save")
            || name.split('_').any(|part| ["grad", "grads", "gradient", "gradients"].contains(&part))
    };
    index.of_kind(k.call).iter().copied().filter(move |call| {
        let in_model = view.class_of(*call).is_some_and(|c| input.project.models.contains(view.name_of(c)));
        !in_model
            && called_name(index, *call).is_some_and(|n| {
                !n.starts_with(char::is_uppercase)
                    && !asks(n)
                    && (is_method(*call, n) || !view.defines(n) && (is_handed(*call) || is_partial(n)))
            })
            && is_late(view, *call, step, 3)
    })
}

/// Whether the program comes to a call when the model has learnt: itself, or by the calls of its function.
pub(super) fn is_late(view: &FileView<'_>, call: Id, step: Id, calls: u8) -> bool {
    let Some(left) = calls.checked_sub(1) else { return false };
    if !trainings(view, call, step).is_empty() {
        return !comes_first(view, call, step);
    }
    runs_without_gradients(view, call)
        || view.function_of(call).is_some_and(|d| view.callers(d).any(|c| is_late(view, c, step, left)))
}

/// The places of a function where the step is made, or called.
fn trainings(view: &FileView<'_>, at: Id, step: Id) -> Vec<Id> {
    let index = &view.index;
    let here = |c: &Id| view.function_of(*c) == view.function_of(at);
    let backward = view.calls("backward").iter().filter(|b| index.is_within(**b, step));
    let named = Some(step).filter(|s| index.kind(*s) == kinds().function_definition);
    backward.copied().chain(named.into_iter().flat_map(|s| view.callers(s))).filter(here).collect()
}

/// Whether a call is made once and for all before anything is trained.
pub(super) fn comes_first(view: &FileView<'_>, call: Id, step: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let trainings = trainings(view, call, step);
    let looped = |a: Id| {
        [k.for_statement, k.while_statement].contains(&index.kind(a))
            && trainings.iter().any(|t| index.is_within(*t, a))
    };
    trainings.iter().any(|t| call < *t) && !index.ancestors(call).any(looped)
}

/// The outermost statement around a call in which nothing is trained, within its function.
pub(super) fn outermost_without(view: &FileView<'_>, call: Id, step: Id) -> Option<Id> {
    let k = kinds();
    let index = &view.index;
    let trainings = trainings(view, call, step);
    let inner = index.ancestors(call).take_while(|a| {
        ![k.function_definition, k.class_definition].contains(&index.kind(*a))
            && !trainings.iter().any(|t| index.is_within(*t, *a))
    });
    let is_statement =
        |id: &Id| index.parent(*id).is_some_and(|p| index.kind(p) == k.block || index.kind(p) == k.module);
    inner.filter(is_statement).last()
}

/// Under `torch.no_grad()`, as a block or as a decorator.
pub(super) fn runs_without_gradients(view: &FileView<'_>, call: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    index.ancestors(call).any(|a| {
        let decorated = index.kind(a) == k.function_definition
            && index.parent(a).is_some_and(|p| index.kind(p) == k.decorated_definition);
        let whole = if decorated { index.parent(a).unwrap_or(a) } else { a };
        let text = index.text_of(whole);
        (decorated || index.kind(a) == k.with_statement)
            && ["no_grad", "inference_mode"].iter().any(|word| text.lines().next().unwrap_or(text).contains(word))
    })
}
