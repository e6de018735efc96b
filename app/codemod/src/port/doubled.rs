//! Values of a list that a port would make equal: `choices=["cpu", "cuda"]` is not a choice if both are the CPU.

use crate::fix::Fix;
use python::edit::Change;
use python::names::called_name;
use python::tree::{Id, kinds};
use sorting::{SortedMap, SortedSet};
use training::FileView;

/// Drops fixes that would write a value next to an equal one, if the values were different. The original value is
/// reported as remaining code of the source vendor.
pub(super) fn drop_doubled(view: &FileView<'_>, fixes: &mut Vec<Fix>) {
    let k = kinds();
    let index = &view.index;
    let lists = [k.list, k.tuple, k.set];
    // Two tensors that are moved to the same device are still two tensors.
    let is_device = |node: Id| {
        index.kind(node) == k.string || (index.kind(node) == k.call && called_name(index, node) == Some("device"))
    };
    let value = |change: &Change| match change {
        Change::Expression { node, range, text } if index.range(*node) == *range && is_device(*node) => {
            let list = index.parent(*node).filter(|p| lists.contains(&index.kind(*p)));
            list.map(|list| (list, *node, text.clone()))
        }
        _ => None,
    };
    let mut new: SortedMap<Id, String> = SortedMap::new();
    for fix in fixes.iter() {
        for (_, node, text) in fix.changes.iter().filter_map(value) {
            new.entry(node).or_insert(text);
        }
    }
    // The new values of a list, with the texts that become them.
    let mut values: SortedMap<Id, SortedMap<&str, SortedSet<&str>>> = SortedMap::new();
    for list in new.keys().filter_map(|node| index.parent(*node)) {
        values.entry(list).or_insert_with(|| {
            let mut values: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
            for part in index.parts(list) {
                let becomes = new.get(&part).map_or(index.text_of(part), String::as_str);
                values.entry(becomes).or_default().insert(index.text_of(part));
            }
            values
        });
    }
    fixes.retain(|fix| {
        !fix.changes.iter().filter_map(value).any(|(list, node, text)| {
            let same = values.get(&list).and_then(|values| values.get(text.as_str()));
            same.is_some_and(|texts| texts.iter().any(|other| *other != index.text_of(node)))
        })
    });
}
