//! The arguments that callers pass for the parameters of a function.

use python::PythonFile;
use python::tree::Id;

/// The arguments that callers pass for a parameter of a function of the file, if they do.
pub(crate) fn given(file: &PythonFile<'_>, function: Id, parameter: &str) -> Vec<Id> {
    let index = &file.index;
    let skipped = usize::from(file.class_of(function).is_some());
    let mut parameters = index.function(function).into_iter().flat_map(|d| d.parameters());
    let Some(place) = parameters.position(|p| p.name == parameter) else { return Vec::new() };
    let argument = |call: Id| {
        let arguments = index.arguments(call);
        arguments.keyword(parameter).or_else(|| arguments.positional().nth(place.checked_sub(skipped)?))
    };
    file.callers(function).filter_map(argument).collect()
}

#[cfg(test)]
mod tests {
    use super::given;
    use crate::marked;

    #[test]
    fn what_callers_pass_for_a_parameter() {
        let check = |function: &str, calls: &str, expected: &str| {
            let mark = if function.starts_with("class") { "    ^^^" } else { "^^^" };
            let program = format!("{function}\n{mark}\n        pass\n{calls}\n");
            marked::check(&program, expected, |at| at.lines(given(&at.file(), at.node(), "b")));
        };
        check("def f(a, b):", "f(1, 2)\nf(b=3, a=1)\nf(1)", "2\n3");
        check("def f(a):", "f(1)", "");
        check("class A:\n    def f(self, b):", "run.f(1)", "1");
        // Of a model, it is another method.
        check("class A:\n    def f(self, b):", "model.f(1)", "");
    }
}
