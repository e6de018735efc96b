//! Objects with the settings of a program, such as what its command line gives it.

use crate::view::FileView;
use crate::words::SETTINGS_NAMES;
use python::names::called_name;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// Whether a name is such an object: what a command line gave, or, if the file does not assign it, by the name itself.
pub fn is_settings(view: &FileView<'_>, name: &str) -> bool {
    let made = view.index.bindings(name);
    let is_parsed = |binding: &Id| {
        let source = view.index.source(*binding).and_then(|source| called_name(&view.index, source));
        matches!(source, Some("parse_args" | "parse_known_args"))
    };
    if made.is_empty() { SETTINGS_NAMES.contains(&name) } else { made.iter().all(is_parsed) }
}

/// The settings that a file assigns: `steps` of `args.steps = 2`.
pub(crate) fn changed<'t>(view: &FileView<'t>) -> SortedSet<&'t str> {
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
pub(crate) fn read<'t>(view: &FileView<'t>) -> SortedSet<&'t str> {
    let index = &view.index;
    let setting = |id: &Id| {
        let attribute = index.attribute(*id)?;
        attribute.name().filter(|_| attribute.owner().is_some_and(|owner| is_settings(view, index.text_of(owner))))
    };
    index.of_kind(kinds().attribute).iter().filter_map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::{changed, is_settings, read};
    use crate::marked;

    #[test]
    fn a_name_for_settings() {
        let check = |program: &str, name: &str, expected: bool| {
            marked::check(program, expected, |at| is_settings(at.file().view, name));
        };
        check("given = parser.parse_args()\n", "given", true);
        check("given = parser.parse_args()\ngiven = other()\n", "given", false);
        check("f(args.x)\n", "args", true);
        check("args = [1, 2]\n", "args", false);
        check("f(net.x)\n", "net", false);
    }

    #[test]
    fn settings_that_a_file_reads_and_changes() {
        let program = "f(args.depth)\nargs.steps = 2\nself.args.rate += 1\nnet.width = 3\n";
        let joined = |words: sorting::SortedSet<&str>| words.into_iter().collect::<Vec<_>>().join(" ");
        marked::check(program, "depth steps", |at| joined(read(at.file().view)));
        marked::check(program, "rate steps", |at| joined(changed(at.file().view)));
    }
}
