//! Calls of a model that evaluate it.

use super::calls::loop_around;
use crate::project::FileInProject;
use crate::steps::runs_without_gradients;
use python::names::called_name;
use python::tree::{Id, kinds};

/// Whether a call of a model outside the step's slice evaluates it: in a function that validates, or in a loop over
/// batches without a backward pass that is in the step's function or records no gradients.
pub fn evaluates(file: FileInProject<'_, '_>, whole: Id, call: Id) -> bool {
    let index = &file.index;
    let around = loop_around(&file, call).filter(|l| file.calls_in("backward", *l).is_empty());
    let counts = around.is_some_and(|l| {
        let source = index.source(l);
        source.is_some_and(|r| index.kind(r) == kinds().call && called_name(index, r) == Some("range"))
    });
    let without_gradients = around.is_some() && !counts && runs_without_gradients(&file, call);
    file.steps.in_validation(&file, call) || around.is_some() && index.is_within(call, whole) || without_gradients
}

#[cfg(test)]
mod tests {
    use super::evaluates;
    use crate::marked::{self, with_setup};

    #[test]
    fn a_call_that_evaluates_the_model() {
        let check = |rest: &str, expected: bool| {
            let step = "def fit():\n    for x, y in loader:\n        net(x).mean().backward()\n";
            marked::check(&with_setup(&format!("{step}{rest}")), expected, |at| {
                evaluates(at.file(), at.whole(), at.node())
            });
        };
        check("def validate(net):\n    net(x)\n    ^^^^^^\n", true);
        check("    for x in held_out:\n        net(x)\n        ^^^^^^\n", true);
        check("with torch.no_grad():\n    for x in held_out:\n        net(x)\n        ^^^^^^\n", true);
        check("for x in held_out:\n    net(x)\n    ^^^^^^\n", false);
        check("with torch.no_grad():\n    for n in range(9):\n        net(x)\n        ^^^^^^\n", false);
    }
}
