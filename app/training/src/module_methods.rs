//! Functions whose tensors are combined with those of a module: those that its forward pass calls, and methods that
//! return a tensor they create.

use python::PythonFile;
use python::names::called_name;
use python::tree::{Id, kinds};

/// Whether a node is in a method of a class with a base that is `forward` or calls it, in a function of the file that
/// only such methods call, in an expression that another method of the class returns directly, `return torch.zeros(n)`
/// of an `init_hidden`, or in a value that the class keeps as a plain attribute, which is not moved with the module.
/// Values that a method passes to something else, a data set or NumPy, may have to stay on the CPU.
pub fn in_module_method(file: &PythonFile<'_>, id: Id) -> bool {
    let Some(function) = file.function_of(id) else { return false };
    is_plain_attribute(file, id)
        || runs_forward(file, function, &mut Vec::new())
        || (is_method_of_module(file, function) && is_returned(file, id))
}

/// Whether a node is the value of a plain attribute of a module, in its `__init__`, and only functions on tensors are
/// applied to it.
fn is_plain_attribute(file: &PythonFile<'_>, id: Id) -> bool {
    let (index, k) = (&file.index, kinds());
    let Some(function) = file.function_of(id).filter(|f| file.name_of(*f) == "__init__") else { return false };
    let Some(kept) = index.ancestors(id).find_map(|around| index.assignment(around)) else { return false };
    let on_tensors = |call: Id| {
        let callee = index.callee(call);
        let name = callee.and_then(|callee| file.names.qualify(index, callee));
        let of_tensor = index.receiver(call).is_some() && called_name(index, call) != Some("numpy");
        name.map_or(of_tensor, |name| name.starts_with("torch.") && !name.starts_with("torch.nn."))
    };
    let around = std::iter::once(id).chain(index.ancestors(id)).take_while(|a| *a != kept.id());
    kept.target().is_some_and(|target| index.text_of(target).starts_with("self."))
        && has_forward(file, function)
        && around.filter(|a| index.kind(*a) == k.call).all(on_tensors)
}

fn is_forward(file: &PythonFile<'_>, method: Id) -> bool {
    let based = |class: Id| file.index.class(class).is_some_and(|class| class.bases().ids().next().is_some());
    file.name_of(method) == "forward" && file.class_of(method).is_some_and(based)
}

/// Whether a function is a method of a class with a `forward`.
fn has_forward(file: &PythonFile<'_>, function: Id) -> bool {
    file.class_of(function).is_some_and(|class| {
        let mut methods = file.index.of_kind_in(kinds().function_definition, class).iter();
        methods.any(|method| file.class_of(*method) == Some(class) && is_forward(file, *method))
    })
}

/// Whether a method calls the forward pass of its own module: `self.forward(x)`, `self(x)`.
fn calls_forward(file: &PythonFile<'_>, method: Id) -> bool {
    let index = &file.index;
    let is_own = |callee: Id| ["self", "self.forward"].contains(&index.text_of(callee));
    let mut calls = index.of_kind_in(kinds().call, method).iter();
    has_forward(file, method) && calls.any(|call| index.callee(*call).is_some_and(is_own))
}

fn is_method_of_module(file: &PythonFile<'_>, function: Id) -> bool {
    let (index, k) = (&file.index, kinds());
    let is_decorated = index.parent(function).is_some_and(|p| index.kind(p) == k.decorated_definition);
    !is_decorated && file.name_of(function) != "__init__" && has_forward(file, function)
}

fn is_returned(file: &PythonFile<'_>, id: Id) -> bool {
    let (index, k) = (&file.index, kinds());
    let passes = [k.expression_list, k.tuple, k.parenthesized_expression, k.argument_list];
    let is_variable = |a: Id| index.kind(a) == k.call && called_name(index, a) == Some("Variable");
    let around = index.ancestors(id).find(|a| !passes.contains(&index.kind(*a)) && !is_variable(*a));
    around.is_some_and(|a| index.kind(a) == k.return_statement)
}

fn runs_forward(file: &PythonFile<'_>, function: Id, seen: &mut Vec<Id>) -> bool {
    if is_forward(file, function) || calls_forward(file, function) {
        return true;
    }
    seen.push(function);
    let callers: Vec<(Id, Option<Id>)> = file
        .callers(function)
        .map(|call| (call, file.function_of(call)))
        .filter(|(_, caller)| caller.is_none_or(|caller| !seen.contains(&caller)))
        .collect();
    let runs = |(call, caller): (Id, Option<Id>)| {
        is_plain_attribute(file, call) || caller.is_some_and(|caller| runs_forward(file, caller, seen))
    };
    !callers.is_empty() && callers.into_iter().all(runs)
}

#[cfg(test)]
mod tests {
    use super::in_module_method;
    use crate::marked;

    /// Whether the marked tensor meets those of a module.
    #[track_caller]
    fn check(methods: &str, expected: bool) {
        let program = format!("import torch\nclass Net(torch.nn.Module):\n{methods}");
        marked::check(&program, expected, |at| in_module_method(&at.file().view.file, at.node()));
    }

    const FORWARD: &str = "    def forward(self, x):\n        return x + self.mix(x)\n";

    #[test]
    fn a_forward_pass_and_what_only_it_calls() {
        check("    def forward(self, x):\n        return f(2)\n               ^^^^\n", true);
        check(&format!("{FORWARD}    def mix(self, x):\n        a = f(2)\n            ^^^^\n        return a\n"), true);
        check(
            &format!(
                "{FORWARD}    def mix(self, x):\n        a = f(2)\n            ^^^^\n        return a\nnet.mix(x)\n"
            ),
            true,
        );
        check(&format!("{FORWARD}def mix():\n    return f(2)\n           ^^^^\nmix()\n"), false);
        check(&format!("{FORWARD}    def plot(self):\n        show(f(2))\n             ^^^^\n"), false);
    }

    #[test]
    fn what_a_method_returns_or_keeps() {
        check(&format!("{FORWARD}    def start(self):\n        return f(2)\n               ^^^^\n"), true);
        check(
            &format!("{FORWARD}    @property\n    def start(self):\n        return f(2)\n               ^^^^\n"),
            false,
        );
        let init = |value: &str, mark: &str| {
            format!("{FORWARD}    def __init__(self):\n        self.a = {value}\n                 {mark}\n")
        };
        check(&init("torch.ones(2)", "^^^^^^^^^^^^^"), true);
        check(&init("torch.nn.Parameter(b(2))", "                   ^^^^"), false);
    }
}
