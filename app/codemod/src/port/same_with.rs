//! Several items of a `with` that the same section is about, such as two tapes: one message is enough.

use crate::place::Remark;
use python::tree::{Id, kinds};
use sorting::SortedSet;
use training::FileView;

/// Leaves the first message of each section about the header of a `with`.
pub(super) fn once_per_with(remarks: &mut Vec<Remark>, view: &FileView<'_>) {
    let index = &view.index;
    let header = |remark: &Remark| {
        let node = index.innermost(&remark.range)?;
        std::iter::once(node).chain(index.ancestors(node)).find(|a| index.kind(*a) == kinds().with_clause)
    };
    let mut told: SortedSet<(Id, String)> = SortedSet::new();
    remarks.retain(|remark| match remark.recipe.clone().zip(header(remark)) {
        Some((recipe, header)) => told.insert((header, recipe)),
        None => true,
    });
}
