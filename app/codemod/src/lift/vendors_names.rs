//! Names that only code for the source vendor binds, such as what is imported there: elsewhere they have no value.

use crate::guards::Guards;
use python::origins::Place;
use python::tree::{Id, kinds};
use training::modes::Region;
use training::{FileView, ProjectFacts};

/// Where code reads such names.
pub(crate) fn vendors_names(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guards: &dyn Guards,
    code: Id,
) -> Vec<Id> {
    let index = &view.index;
    let Some(file) = project.origins.number(&view.file) else { return Vec::new() };
    let is_one = |read: &Id| {
        let bound = project.origins.visible_name(Place { file, id: *read }, index.text_of(*read));
        let is_vendors =
            |id: Id| !index.is_within(id, code) && matches!(guards.region(view, id), Region::Vendor { .. });
        !bound.is_empty() && bound.iter().all(|bound| is_vendors(bound.id))
    };
    let all = index.of_kind_in(kinds().identifier, code).iter().chain([&code]);
    let read = all.copied().filter(|id| index.kind(*id) == kinds().identifier && !index.is_label(*id));
    read.filter(|id| !index.is_stored(*id)).filter(is_one).collect()
}
