//! Calls of models that a backward pass goes through.

use super::calls::loop_around;
use super::forward::{method_call, model_calls};
use super::{TrainingStep, is_model_call};
use crate::project::FileInProject;
use crate::steps::runs_without_gradients;
use python::tree::Id;

/// Whether a call runs a model in front of the backward pass of a step that can be followed. Not if the step runs this model
/// more than once, or a model by another method.
pub fn is_differentiated(file: FileInProject<'_, '_>, call: Id) -> bool {
    if !is_model_call(file, call) {
        return false;
    }
    let index = &file.view.index;
    let name = |call: Id| index.callee(call).map_or("", |callee| index.text_of(callee));
    file.view.steps.training.iter().filter(|whole| index.is_within(call, **whole)).any(|whole| {
        let Ok(step) = TrainingStep::read(file, *whole) else { return false };
        let around = loop_around(&file, step.backward).filter(|around| index.is_within(*around, *whole));
        let is_beside = |call: &Id| {
            let own = loop_around(&file, *call).filter(|around| index.is_within(*around, *whole));
            let is_in_front = *call < step.backward || index.is_within(*call, step.backward);
            index.is_within(*call, *whole) && own == around && is_in_front
        };
        let records = |call: &Id| step.is_alive(*call) && !runs_without_gradients(&file, *call);
        let beside: Vec<Id> = model_calls(file).filter(is_beside).filter(records).collect();
        step.obstacles.is_empty()
            && method_call(file, step.body).is_none()
            && beside.contains(&call)
            && beside.iter().filter(|other| name(**other) == name(call)).count() == 1
    })
}

#[cfg(test)]
mod tests {
    use super::is_differentiated;
    use crate::marked::{self, with_setup};

    /// Whether a backward pass goes through the marked call.
    #[track_caller]
    fn check(body: &str, mark: &str, rest: &str, expected: bool) {
        let marked = format!("        {body}\n        {}{mark}\n", " ".repeat(body.find("net(").unwrap_or(0)));
        let step = format!("def fit(net, loader):\n    for x, y in loader:\n{marked}{rest}");
        marked::check(&with_setup(&step), expected, |at| is_differentiated(at.file(), at.node()));
    }

    #[test]
    fn the_call_that_leads_to_the_loss() {
        let update = "        loss.backward()\n        optimizer.step()\n";
        check("loss = (net(x) - y).mean()", "^^^^^^", update, true);
        check("(net(x) - y).mean().backward()", "^^^^^^", "        optimizer.step()\n", true);
        check("loss = (net(x) - y).mean()", "^^^^^^", &format!("        net.score(x)\n{update}"), false);
        check("loss = (net(x) - y).mean()", "^^^^^^", &format!("        loss += net(y).mean()\n{update}"), false);
        check("loss = (net(x) - y).mean()", "^^^^^^", "        loss.backward()\n", false);
        let evaluated = "        loss = (net(x) - y).mean()\n        loss.backward()\n        optimizer.step()\n";
        check("with torch.no_grad(): net(x)", "^^^^^^", evaluated, false);
    }
}
