//! Names of the source vendor's device that a program gives to functions of its own, which only compare them: in one program for
//! all devices such a function knows no other name.

use crate::condition::names_cuda_device;
use python::PythonFile;
use python::names::called_name;
use python::origins::Place;
use python::strings::plain_string;
use python::syntax::Parameter;
use python::tree::{Id, kinds};
use training::project::has_part;
use training::words::DEVICE_TYPES;
use training::{FileView, ProjectFacts};

/// Whether a node is such a name, or a call that is given one.
pub(super) fn is_only_compared(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, node: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let Some(file) = project.origins.number(&view.file) else { return false };
    let given = |value: Id| {
        let holder = index.parent(value)?;
        let argument = if index.kind(holder) == k.keyword_argument { holder } else { value };
        let list = index.parent(argument).filter(|list| index.kind(*list) == k.argument_list)?;
        Some((index.parent(list)?, argument))
    };
    let strings = index.of_kind_in(k.string, node).iter().copied().chain([node]);
    let mut given = strings.filter(|string| names_cuda_device(view, *string)).filter_map(|string| {
        let (call, argument) = given(string)?;
        (string == node || call == node).then_some((call, argument))
    });
    given.any(|(call, argument)| {
        let definitions = project.origins.definitions(Place { file, id: call });
        !definitions.is_empty() && definitions.iter().all(|at| compares_only(project, *at, view, (call, argument)))
    })
}

/// Whether a function, or a new object of a class, only compares what an argument gives it, and does with the source vendor's
/// device what no other one has.
fn compares_only(
    project: &ProjectFacts<'_, '_>,
    definition: Place,
    view: &FileView<'_>,
    (call, argument): (Id, Id),
) -> bool {
    let (k, file) = (kinds(), project.origins.files()[definition.file]);
    let index = &file.index;
    let is_class = index.kind(definition.id) == k.class_definition;
    let makes =
        |function: &Id| file.name_of(*function) == "__init__" && file.class_of(*function) == Some(definition.id);
    let function = match is_class {
        true => index.of_kind_in(k.function_definition, definition.id).iter().copied().find(makes),
        false => Some(definition.id),
    };
    let Some(function) = function.and_then(|function| index.function(function)) else { return false };
    let mut parameters: Vec<Parameter<'_>> = function.parameters().collect();
    if parameters.first().is_some_and(|first| first.name == "self") {
        parameters.remove(0);
    }
    let parameter = match view.index.keyword_name(argument) {
        Some(name) => parameters.iter().find(|one| one.name == name),
        None => {
            let place = view.index.arguments(call).positional().position(|one| one == argument);
            place.and_then(|place| parameters.get(place)).filter(|one| !one.name.starts_with('*'))
        }
    };
    let (Some(parameter), Some(body)) = (parameter, function.body()) else { return false };
    let comparison = |id: &Id| index.parent(*id).filter(|around| index.kind(*around) == k.comparison_operator);
    let mut read = index.of_kind_in(k.identifier, body).iter().filter(|id| index.is_text(**id, parameter.name));
    let compared: Option<Vec<Id>> = read.by_ref().filter(|id| !index.is_label(**id)).map(comparison).collect();
    compared.is_some_and(|all| {
        let is_known = |comparison: &Id| names_another(file, *comparison);
        all.iter().any(|comparison| is_for_vendor(file, *comparison)) && !all.iter().any(is_known)
    })
}

/// Whether a comparison is with another device of PyTorch's than the CPU and the source vendor's.
fn names_another(file: &PythonFile<'_>, comparison: Id) -> bool {
    let index = &file.index;
    let names = |string: &Id| {
        plain_string(index, *string).is_some_and(|text| text != "cuda" && text != "cpu" && DEVICE_TYPES.contains(&text))
    };
    index.of_kind_in(kinds().string, comparison).iter().any(names)
}

/// Whether a comparison is with the source vendor's device, and what follows names something of its software.
fn is_for_vendor(file: &PythonFile<'_>, comparison: Id) -> bool {
    let (k, index) = (kinds(), &file.index);
    let names = |id: Id| plain_string(index, id) == Some("cuda");
    let other = |id: &Id| {
        let text = plain_string(index, *id).unwrap_or_default();
        has_part(text, "cuda") && !text.starts_with("cuda") && !is_shown(file, *id)
    };
    let owner = index.parent(comparison).filter(|owner| index.condition(*owner) == Some(comparison));
    let code = owner.and_then(|owner| index.consequence(owner));
    index.parts(comparison).any(names) && code.is_some_and(|code| index.of_kind_in(k.string, code).iter().any(other))
}

/// Whether a text is printed.
fn is_shown(file: &PythonFile<'_>, text: Id) -> bool {
    let index = &file.index;
    let call = index.ancestors(text).nth(1).and_then(|call| called_name(index, call));
    call.is_some_and(|name| training::words::CALLS_FOR_PEOPLE.contains(&name))
}
