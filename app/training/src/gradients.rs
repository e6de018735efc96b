//! Whether gradients are recorded where code runs: `no_grad` and its like as blocks, decorators and calls.

use python::PythonFile;
use python::names::called_name;
use python::tree::{Id, kinds};

/// Whether gradients are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GradientMode {
    On,
    Off,
    /// A value decides, as in `set_grad_enabled(is_training)`.
    AtRunTime,
}

/// What the function around a node says about gradients; none if it says nothing.
pub(crate) fn gradient_mode(file: &PythonFile<'_>, id: Id) -> Option<GradientMode> {
    let k = kinds();
    let index = &file.index;
    let mut inside = id;
    for around in index.ancestors(id) {
        let kind = index.kind(around);
        let found = if kind == k.with_statement && index.body(around) == Some(inside) {
            contexts(file, around).into_iter().rev().find_map(|value| context(file, value))
        } else if kind == k.block || kind == k.module {
            // `torch.set_grad_enabled(False)`, as a statement above.
            let calls = ["set_grad_enabled", "enter_context"].iter().flat_map(|name| file.calls(name));
            let above = calls.filter_map(|call| file.statement_of(*call));
            let above = above.filter(|s| index.parent(*s) == Some(around) && *s < inside);
            let sets = |statement: Id| {
                let inner =
                    index.parts(statement).next().filter(|_| index.kind(statement) == k.expression_statement)?;
                let call = index.assignment(inner).map_or(Some(inner), |assignment| assignment.value())?;
                match called_name(index, call) {
                    Some("set_grad_enabled") => context(file, call),
                    Some("enter_context") => context(file, index.arguments(call).positional().next()?),
                    _ => None,
                }
            };
            above.filter_map(|s| Some((s, sets(s)?))).max_by_key(|(s, _)| *s).map(|(_, mode)| mode)
        } else if kind == k.function_definition {
            let decorators = index.function(around).map_or_else(Vec::new, |function| function.decorators());
            let of_function = decorators.into_iter().find_map(|d| context(file, index.parts(d).next()?));
            return of_function;
        } else {
            None
        };
        if found.is_some() {
            return found;
        }
        inside = around;
    }
    None
}

/// Whether a `with` statement does nothing but decide whether gradients are recorded.
pub fn only_decides_on_gradients(file: &PythonFile<'_>, with: Id) -> bool {
    contexts(file, with).into_iter().all(|value| context(file, value).is_some())
}

/// The context managers of a `with` statement.
fn contexts(file: &PythonFile<'_>, with: Id) -> Vec<Id> {
    let index = &file.index;
    let clause = index.children(with).filter(|child| index.kind(*child) == kinds().with_clause);
    clause.flat_map(|clause| index.parts(clause)).filter_map(|item| index.parts(item).next()).collect()
}

/// The value of a name that has no other in its scope.
fn known(file: &PythonFile<'_>, name: Id) -> Id {
    let index = &file.index;
    if index.kind(name) != kinds().identifier {
        return name;
    }
    let text = index.text_of(name);
    let scope = file.function_of(name).filter(|function| file.binds(*function, text));
    let mut given = index.assignments_to(text).filter(|a| file.function_of(a.id()) == scope);
    match (given.next().and_then(|only| only.value()), given.next()) {
        (Some(value), None) => value,
        _ => name,
    }
}

/// What a context manager or a decorator says about gradients: `torch.no_grad()`, also under another name.
fn context(file: &PythonFile<'_>, value: Id) -> Option<GradientMode> {
    let (k, index) = (kinds(), &file.index);
    let value = known(file, value);
    if index.kind(value) == k.as_pattern {
        return context(file, index.parts(value).next()?);
    }
    if index.kind(value) == k.conditional_expression {
        let mut arms = index.parts(value).enumerate().filter(|(place, _)| *place != 1).map(|(_, arm)| arm);
        return arms.any(|arm| context(file, arm).is_some()).then_some(GradientMode::AtRunTime);
    }
    let callee = known(file, index.callee(value).unwrap_or(value));
    let name = file.names.qualify(index, callee).unwrap_or_else(|| index.text_of(callee).to_owned());
    let is_given = index.arguments(value).get(0, "mode").map(|given| index.text_of(given));
    match (name.rsplit('.').next()?, is_given) {
        ("no_grad", _) => Some(GradientMode::Off),
        ("enable_grad", _) => Some(GradientMode::On),
        ("inference_mode", None | Some("True")) | ("set_grad_enabled", Some("False")) => Some(GradientMode::Off),
        ("inference_mode", Some("False")) | ("set_grad_enabled", Some("True")) => Some(GradientMode::On),
        ("inference_mode" | "set_grad_enabled", _) => Some(GradientMode::AtRunTime),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::GradientMode::{self, AtRunTime, Off, On};
    use super::gradient_mode;
    use crate::marked;

    /// What is said about gradients around the marked call.
    #[track_caller]
    fn check(program: &str, expected: impl Into<Option<GradientMode>>) {
        marked::check(&format!("import torch\n{program}"), expected.into(), |at| {
            gradient_mode(&at.file().view.file, at.node())
        });
    }

    #[test]
    fn a_block_or_a_decorator() {
        check("with torch.no_grad():\n    net(x)\n    ^^^^^^\n", Off);
        check("with torch.autocast('cpu'), torch.no_grad():\n    net(x)\n    ^^^^^^\n", Off);
        check("with torch.no_grad():\n    with torch.enable_grad():\n        net(x)\n        ^^^^^^\n", On);
        check("with torch.no_grad():\n    pass\nnet(x)\n^^^^^^\n", None);
        check("with f(net(x)), torch.no_grad():\n       ^^^^^^\n    pass\n", None);
        check("@torch.inference_mode()\ndef f():\n    net(x)\n    ^^^^^^\n", Off);
        check("@torch.no_grad\ndef f():\n    net(x)\n    ^^^^^^\n", Off);
    }

    #[test]
    fn a_mode_that_is_set() {
        check("with torch.set_grad_enabled(False):\n    net(x)\n    ^^^^^^\n", Off);
        check("with torch.set_grad_enabled(phase == 'train'):\n    net(x)\n    ^^^^^^\n", AtRunTime);
        check("def f():\n    torch.set_grad_enabled(False)\n    if a:\n        net(x)\n        ^^^^^^\n", Off);
        check("torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\nnet(x)\n^^^^^^\n", On);
        check("old = torch.set_grad_enabled(False)\nnet(x)\n^^^^^^\n", Off);
        check("with torch.inference_mode(mode=False):\n    net(x)\n    ^^^^^^\n", On);
        check("with stack:\n    stack.enter_context(torch.no_grad())\n    net(x)\n    ^^^^^^\n", Off);
        check("net(x)\n^^^^^^\ntorch.set_grad_enabled(False)\n", None);
    }

    #[test]
    fn another_name() {
        check("from torch import no_grad as off\nwith off():\n    net(x)\n    ^^^^^^\n", Off);
        check("off = torch.no_grad\nwith off():\n    net(x)\n    ^^^^^^\n", Off);
        check("off = torch.no_grad()\nwith off:\n    net(x)\n    ^^^^^^\n", Off);
        let unrelated = "def g():\n    off = torch.no_grad()\n";
        check(&format!("{unrelated}def f(off):\n    with off:\n        net(x)\n        ^^^^^^\n"), None);
        check(
            "class A:\n    def g(self):\n        self.off = torch.no_grad()\nclass B:\n    def f(self):\n        with self.off:\n            net(x)\n            ^^^^^^\n",
            None,
        );
        check("off = torch.no_grad() if a else nullcontext()\nwith off:\n    net(x)\n    ^^^^^^\n", AtRunTime);
    }
}
