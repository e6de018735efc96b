//! Functions whose tensors meet those of a module: what its forward pass calls, and methods that give a tensor they make.

use python::PythonFile;
use python::names::called_name;
use python::tree::{Id, kinds};

/// Whether a node stands in a method `forward` of a class with a base, in a function of the file that only such methods call, or in
/// what another method of the class returns as it is: `return torch.zeros(n)` of an `init_hidden`. What a method hands to something
/// else, a data set or NumPy, may have to stay on the CPU.
pub fn in_module_method(file: &PythonFile<'_>, id: Id) -> bool {
    let Some(function) = file.function_of(id) else { return false };
    runs_forward(file, function, &mut Vec::new()) || (is_method_of_module(file, function) && is_returned(file, id))
}

fn is_forward(file: &PythonFile<'_>, method: Id) -> bool {
    let based = |class: Id| file.index.class(class).is_some_and(|class| class.bases().ids().next().is_some());
    file.name_of(method) == "forward" && file.class_of(method).is_some_and(based)
}

fn is_method_of_module(file: &PythonFile<'_>, function: Id) -> bool {
    let (index, k) = (&file.index, kinds());
    let is_decorated = index.parent(function).is_some_and(|p| index.kind(p) == k.decorated_definition);
    let has_forward = |class: Id| {
        let mut methods = index.of_kind_in(k.function_definition, class).iter();
        methods.any(|method| file.class_of(*method) == Some(class) && is_forward(file, *method))
    };
    !is_decorated && file.name_of(function) != "__init__" && file.class_of(function).is_some_and(has_forward)
}

fn is_returned(file: &PythonFile<'_>, id: Id) -> bool {
    let (index, k) = (&file.index, kinds());
    let passes = [k.expression_list, k.tuple, k.parenthesized_expression, k.argument_list];
    let is_variable = |a: Id| index.kind(a) == k.call && called_name(index, a) == Some("Variable");
    let around = index.ancestors(id).find(|a| !passes.contains(&index.kind(*a)) && !is_variable(*a));
    around.is_some_and(|a| index.kind(a) == k.return_statement)
}

fn runs_forward(file: &PythonFile<'_>, function: Id, seen: &mut Vec<Id>) -> bool {
    if is_forward(file, function) {
        return true;
    }
    seen.push(function);
    let callers: Vec<Option<Id>> = file
        .callers(function)
        .map(|call| file.function_of(call))
        .filter(|caller| caller.is_none_or(|caller| !seen.contains(&caller)))
        .collect();
    !callers.is_empty() && callers.into_iter().all(|caller| caller.is_some_and(|c| runs_forward(file, c, seen)))
}
