//! Gradients that a program reads itself.

use super::TrainingStep;
use super::calls::{arguments, qualified};
use crate::project::FileInProject;
use crate::roles::Role;
use crate::words::CLIPPING_FUNCTIONS;
use python::names::called_name;
use python::tree::{Id, kinds};

/// The first place in the step that reads a `.grad` after the backward pass, or calls a function that does, judging by
/// its name: `clip_gradient(optimizer, 0.5)`. Setting a gradient to None clears it and reads nothing.
pub(crate) fn gradient_read(step: &TrainingStep<'_, '_>) -> Option<Id> {
    let index = &step.file.view.index;
    let is_target = |id: Id| {
        let assigned = index.parent(id).and_then(|p| index.assignment(p));
        assigned.is_some_and(|a| a.target() == Some(id))
    };
    let reads = |id: &Id| index.attribute(*id).is_some_and(|a| a.name() == Some("grad")) && !is_target(*id);
    let attributes = index.of_kind_in(kinds().attribute, step.whole).iter().copied().filter(|id| reads(id));
    let calls = index.of_kind_in(kinds().call, step.whole).iter().copied().filter(|id| is_given_gradients(step, *id));
    attributes.chain(calls).filter(|id| *id > step.backward && step.is_alive(*id)).min()
}

/// Whether a call of the program's own receives the optimizer or weights, and its name mentions their gradients.
fn is_given_gradients(step: &TrainingStep<'_, '_>, call: Id) -> bool {
    let (file, index) = (step.file, &step.file.view.index);
    let Some(name) = called_name(index, call).filter(|name| !CLIPPING_FUNCTIONS.contains(name)) else { return false };
    let has = |words: &[&str]| name.split('_').any(|part| words.contains(&part));
    has(&["clip", "grad", "grads", "gradient", "gradients"])
        && !has(&["zero", "clear", "reset", "no", "requires"])
        && qualified(&file, call).is_none_or(|name| !name.starts_with("torch."))
        && arguments(&file, call).into_iter().any(|id| holds_weights(file, id))
}

/// Whether an argument is the optimizer, the model or its weights, or what a function returns that is given one of them.
fn holds_weights(file: FileInProject<'_, '_>, id: Id) -> bool {
    let index = &file.view.index;
    let id = index.keyword_name(id).and_then(|_| index.value(id)).unwrap_or(id);
    let by_method =
        matches!(called_name(index, id), Some("parameters" | "named_parameters")) && index.receiver(id).is_some();
    by_method
        || matches!(file.role(id), Some(Role::Optimizer | Role::Model))
        || arguments(&file, id).into_iter().any(|given| holds_weights(file, given))
}

#[cfg(test)]
mod tests {
    use super::gradient_read;
    use crate::marked::{self, with_setup};

    /// Where a step reads gradients after the backward pass.
    #[track_caller]
    fn check(reads: &str, expected: &str) {
        let step = "for x, y in loader:\n    F.mse_loss(net(x), y).backward()\n    ";
        marked::check(&with_setup(&format!("{step}{reads}\n    optimizer.step()\n")), expected, |at| {
            at.lines(gradient_read(&at.step().expect("a step")))
        });
    }

    #[test]
    fn gradients_that_the_program_reads() {
        check("print(net.weight.grad)", "net.weight.grad");
        check("clip_gradient(optimizer, 0.5)", "clip_gradient(optimizer, 0.5)");
        check("log_grads(net)", "log_grads(net)");
    }

    #[test]
    fn gradients_that_it_clears_or_clips() {
        check("net.weight.grad = None", "");
        check("nn.utils.clip_grad_norm_(net.parameters(), 0.5)", "");
        check("zero_grad_of(net)", "");
        check("log_grads(x)", "");
    }
}
