//! Functions that run in the forward pass of a module: `forward`, and what only it calls.

use python::PythonFile;
use python::tree::Id;

/// Whether a node stands in a method `forward` of a class, or in a function or method of the file that is called from forward passes alone.
pub fn in_forward_pass(file: &PythonFile<'_>, id: Id) -> bool {
    file.function_of(id).is_some_and(|function| runs_forward(file, function, &mut Vec::new()))
}

fn runs_forward(file: &PythonFile<'_>, function: Id, seen: &mut Vec<Id>) -> bool {
    if file.name_of(function) == "forward" {
        return true;
    }
    seen.push(function);
    let mut callers = file
        .callers(function)
        .map(|call| file.function_of(call))
        .filter(|caller| caller.is_none_or(|caller| !seen.contains(&caller)))
        .peekable();
    let is_called = callers.peek().is_some();
    let callers: Vec<_> = callers.collect();
    is_called && callers.into_iter().all(|caller| caller.is_some_and(|caller| runs_forward(file, caller, seen)))
}
