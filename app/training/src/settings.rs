//! Objects with the settings of a program, such as what its command line gives it.

use crate::step::bindings;
use crate::view::FileView;
use crate::words::SETTINGS_NAMES;
use python::names::called_name;
use python::tree::{Id, kinds};
use std::collections::BTreeSet;

/// Whether a name is such an object: what a command line gave, or, if the file does not assign it, by the name itself.
pub fn is_settings(view: &FileView<'_>, name: &str) -> bool {
    let made = bindings(view, name);
    let is_parsed = |binding: &Id| {
        let source = view.index.source(*binding).and_then(|source| called_name(&view.index, source));
        matches!(source, Some("parse_args" | "parse_known_args"))
    };
    if made.is_empty() { SETTINGS_NAMES.contains(&name) } else { made.iter().all(is_parsed) }
}

/// The settings that a file assigns: `steps` of `args.steps = 2`.
pub(crate) fn changed<'t>(view: &FileView<'t>) -> BTreeSet<&'t str> {
    let (k, index) = (kinds(), &view.index);
    let all = [k.assignment, k.augmented_assignment].into_iter().flat_map(|kind| index.of_kind(kind));
    let setting = |assignment: &Id| {
        let attribute = index.attribute(index.target(*assignment)?)?;
        let (owner, name) = (index.text_of(attribute.owner()?), attribute.name()?);
        // `self.args.steps` too.
        let last = owner.rsplit('.').next().unwrap_or(owner);
        (is_settings(view, owner) || SETTINGS_NAMES.contains(&last)).then_some(name)
    };
    all.filter_map(setting).collect()
}

/// The settings that a file reads: `steps` of `args.steps`.
pub(crate) fn read<'t>(view: &FileView<'t>) -> BTreeSet<&'t str> {
    let index = &view.index;
    let setting = |id: &Id| {
        let attribute = index.attribute(*id)?;
        attribute.name().filter(|_| attribute.owner().is_some_and(|owner| is_settings(view, index.text_of(owner))))
    };
    index.of_kind(kinds().attribute).iter().filter_map(setting).collect()
}
