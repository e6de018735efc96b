//! Where the inputs of a compiled step come from: what learns on the way to them would be cut off.

use super::slice::{assigned, reads};
use crate::facts::roles::Role;
use crate::facts::{FileView, ProjectFacts};
use crate::names::called_name;
use crate::order::Set;
use crate::tree::{Id, fields, kinds};

/// A call of a model, or of something that is handed one, that an input of the step is computed with before `first`, and
/// through which gradients would have to go: `rec.forward(x)`, `odeint(func, x)`.
pub(super) fn learns_before(
    view: &FileView<'_>,
    project: &ProjectFacts,
    step: Id,
    first: Id,
    inputs: &[(String, String)],
) -> Option<Id> {
    let k = kinds();
    let index = &view.index;
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned).collect()
    };
    let mut wanted: Set<String> = inputs.iter().flat_map(|(_, expression)| words(expression)).collect();
    let assignments: Vec<Id> = index
        .of_kind_in(k.assignment, step)
        .iter()
        .copied()
        .filter(|a| *a < first && !index.is_within(first, *a))
        .collect();
    // Backwards, so that what a value is made of is asked for after the value.
    for assignment in assignments.into_iter().rev() {
        let Some(statement) = view.statement_of(assignment) else { continue };
        if !assigned(view, statement).iter().any(|name| wanted.contains(*name)) || keeps_no_gradients(view, statement) {
            continue;
        }
        let calls = index.of_kind_in(k.call, statement).iter().copied();
        if let Some(call) = calls.filter(|c| !is_detached(view, *c)).find(|c| runs_model(view, project, *c)) {
            return Some(call);
        }
        wanted.extend(reads(view, statement).into_iter().map(|id| index.text_of(id).to_owned()));
    }
    None
}

/// `net(x)`, `net.forward(x)`, `odeint(net, x)`.
fn runs_model(view: &FileView<'_>, project: &ProjectFacts, call: Id) -> bool {
    let f = fields();
    let index = &view.index;
    let is_model = |id: Id| project.role(view, id) == Some(Role::Model);
    let Some(function) = index.field(call, f.function) else { return false };
    let by_forward = called_name(index, call) == Some("forward");
    let handed = index.field(call, f.arguments).is_some_and(|list| index.parts(list).any(is_model));
    is_model(function) || by_forward || handed
}

/// Whether nothing of a statement is recorded for the backward pass.
fn keeps_no_gradients(view: &FileView<'_>, statement: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let off = |with: Id| {
        let text = index.text_of(with);
        let header = text.lines().next().unwrap_or(text);
        ["no_grad", "inference_mode", "set_grad_enabled(False"].iter().any(|word| header.contains(word))
    };
    index.ancestors(statement).any(|a| index.kind(a) == k.with_statement && off(a))
}

/// Whether the result of a call is cut off from its gradients: `net(x).detach()`.
fn is_detached(view: &FileView<'_>, call: Id) -> bool {
    let f = fields();
    let index = &view.index;
    index.parent(call).is_some_and(|p| {
        index.kind(p) == kinds().attribute && index.field(p, f.attribute).is_some_and(|a| index.text_of(a) == "detach")
    })
}
