//! Weights that the host changes in place, besides the update: `p.data.clamp_(-1, 1)`.

use super::TrainingStep;
use super::bindings::value_once;
use super::forward::{is_model_call, models_handed};
use super::host::outermost_without;
use super::optimizers::optimizers_made;
use super::slice::Slice;
use crate::roles::Role;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// Statements of a step that change weights of its models in place, each with the enclosing statement that trains
/// nothing.
pub fn weights_changed(step: &TrainingStep<'_, '_>) -> SortedSet<Id> {
    let (file, k) = (step.file, kinds());
    let index = &file.view.index;
    let in_place = |call: Id| {
        let method = index.callee(call).and_then(|g| index.attribute(g))?;
        let name = method.name().filter(|n| n.ends_with('_') && !n.ends_with("__") && *n != "requires_grad_")?;
        method.owner().filter(|_| !name.starts_with("register_"))
    };
    let calls = index.of_kind_in(k.call, step.whole).iter().filter_map(|call| in_place(*call));
    let augmented = index.of_kind_in(k.augmented_assignment, step.whole).iter().filter_map(|a| index.target(*a));
    let plain = index.of_kind_in(k.assignment, step.whole).iter().filter_map(|a| index.target(*a));
    let places = plain.filter(|t| is_data(step, *t));
    calls
        .chain(augmented)
        .chain(places)
        .filter(|target| step.is_alive(*target) && is_weight(step, *target))
        .filter_map(|target| Some(under_its_tests(step, outermost_without(&file, target, step.whole)?, target)))
        .collect()
}

/// The statement around a node within those tests that a statement begins with.
fn under_its_tests(step: &TrainingStep<'_, '_>, statement: Id, id: Id) -> Id {
    let (k, index) = (kinds(), &step.file.view.index);
    let mut at = statement;
    while index.kind(at) == k.if_statement {
        let of_block = |a: &Id| *a > at && index.parent(*a).is_some_and(|block| index.kind(block) == k.block);
        match index.ancestors(id).filter(of_block).last() {
            Some(inner) => at = inner,
            None => break,
        }
    }
    at
}

/// `p.data`, `p[0]`, `net.scale.data[0]`: assigned in place, not bound to a name.
fn is_data(step: &TrainingStep<'_, '_>, target: Id) -> bool {
    let index = &step.file.view.index;
    let mut chain = vec![target];
    while let Some(inner) = chain.last().and_then(|at| index.owner(*at).or_else(|| index.value(*at))) {
        chain.push(inner);
    }
    let named = |id: &Id| index.attribute(*id).is_some_and(|a| a.name() == Some("data"));
    chain.iter().any(named) || index.kind(target) == kinds().subscript
}

/// Whether an expression is a weight of a model, or a part of one: a name from a loop over `net.parameters()`, or a
/// dotted name below the model. A gradient is not.
fn is_weight(step: &TrainingStep<'_, '_>, target: Id) -> bool {
    let file = step.file;
    let index = &file.view.index;
    let mut at = target;
    loop {
        if index.attribute(at).is_some_and(|a| a.name() == Some("grad")) {
            return false;
        }
        if at != target && file.role(at) == Some(Role::Model) && trains(step, at) {
            return true;
        }
        match index.owner(at).or_else(|| index.value(at)) {
            Some(inner) => at = inner,
            None => break,
        }
    }
    let name = index.text_of(at);
    let gives_weights = |source: Id| {
        let call = index.call(source).filter(|call| matches!(call.name(), Some("parameters" | "named_parameters")));
        call.and_then(|call| call.receiver()).is_some_and(|model| trains(step, model))
    };
    index.ancestors(target).filter_map(|a| index.for_statement(a)).any(|around| {
        let (Some(bound), Some(source)) = (around.target(), around.iterable()) else { return false };
        let names = |part: Id| index.mentions(part, |word| word == name);
        match index.call(source).filter(|call| call.name() == Some("zip")) {
            Some(zip) => {
                index.parts(bound).zip(zip.arguments().ids()).any(|(part, of)| names(part) && gives_weights(of))
            }
            None => names(bound) && gives_weights(source),
        }
    })
}

/// Whether a model is called in the step before the backward pass: an average of its weights that is kept separately is
/// not.
fn trains(step: &TrainingStep<'_, '_>, model: Id) -> bool {
    let index = &step.file.view.index;
    let name = index.text_of(model);
    let called = |call: &Id| {
        let callee = index.callee(*call).map_or("", |g| index.text_of(g));
        callee == name || callee.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
    };
    index.of_kind_in(kinds().call, step.whole).iter().any(|call| *call < step.backward && called(call))
}

impl TrainingStep<'_, '_> {
    /// Whether the step runs weights that its optimizer does not contain, as far as the file shows: those of a second
    /// model, or of a part of the model.
    pub fn trains_a_part(&self, slice: &Slice<'_>) -> bool {
        let (file, index) = (self.file, &self.file.view.index);
        let calls = slice.statements.iter().flat_map(|s| index.of_kind_in(kinds().call, *s)).copied();
        let own = |call: Id| index.callee(call).filter(|_| is_model_call(file, call));
        let models = calls.flat_map(|call| own(call).into_iter().chain(models_handed(file, call)));
        let models: SortedSet<&str> = models.map(|model| index.text_of(model)).collect();
        let of_all = |call: Id, model: &str| {
            let given = index.arguments(call).ids().next().map_or("", |given| index.text_of(value_once(&file, given)));
            given.contains(&format!("{model}.parameters()"))
        };
        let (first, made) = (models.first(), optimizers_made(&file));
        models.len() > 1 || first.is_some_and(|model| made.iter().any(|made| !of_all(made.call, model)))
    }
}

#[cfg(test)]
mod tests {
    use super::weights_changed;
    use crate::marked::{self, with_setup};

    /// The statements of a step that change weights in place.
    #[track_caller]
    fn check(end: &str, expected: &str) {
        let step = "for x, y in loader:\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    optimizer.step()\n";
        marked::check(&with_setup(&format!("{step}{end}\n")), expected, |at| {
            at.lines(weights_changed(&at.step().expect("a step")))
        });
    }

    #[test]
    fn weights_that_the_host_changes() {
        let clamps = "    for p in net.parameters():\n        p.data.clamp_(-1, 1)";
        check(clamps, "for p in net.parameters():");
        let tested = |test: &str| format!("    if {test}:\n    {}", clamps.replace('\n', "\n    "));
        check(&tested("i % 2"), "for p in net.parameters():");
        check(
            "    for p in net.parameters():\n        if x:\n            p.data.clamp_(-1, 1)",
            "for p in net.parameters():",
        );
        check("    net.weight.data.clamp_(-1, 1)", "net.weight.data.clamp_(-1, 1)");
        check("    net.weight.data[0] = 0", "net.weight.data[0] = 0");
        check("    for p in net.parameters():\n        p.data -= 0.1 * p.grad", "for p in net.parameters():");
    }

    #[test]
    fn gradients_and_other_tensors_are_no_weights() {
        check("    for p in net.parameters():\n        p.grad.clamp_(-1, 1)", "");
        check("    for p in average.parameters():\n        p.data.clamp_(-1, 1)", "");
        check("    x.clamp_(-1, 1)", "");
        check("    net.weight.requires_grad_(False)", "");
    }
}
