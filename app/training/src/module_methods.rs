//! Functions that run on the device of a module: the methods of a class that has a `forward`, and what only they call.

use python::PythonFile;
use python::tree::Id;

/// Whether a node stands in a method of a class that has a `forward`, or in a function of the file that only such methods
/// call. A module is still on the CPU while its `__init__` runs.
pub fn in_module_method(file: &PythonFile<'_>, id: Id) -> bool {
    file.function_of(id).is_some_and(|function| is_of_module(file, function, &mut Vec::new()))
}

fn is_of_module(file: &PythonFile<'_>, function: Id, seen: &mut Vec<Id>) -> bool {
    let index = &file.index;
    if let Some(class) = file.class_of(function) {
        let is_forward = |method: &&Id| file.name_of(**method) == "forward" && file.class_of(**method) == Some(class);
        let has_forward =
            index.of_kind_in(python::tree::kinds().function_definition, class).iter().any(|m| is_forward(&m));
        return has_forward && file.name_of(function) != "__init__";
    }
    seen.push(function);
    let callers: Vec<Option<Id>> = file
        .callers(function)
        .map(|call| file.function_of(call))
        .filter(|caller| caller.is_none_or(|caller| !seen.contains(&caller)))
        .collect();
    !callers.is_empty()
        && callers.into_iter().all(|caller| caller.is_some_and(|caller| is_of_module(file, caller, seen)))
}
