//! Where a script trains and where it validates.

use crate::gradients::{GradientMode, gradient_mode};
use python::PythonFile;
use python::tree::{Id, kinds};

/// The steps of a file, as the nodes that contain them.
#[derive(Debug, Default)]
pub struct Steps {
    /// Functions (or top-level loops) that call `backward()`, except unit tests, which only look at gradients; in the order of
    /// the text.
    pub training: Vec<Id>,
    /// Functions that evaluate the model and never call `backward()`, in that order too.
    pub validation: Vec<Id>,
}

impl Steps {
    pub(crate) fn collect(view: &PythonFile<'_>) -> Self {
        let k = kinds();
        let index = &view.index;
        let mut steps = Self::default();
        for &call in view.calls("backward") {
            let step = view.function_of(call).or_else(|| {
                index.ancestors(call).filter(|a| [k.for_statement, k.while_statement].contains(&index.kind(*a))).last()
            });
            // The calls of a step follow one another.
            if let Some(step) = step.filter(|step| steps.training.last() != Some(step) && !is_unit_test(view, *step)) {
                steps.training.push(step);
            }
        }
        sorting::plain(&mut steps.training);
        steps.training.dedup();
        for &function in index.of_kind(k.function_definition) {
            let trains = !view.calls_in("backward", function).is_empty();
            if !trains && names_validation(view.name_of(function)) && is_given_a_model(view, function) {
                steps.validation.push(function);
            }
        }
        steps
    }

    /// The code that is repeated while a file trains, in the order of the text: the outermost loop around the backward pass,
    /// the function if it has no loop, and the step that a trainer calls.
    pub(crate) fn turns(&self, file: &PythonFile<'_>) -> Vec<Id> {
        let index = &file.index;
        let around = |whole: Id| {
            let outermost = |call: Id| {
                let within = index.ancestors(call).take_while(|a| index.is_within(*a, whole));
                within.filter(|a| index.is_loop(*a)).last().unwrap_or(whole)
            };
            file.calls_in("backward", whole).iter().copied().map(outermost).collect::<Vec<_>>()
        };
        let by_trainer = index.functions().filter(|f| f.name() == "training_step").map(|f| f.id());
        let mut turns: Vec<Id> = self.training.iter().flat_map(|whole| around(*whole)).chain(by_trainer).collect();
        sorting::plain(&mut turns);
        turns.dedup();
        turns
    }

    /// Whether a node is inside a training step.
    pub fn in_training(&self, view: &PythonFile<'_>, id: Id) -> bool {
        view.index.is_within_any(id, &self.training)
    }

    /// Whether a node is inside a validation step.
    pub fn in_validation(&self, view: &PythonFile<'_>, id: Id) -> bool {
        view.index.is_within_any(id, &self.validation)
    }
}

/// Whether a function is a unit test: a method of a `TestCase`, or a function that pytest collects.
fn is_unit_test(view: &PythonFile<'_>, function: Id) -> bool {
    let index = &view.index;
    let file = view.path.rsplit('/').next().unwrap_or(view.path);
    let is_collected = file.starts_with("test_") && view.name_of(function).starts_with("test_");
    let is_case = |base: Id| index.text_of(base).ends_with("TestCase");
    is_collected || view.class_of(function).and_then(|c| index.class(c)).is_some_and(|c| c.bases().ids().any(is_case))
}

/// Calls of a method `backward` that differentiate nothing in PyTorch: of a layer in a program of NumPy, which is given
/// its gradients, and of a model's own method, such as the denoising of a diffusion model, beside the backward pass.
pub(crate) fn other_backwards(file: &PythonFile<'_>) -> Vec<Id> {
    let index = &file.index;
    let calls = file.calls("backward");
    let given = |call: &Id| index.arguments(*call).positional().collect::<Vec<_>>();
    let is_loss = |id: &Id| {
        let text = index.text_of(*id).to_ascii_lowercase();
        text.rsplit('.').next().is_some_and(|last| last.contains("loss"))
    };
    let imports = |module: &&str| file.names.imports(module);
    let trainers = ["torch", "accelerate", "lightning", "pytorch_lightning", "deepspeed"];
    let of_numpy = imports(&"numpy") && !trainers.iter().any(imports);
    let is_other = |call: &Id| match given(call).as_slice() {
        [] => false,
        [first, others @ ..] if is_loss(first) => of_numpy && !others.is_empty(),
        [_] => of_numpy,
        _ => of_numpy || calls.iter().any(|c| given(c).is_empty()) || runs_without_gradients(file, *call),
    };
    calls.iter().copied().filter(is_other).collect()
}

/// Whether the function around a call says that gradients are not recorded.
pub(crate) fn runs_without_gradients(file: &PythonFile<'_>, call: Id) -> bool {
    gradient_mode(file, call) == Some(GradientMode::Off)
}

/// Whether a function receives what it evaluates, or sets it to evaluation mode: a `def test():` that builds a network
/// and prints a shape validates nothing.
fn is_given_a_model(view: &PythonFile<'_>, function: Id) -> bool {
    let index = &view.index;
    let takes = index.function(function).is_some_and(|f| f.parameters().any(|p| !matches!(p.name, "self" | "cls")));
    takes || !view.calls_in("eval", function).is_empty()
}

/// `val_step`, `validate`, `evaluate`, `test_one_epoch`, `run_eval`.
pub fn names_validation(name: &str) -> bool {
    name.to_ascii_lowercase().split('_').any(|word| {
        matches!(
            word,
            "val" | "valid" | "validate" | "validation" | "eval" | "evaluate" | "evaluation" | "test" | "testing"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::names_validation;
    use crate::marked;

    /// The first lines of the code that trains and of the functions that validate.
    #[track_caller]
    fn check(program: &str, training: &str, validation: &str) {
        marked::check(program, [training, validation], |at| {
            let steps = &at.file().view.steps;
            [&steps.training, &steps.validation].map(|found| at.lines(found.iter().copied()))
        });
    }

    #[test]
    fn what_calls_backward_trains() {
        check("def fit(net):\n    net().backward()\n", "def fit(net):", "");
        check("for e in range(2):\n    for x in y:\n        net(x).backward()\n", "for e in range(2):", "");
        check("class A(unittest.TestCase):\n    def check(self):\n        net().backward()\n", "", "");
        check("#- test_net.py\ndef test_gradient(net):\n    net().backward()\n", "", "");
    }

    #[test]
    fn a_backward_that_differentiates_nothing() {
        check("import numpy as np\nclass A:\n    def fit(self, g):\n        self.layer.backward(g)\n", "", "");
        check("import torch\ndef fit(self, g):\n    self.layer.backward(g)\n", "def fit(self, g):", "");
    }

    #[test]
    fn what_evaluates_a_model_it_is_given_validates() {
        check("def validate(net):\n    net(x)\n", "", "def validate(net):");
        check("def test():\n    net = Net()\n    print(net(x))\n", "", "");
        check("def test():\n    net.eval()\n    net(x)\n", "", "def test():");
        check("def validate(net):\n    net(x).backward()\n", "def validate(net):", "");
    }

    #[test]
    fn names_of_functions_that_validate() {
        let check = |name: &str, expected: bool| assert_eq!(names_validation(name), expected, "{name}");
        check("val_step", true);
        check("run_eval", true);
        check("Testing", true);
        check("value", false);
        check("latest", false);
    }
}
