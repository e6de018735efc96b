//! Weights and their gradients that the host reads or changes during the step.

use crate::roles::Role;
use crate::step::{Obstacle, TrainingStep, optimizers_made, qualified, why};
use crate::words::WEIGHT_FACTS;
use python::PythonFile;
use python::tree::{Id, kinds};

/// Reads and changes in the step, other than the clipping in [`TrainingStep::clipping`].
pub(super) fn touched(step: &TrainingStep<'_, '_>) -> Vec<Obstacle> {
    let file = step.file;
    let index = &file.view.index;
    let here = |id: Id| index.is_within(id, step.whole) && step.is_alive(id);
    let is_known = |call: Id| {
        index.ancestors(call).take_while(|a| index.kind(*a) != kinds().block).any(|a| {
            let of_torch = qualified(&file, a).is_some_and(|q| q.starts_with("torch.optim."));
            let target = index.assignment(a).and_then(|assignment| assignment.target());
            let makes_optimizer = target.is_some_and(|t| file.role(t) == Some(Role::Optimizer));
            of_torch || makes_optimizer || only_counts(&file, a) || step.clipping.iter().any(|c| c.call == a)
        })
    };
    let words = ["parameters", "named_parameters", "register_hook"];
    // Changes to weights before the optimizer is created belong to building the model, also in a function that is called there.
    let made = optimizers_made(&file);
    let is_before = |call: Id| made.iter().any(|m| call < m.call && file.function_of(call) == file.function_of(m.call));
    let builds = |call: Id| {
        let inner = file.function_of(call).filter(|f| *f != step.whole && file.callers(*f).next().is_some());
        is_before(call) || inner.is_some_and(|f| file.callers(f).all(is_before))
    };
    let calls = words.iter().flat_map(|name| file.calls(name)).copied();
    let calls = calls.filter(|c| here(*c) && !is_known(*c) && !builds(*c));
    let mut out: Vec<Obstacle> = calls.map(why::weights_touched).collect();
    let grads = index.attributes().filter(|a| a.name() == Some("grad") && here(a.id()));
    out.extend(grads.map(|a| why::gradient_read(a.id())));
    out
}

/// Whether a loop inside an expression only counts weights: `sum(p.numel() for p in net.parameters())`.
fn only_counts(file: &PythonFile<'_>, around: Id) -> bool {
    let (index, k) = (&file.index, kinds());
    if ![k.generator_expression, k.list_comprehension].contains(&index.kind(around)) {
        return false;
    }
    let clause = index.of_kind_in(k.for_in_clause, around).first().copied();
    let Some(name) = clause.and_then(|c| index.target(c)).map(|target| index.text_of(target)) else { return false };
    let clause = clause.unwrap_or(around);
    let mentions = index.of_kind_in(k.identifier, around).iter().filter(|id| index.text_of(**id) == name);
    mentions.filter(|id| !index.is_within(**id, clause)).all(|id| {
        let asked = index.parent(*id).and_then(|p| index.attribute(p)).and_then(|attribute| attribute.name());
        asked.is_some_and(|asked| WEIGHT_FACTS.contains(&asked))
    })
}
