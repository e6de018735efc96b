//! Parameters that are given the number of an iteration: `epoch` of `def fit(epoch)`, which a loop calls with its counter.

use crate::view::FileView;
use python::names::called_name;
use python::origins::{Origins, Place};
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// Such parameters of the functions that train, by file and function.
#[derive(Debug, Default)]
pub(crate) struct CountedParameters(SortedSet<(String, Id, String)>);

impl CountedParameters {
    pub(crate) fn collect(views: &[&FileView<'_>], origins: &Origins<'_, '_>) -> Self {
        let k = kinds();
        let mut found = SortedSet::new();
        for (file, view) in views.iter().enumerate() {
            for function in view.steps.training.iter().filter_map(|step| view.index.function(*step)) {
                for parameter in function.parameters() {
                    let named = std::iter::once(parameter.id).chain(view.index.children(parameter.id));
                    let mut named = named.filter(|id| view.index.is_text(*id, parameter.name));
                    let Some(id) = named.next() else { continue };
                    // `fit(epoch + 1)`, `fit(min(epoch, 5))`
                    let through = |place: Place| {
                        let index = &origins.files()[place.file].index;
                        match index.kind(place.id) {
                            kind if kind == k.binary_operator => index.parts(place.id).collect(),
                            kind if kind == k.call => index.arguments(place.id).positional().collect(),
                            _ => Vec::new(),
                        }
                    };
                    let mut is_counted = false;
                    origins.walk(Place { file, id }, &through, &mut |value, _| {
                        let index = &origins.files()[value.place.file].index;
                        let name = called_name(index, value.place.id);
                        is_counted |= !value.is_whole() && matches!(name, Some("range" | "trange" | "count"));
                    });
                    if is_counted {
                        found.insert((view.path.to_owned(), function.id(), parameter.name.to_owned()));
                    }
                }
            }
        }
        Self(found)
    }

    /// Whether a parameter of a function is one of them, also by its name: its callers may not be seen.
    pub(crate) fn contains(&self, path: &str, function: Id, name: &str) -> bool {
        let is_named = name == "epoch" || name.ends_with("_epoch");
        is_named || self.0.contains(&(path.to_owned(), function, name.to_owned()))
    }
}
