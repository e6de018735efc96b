//! Which devices a project uses, as far as it shows.

use python::PythonFile;
use python::names::called_name;
use python::origins::{Origin, Place};
use python::strings::plain_string;
use python::tree::{Id, kinds};
use training::{FileView, ProjectFacts};

/// Whether a project names devices where it moves or creates something, and each of them is the CPU.
pub(super) fn keeps_to_cpu(project: &ProjectFacts<'_, '_>) -> bool {
    let files = project.origins.files();
    let mut is_any = false;
    for (file, one) in files.iter().enumerate() {
        let (k, index) = (kinds(), &one.index);
        let names_cuda = |string: &Id| plain_string(index, *string).is_some_and(|text| text.starts_with("cuda"));
        if one.has_word("cuda") || one.has_word("accelerator") || index.of_kind(k.string).iter().any(names_cuda) {
            return false;
        }
        for &call in index.of_kind(k.call) {
            let arguments = index.arguments(call);
            let moved = arguments.positional().next().filter(|_| called_name(index, call) == Some("to"));
            let moved = moved.filter(|given| !is_type(one, *given));
            for id in moved.into_iter().chain(arguments.keyword("device")) {
                let origins = project.origins.origins(Place { file, id });
                let is_cpu =
                    |origin: &Origin<'_>| origin.is_whole() && is_cpu(files[origin.place.file], origin.place.id);
                if origins.is_empty() || !origins.iter().all(is_cpu) {
                    return false;
                }
                is_any = true;
            }
        }
    }
    is_any
}

/// `torch.float32`
fn is_type(file: &PythonFile<'_>, given: Id) -> bool {
    file.names.qualify(&file.index, given).is_some_and(|name| name.starts_with("torch."))
}

/// `"cpu"`, `torch.device("cpu")`
fn is_cpu(file: &PythonFile<'_>, value: Id) -> bool {
    let index = &file.index;
    let names_cpu = |id: Id| plain_string(index, id) == Some("cpu");
    names_cpu(value)
        || index.callee(value).is_some_and(|callee| file.names.stands_for(index, callee, "torch.device"))
            && index.arguments(value).positional().next().is_some_and(names_cpu)
}

/// How many calls are followed into functions of the project.
const DEPTH: u8 = 3;

/// Whether a name is that of a function of the file which moves something to a device or selects one, itself or in what it calls.
pub(super) fn works_on_device(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, name: Id) -> bool {
    let Some(file) = project.origins.number(&view.file) else { return false };
    let origins = project.origins.origins(Place { file, id: name });
    origins.iter().any(|origin| origin.is_whole() && uses_device(project, origin.place, DEPTH))
}

fn uses_device(project: &ProjectFacts<'_, '_>, function: Place, depth: u8) -> bool {
    let file = project.origins.files()[function.file];
    let (k, index) = (kinds(), &file.index);
    let Some(depth) = depth.checked_sub(1).filter(|_| index.kind(function.id) == k.function_definition) else {
        return false;
    };
    index.of_kind_in(k.call, function.id).iter().any(|call| {
        let is_method = index.receiver(*call).is_some();
        let is_use = match called_name(index, *call) {
            Some("cuda" | "backward") => is_method,
            Some("to") => is_method && index.arguments(*call).positional().any(|given| !is_type(file, given)),
            Some("device" | "set_device") => index.callee(*call).is_some_and(|callee| is_type(file, callee)),
            _ => false,
        };
        let called = || project.origins.definitions(Place { id: *call, ..function });
        is_use || called().iter().any(|called| uses_device(project, *called, depth))
    })
}
