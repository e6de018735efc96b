//! Where a script trains and where it validates.

use python::PythonFile;
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
