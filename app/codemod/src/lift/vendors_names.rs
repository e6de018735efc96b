//! Names that are there for the source vendor alone: its software, and what only code for its device binds, such as what is
//! imported there.

use crate::definitions::Definitions;
use crate::guards::Guards;
use crate::residue::needs_vendor;
use python::origins::Place;
use python::tree::{Id, kinds};
use training::modes::Region;
use training::{FileView, ProjectFacts};

/// Where code reads such names.
pub(crate) fn vendors_names(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guards: &dyn Guards,
    definitions: &Definitions,
    code: Id,
) -> Vec<Id> {
    let index = &view.index;
    let Some(file) = project.origins.number(&view.file) else { return Vec::new() };
    let is_one = |read: &Id| {
        let bound = project.origins.visible_name(Place { file, id: *read }, index.text_of(*read));
        let is_vendors =
            |id: Id| !index.is_within(id, code) && matches!(guards.region(view, id), Region::Vendor { .. });
        let of_name = view.names.bindings.iter().filter(|binding| index.is_text(*read, &binding.local));
        let mut meanings = of_name.map(|binding| binding.qualified.as_str());
        !bound.is_empty() && bound.iter().all(|bound| is_vendors(bound.id))
            || meanings.any(|name| needs_vendor(view, project, definitions, name))
    };
    let all = index.of_kind_in(kinds().identifier, code).iter().chain([&code]);
    let read = all.copied().filter(|id| index.kind(*id) == kinds().identifier && !index.is_label(*id));
    read.filter(|id| !index.is_stored(*id)).filter(is_one).collect()
}
