//! Where a script trains and where it validates.

use python::PythonFile;
use python::syntax::Class;
use python::tree::{Id, kinds};

/// The steps of a file, as the nodes that contain them.
#[derive(Debug, Default)]
pub struct Steps {
    /// Functions (or top-level loops) that call `backward()`.
    pub training: Vec<Id>,
    /// Functions that evaluate the model and never call `backward()`.
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
            if let Some(step) = step
                && !steps.training.contains(&step)
            {
                steps.training.push(step);
            }
        }
        for &function in index.of_kind(k.function_definition) {
            let trains = view.calls("backward").iter().any(|c| index.is_within(*c, function));
            if !trains && names_validation(view.name_of(function)) && is_given_a_model(view, function) {
                steps.validation.push(function);
            }
        }
        steps
    }

    /// Whether a node is inside a training step.
    pub fn in_training(&self, view: &PythonFile<'_>, id: Id) -> bool {
        self.training.iter().any(|s| view.index.is_within(id, *s))
    }

    /// Whether a node is inside a validation step.
    pub fn in_validation(&self, view: &PythonFile<'_>, id: Id) -> bool {
        self.validation.iter().any(|s| view.index.is_within(id, *s))
    }
}

/// Calls of a method `backward` that differentiate nothing in PyTorch: of a layer in a program of NumPy, which is given
/// its gradients, and of a model's own method, such as the denoising of a diffusion model, beside the backward pass. Neither
/// is a unit test a training step.
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
    calls.iter().copied().filter(|call| is_other(call) || is_in_a_test(file, *call)).collect()
}

/// In a method of a `TestCase`, or in a function `test_…` of a file that its name or folder shows to contain tests.
fn is_in_a_test(file: &PythonFile<'_>, call: Id) -> bool {
    let index = &file.index;
    let is_test =
        |part: &str| matches!(part, "test" | "tests") || part.starts_with("test_") || part.ends_with("_test.py");
    let of_tests = file.path.split('/').any(is_test);
    index.ancestors(call).any(|a| {
        let is_case = |class: Class<'_, '_>| class.bases().ids().any(|base| index.text_of(base).ends_with("TestCase"));
        index.class(a).is_some_and(is_case)
            || of_tests && index.function(a).is_some_and(|function| function.name().starts_with("test"))
    })
}

/// Under `torch.no_grad()`, as a block or as a decorator.
pub(crate) fn runs_without_gradients(file: &PythonFile<'_>, call: Id) -> bool {
    let k = kinds();
    let index = &file.index;
    index.ancestors(call).any(|a| {
        let decorated = index.kind(a) == k.function_definition
            && index.parent(a).is_some_and(|p| index.kind(p) == k.decorated_definition);
        let whole = if decorated { index.parent(a).unwrap_or(a) } else { a };
        let text = index.text_of(whole);
        (decorated || index.kind(a) == k.with_statement)
            && ["no_grad", "inference_mode"].iter().any(|word| text.lines().next().unwrap_or(text).contains(word))
    })
}

/// Whether a function receives what it evaluates, or sets it to evaluation mode: a `def test():` that builds a network
/// and prints a shape validates nothing.
fn is_given_a_model(view: &PythonFile<'_>, function: Id) -> bool {
    let index = &view.index;
    let takes = index.function(function).is_some_and(|f| f.parameters().any(|p| !matches!(p.name, "self" | "cls")));
    takes || view.calls("eval").iter().any(|c| index.is_within(*c, function))
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
