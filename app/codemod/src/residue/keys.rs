//! The name of the source vendor's cards where it is no device: a key, what is looked up, the name of an entry.

use crate::condition::is_cuda_device;
use crate::reached::{on_another_system, only_with_cuda};
use python::names::called_name;
use python::origins::Place;
use python::strings::plain_string;
use python::tree::{Id, fields, kinds};
use training::settings::is_settings;
use training::{FileView, ProjectFacts};

/// Calls that look something up, by what is given to them.
const LOOK_UPS: [&str; 6] = ["get", "pop", "setdefault", "replace", "split", "find_spec"];
/// Calls whose second argument is the name of an attribute of the first.
const ATTRIBUTES: [&str; 5] = ["getattr", "setattr", "hasattr", "delattr", "object"];

/// The key of a file that is reported, and whether a device is looked up for which its table has no entry: such a key, or
/// the first. `own` is the target's device.
pub(super) fn key_for_cuda(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    own: Option<&str>,
) -> Option<(Id, bool)> {
    let index = &view.index;
    let is_key = |string: &Id| {
        let name = plain_string(index, *string).unwrap_or_default();
        let is_device = name.strip_prefix("cuda").is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        is_device && is_looked_up(view, *string) && !has_own(view, *string, own)
    };
    let mut keys = index
        .of_kind(kinds().string)
        .iter()
        .filter(|key| is_key(key))
        .copied()
        .filter(|key| only_with_cuda(view, *key).is_none() && !on_another_system(view, *key));
    let first = keys.next()?;
    let lacking = std::iter::once(first).chain(keys).find(|key| is_of_devices(view, project, *key));
    Some((lacking.unwrap_or(first), lacking.is_some()))
}

fn is_looked_up(view: &FileView<'_>, string: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let Some(parent) = index.parent(string).filter(|_| !is_cuda_device(view, string)) else { return false };
    let (kind, field) = (index.kind(parent), index.item(string).field);
    if kind == k.keyword_argument {
        return matches!(index.keyword_name(parent), Some("name" | "key"));
    }
    kind == k.pair && field == fields().key
        || kind == k.subscript && field == fields().subscript
        || kind == k.argument_list && index.parent(parent).is_some_and(|call| looks_up(view, call, string))
}

/// Whether a call looks up one of its arguments. PyTorch is the same everywhere, and so are a program's options.
fn looks_up(view: &FileView<'_>, call: Id, string: Id) -> bool {
    let index = &view.index;
    let name = called_name(index, call).unwrap_or_default();
    let mut given = index.arguments(call).positional();
    let owner = given.next().filter(|_| ATTRIBUTES.contains(&name) && given.next() == Some(string));
    let is_torch = |owner: Id| view.names.qualify(index, owner).is_some_and(|name| name.starts_with("torch"));
    owner.is_some_and(|owner| !is_settings(view, index.text_of(owner)) && !is_torch(owner))
        || LOOK_UPS.contains(&name)
        || view.qualified(call).is_some_and(|name| name.starts_with("re."))
}

/// The dictionary of a key.
fn table(view: &FileView<'_>, key: Id) -> Option<Id> {
    let index = &view.index;
    index.parent(key).and_then(|pair| index.parent(pair)).filter(|table| index.kind(*table) == kinds().dictionary)
}

fn has(view: &FileView<'_>, table: Id, name: &str) -> bool {
    let index = &view.index;
    let key = |pair: Id| index.field(pair, fields().key).and_then(|key| plain_string(index, key));
    index.parts(table).any(|pair| key(pair) == Some(name))
}

fn has_own(view: &FileView<'_>, key: Id, own: Option<&str>) -> bool {
    table(view, key).zip(own).is_some_and(|(table, own)| has(view, table, own))
}

/// Whether the table of a key has devices, by one of which something is looked up in it.
fn is_of_devices(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, key: Id) -> bool {
    let (index, origins) = (&view.index, &project.origins);
    let Some(table) = table(view, key).filter(|table| has(view, *table, "cpu")) else { return false };
    let Some(file) = origins.number(&view.file) else { return false };
    let place = |id: Id| Place { file, id };
    let is_table = |value: Id| origins.origins(place(value)).iter().any(|o| o.is_whole() && o.place == place(table));
    // A key that a loop takes from the table itself is in it: `for key in sorted(table.keys())`.
    let inside = |at: Place| {
        let index = &origins.files()[at.file].index;
        index.receiver(at.id).into_iter().chain(index.arguments(at.id).positional()).collect()
    };
    let of_itself = |key: Id| {
        let mut found = false;
        origins.walk(place(key), &inside, &mut |value, _| found |= value.place == place(table));
        found
    };
    let is_chosen = |key: Id| plain_string(index, key).is_none() && !of_itself(key);
    let subscripts = index.of_kind(kinds().subscript).iter().filter(|at| index.item(**at).field != fields().left);
    let reads = subscripts.filter_map(|at| Some((index.value(*at)?, index.field(*at, fields().subscript)?)));
    let gets = view.calls("get").iter();
    let gets = gets.filter_map(|call| Some((index.receiver(*call)?, index.arguments(*call).positional().next()?)));
    reads.chain(gets).any(|(value, key)| is_chosen(key) && is_table(value))
}
