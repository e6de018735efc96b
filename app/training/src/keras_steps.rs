//! Functions that TensorFlow makes a graph of, `@tf.function`, in a file that computes its gradients in one of them.

use crate::view::FileView;
use python::syntax::Argument;
use python::tree::{Id, kinds};

/// Such a function.
pub struct GraphFunction<'t> {
    /// Its name.
    pub name: &'t str,
    /// What decorates it: `tf.function`, or a call of that.
    pub decorator: Id,
    /// Its calls from outside of such functions.
    pub calls: Vec<Id>,
}

/// The graph functions of a file, if all its tapes are in those that also update weights. Empty if one of them is a method
/// or called in a way that can't be changed.
pub fn graph_functions<'t>(view: &FileView<'t>) -> Vec<GraphFunction<'t>> {
    let k = kinds();
    let index = &view.index;
    let decorator = |function: Id| {
        let around = index.parent(function).filter(|p| index.kind(*p) == k.decorated_definition)?;
        let mut decorators = index.children(around).filter(|c| index.kind(*c) == k.decorator);
        let only = decorators.next().filter(|_| decorators.next().is_none())?;
        let what = index.parts(only).next()?;
        let name = index.callee(what).unwrap_or(what);
        view.names.stands_for(index, name, "tensorflow.function").then_some(what)
    };
    let functions: Vec<(Id, Id)> = index.functions().filter_map(|f| Some((f.id(), decorator(f.id())?))).collect();
    let is_inside = |id: Id| functions.iter().any(|(function, _)| index.is_within(id, *function));
    let updates = |function: Id| {
        let mut calls = view.calls("apply_gradients").iter().chain(view.calls("minimize"));
        calls.any(|call| index.is_within(*call, function))
    };
    let tapes = view.calls("GradientTape");
    let trains = |tape: &Id| functions.iter().any(|(f, _)| index.is_within(*tape, *f) && updates(*f));
    if tapes.is_empty() || !tapes.iter().all(trains) {
        return Vec::new();
    }
    let is_plain = |call: &Id| {
        index.receiver(*call).is_none()
            && index.arguments(*call).iter().all(|a| matches!(a, Argument::Positional(_) | Argument::Keyword { .. }))
    };
    let mut out = Vec::new();
    for &(function, decorator) in &functions {
        let name = view.name_of(function);
        let calls: Vec<Id> = view.calls(name).iter().copied().filter(|call| !is_inside(*call)).collect();
        // Passed on as a value, it may be called anywhere.
        let is_passed = view.identifiers(name).iter().any(|id| {
            let is_called = index.parent(*id).is_some_and(|p| index.callee(p) == Some(*id));
            let is_defined = index.parent(*id) == Some(function);
            !is_called && !is_defined && !index.is_label(*id)
        });
        if view.class_of(function).is_some() || is_passed || !calls.iter().all(is_plain) {
            return Vec::new();
        }
        out.push(GraphFunction { name, decorator, calls });
    }
    let is_called = |tape: &Id| {
        let mut around = functions.iter().zip(&out).filter(|((f, _), _)| index.is_within(*tape, *f));
        around.any(|(_, function)| !function.calls.is_empty())
    };
    if tapes.iter().all(is_called) { out } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::graph_functions;
    use crate::marked;

    #[test]
    fn graph_functions_that_train() {
        let check = |rest: &str, expected: &str| {
            let step = "@tf.function\ndef step(x):\n    with tf.GradientTape() as tape:\n        y = f(x)\n";
            let program = format!("import tensorflow as tf\n{step}    optimizer.apply_gradients(tape)\n{rest}");
            marked::check(&program, expected, |at| {
                let found = graph_functions(at.file().view);
                found
                    .iter()
                    .map(|f| format!("{}: {}", f.name, at.lines(f.calls.iter().copied())))
                    .collect::<Vec<_>>()
                    .join("; ")
            });
        };
        check("step(x)\n", "step: step(x)");
        check("", "");
        check("run(step)\nstep(x)\n", "");
        check("step(*x)\n", "");
        check("step(x)\nwith tf.GradientTape() as t:\n    f(x)\n", "");
    }
}
