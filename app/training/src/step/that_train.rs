//! The training steps of a file that there is something to port in.

use super::handed::is_scalers_own;
use super::made_elsewhere;
use super::update::updates;
use crate::project::FileInProject;
use python::tree::Id;

/// The training steps of a file. If there are others, those that nothing uses, which never run, and those that only
/// differentiate, which train nothing, are left out.
pub fn steps_that_train(file: FileInProject<'_, '_>) -> Vec<Id> {
    let only = |steps: &[Id], keeps: &dyn Fn(Id) -> bool| {
        let kept: Vec<Id> = steps.iter().copied().filter(|step| keeps(*step)).collect();
        if kept.is_empty() { steps.to_vec() } else { kept }
    };
    // A scaler's own step is a part of those that call it.
    let steps: Vec<Id> = file.steps.training.iter().copied().filter(|step| !is_scalers_own(file, *step)).collect();
    let used = only(&steps, &|step| file.project.unused.around(file.view, step).is_none());
    only(&used, &|step| !updates(file, step).is_empty() || made_elsewhere(file, step).is_some())
}

#[cfg(test)]
mod tests {
    use super::steps_that_train;
    use crate::marked::{self, with_setup};

    #[test]
    fn steps_that_there_is_something_to_port_in() {
        let check = |rest: &str, expected: &str| {
            marked::check(&with_setup(rest), expected, |at| at.lines(steps_that_train(at.file())));
        };
        let fit = "def fit(x):\n    net(x).backward()\n    optimizer.step()\n";
        let look = "def saliency(x):\n    net(x).backward()\n    return x.grad\n";
        check(fit, "def fit(x):");
        check(&format!("{fit}{look}"), "def fit(x):");
        check(look, "def saliency(x):");
        // A scaler's own backward pass is a part of the step that calls it.
        let scaler = concat!(
            "class Scaler:\n",
            "    def __call__(self, loss, optimizer):\n",
            "        loss.backward()\n",
            "        optimizer.step()\n",
        );
        check(&format!("{scaler}{fit}    scaler(loss, optimizer)\n"), "def fit(x):");
    }
}
