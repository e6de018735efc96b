//! Names that are there for the source vendor alone: its software, and what only code for its device binds, such as what is
//! imported there.

use crate::definitions::Definitions;
use crate::guards::Guards;
use crate::residue::needs_vendor;
use python::PythonFile;
use python::origins::Place;
use python::tree::{Id, kinds};
use training::modes::Region;
use training::project::has_part;
use training::{FileView, ProjectFacts};

/// Whether all functions and classes of the project with a name run on any device once the port has changed what they ask of CUDA: they
/// use it through PyTorch alone.
pub(crate) fn is_ported_function(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    definitions: &Definitions,
    name: &str,
) -> bool {
    let k = kinds();
    let is_ported = |file: &PythonFile<'_>, function: Id| {
        let index = &file.index;
        let is_others = |read: &str| {
            let mut meanings = file.names.bindings.iter().filter(|b| b.local == read).map(|b| b.qualified.as_str());
            meanings.any(|meaning| needs_vendor(view, project, definitions, meaning))
        };
        let mut read = index.of_kind_in(k.identifier, function).iter().map(|id| index.text_of(*id));
        read.all(|own| {
            let is_own = own == name || ["cuda", "is_cuda"].contains(&own);
            (is_own || !has_part(own, "cuda")) && !is_others(own)
        })
    };
    let defining = project.origins.files().iter().filter(|file| file.defines(name));
    let functions = defining.flat_map(|file| {
        let kinds = [k.function_definition, k.class_definition];
        let all = kinds.into_iter().flat_map(|kind| file.index.of_kind(kind)).copied();
        all.filter(|function| file.name_of(*function) == name).map(move |function| (file, function))
    });
    let mut functions = functions.peekable();
    functions.peek().is_some() && functions.all(|(file, function)| is_ported(file, function))
}

/// Where code reads such names.
pub(crate) fn vendors_names(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guards: &dyn Guards,
    definitions: &Definitions,
    code: Id,
) -> Vec<Id> {
    let (k, index) = (kinds(), &view.index);
    let Some(file) = project.origins.number(&view.file) else { return Vec::new() };
    let needs = |name: &str| needs_vendor(view, project, definitions, name);
    let is_import = |bound: Id| {
        let mut around = index.ancestors(bound);
        around.any(|around| [k.import_statement, k.import_from_statement].contains(&index.kind(around)))
    };
    let means_software = |read: Id| {
        let bound = project.origins.visible_name(Place { file, id: read }, index.text_of(read));
        let mut meanings = view.names.bindings.iter().filter(|binding| index.is_text(read, &binding.local));
        bound.iter().all(|bound| is_import(bound.id)) && meanings.any(|binding| needs(&binding.qualified))
    };
    let uses = |function: Id| {
        let decides = [k.if_statement, k.try_statement, k.conditional_expression];
        let around = |id: Id| index.ancestors(id).take_while(|around| *around != function);
        let is_certain = |id: Id| !around(id).any(|around| decides.contains(&index.kind(around)));
        let read = index.of_kind_in(k.identifier, function).iter().copied().filter(|id| !index.is_label(*id));
        let acts = ["to", "cuda", "backward", "step"].iter().any(|name| !view.calls_in(name, function).is_empty());
        !acts && read.filter(|id| is_certain(*id)).any(means_software)
    };
    // A function of this file that can't do without such software, and neither trains nor moves anything.
    let calls_one = |read: Id| {
        let is_called = index.parent(read).is_some_and(|call| index.callee(call) == Some(read));
        let bound = project.origins.visible_name(Place { file, id: read }, index.text_of(read));
        let function = |bound: Id| index.parent(bound).filter(|f| index.kind(*f) == k.function_definition);
        is_called && !bound.is_empty() && bound.iter().all(|bound| function(bound.id).is_some_and(uses))
    };
    let is_one = |read: &Id| {
        let bound = project.origins.visible_name(Place { file, id: *read }, index.text_of(*read));
        let is_vendors =
            |id: Id| !index.is_within(id, code) && matches!(guards.region(view, id), Region::Vendor { .. });
        let mut meanings = view.names.bindings.iter().filter(|binding| index.is_text(*read, &binding.local));
        calls_one(*read)
            || !bound.is_empty() && bound.iter().all(|bound| is_vendors(bound.id))
            || meanings.any(|binding| needs(&binding.qualified))
    };
    let all = index.of_kind_in(k.identifier, code).iter().chain([&code]);
    let read = all.copied().filter(|id| index.kind(*id) == k.identifier && !index.is_label(*id));
    read.filter(|id| !index.is_stored(*id)).filter(is_one).collect()
}
