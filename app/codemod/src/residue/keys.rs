//! The name of the source vendor's cards where it is no device: a key, what is looked up, the name of an entry.

use super::reach::Reach;
use crate::condition::is_cuda_device;
use python::names::called_name;
use python::origins::Place;
use python::strings::plain_string;
use python::tree::{Id, Index, fields, kinds};
use training::settings::is_settings;
use training::{FileView, ProjectFacts};

/// Calls whose first argument is a key.
const LOOK_UPS: [&str; 3] = ["get", "pop", "setdefault"];
/// Calls with names or parts of texts.
const NAMES: [&str; 4] = ["replace", "split", "find_spec", "getenv"];
/// Calls whose second argument is the name of an attribute of the first.
const ATTRIBUTES: [&str; 5] = ["getattr", "setattr", "hasattr", "delattr", "object"];

/// The key of a file that is reported, and whether a device is looked up for which its table has no entry: such a key, or
/// the first. `own` is the target's device.
pub(super) fn key_for_cuda(reach: &Reach<'_>, project: &ProjectFacts<'_, '_>, own: Option<&str>) -> Option<(Id, bool)> {
    let view = reach.view;
    let is_other = |key: &Id| is_key(&view.index, *key) && !has_own(view, *key, own) && reach.has(*key);
    let mut keys = words_for_cuda(view).filter(is_other);
    let first = keys.next()?;
    let lacking = std::iter::once(first).chain(keys).find(|key| is_of_devices(view, project, *key));
    Some((lacking.unwrap_or(first), lacking.is_some()))
}

/// Names of entries, attributes and modules, and parts of texts: a program has few.
pub(super) fn names_for_cuda(view: &FileView<'_>) -> impl Iterator<Item = Id> {
    let index = &view.index;
    words_for_cuda(view).filter(|string| {
        index.parent(*string).is_some_and(|parent| match index.keyword_name(parent) {
            Some(keyword) => matches!(keyword, "name" | "key"),
            None => call_with(index, parent).is_some_and(|call| takes_name(view, call, *string)),
        })
    })
}

/// Strings with the name of the source vendor's cards that are no devices.
fn words_for_cuda(view: &FileView<'_>) -> impl Iterator<Item = Id> {
    let names = |string: &Id| {
        let name = plain_string(&view.index, *string).unwrap_or_default();
        name.strip_prefix("cuda").is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let strings = view.index.of_kind(kinds().string).iter().copied();
    strings.filter(names).filter(|string| !is_cuda_device(view, *string))
}

/// The call with these arguments.
fn call_with(index: &Index<'_>, arguments: Id) -> Option<Id> {
    index.parent(arguments).filter(|_| index.kind(arguments) == kinds().argument_list)
}

/// Whether a string is the key of an entry, or looks one up.
pub(super) fn is_key(index: &Index<'_>, string: Id) -> bool {
    let k = kinds();
    let Some(parent) = index.parent(string) else { return false };
    let (kind, field) = (index.kind(parent), index.item(string).field);
    let is_first = || index.parts(parent).next() == Some(string);
    let looks_up = |call: Id| called_name(index, call).is_some_and(|name| LOOK_UPS.contains(&name));
    kind == k.pair && field == fields().key
        || kind == k.subscript && field == fields().subscript
        || call_with(index, parent).is_some_and(|call| is_first() && looks_up(call))
}

/// Whether a call takes one of its arguments as a name. PyTorch is the same everywhere, and so are a program's options.
fn takes_name(view: &FileView<'_>, call: Id, string: Id) -> bool {
    let index = &view.index;
    let name = called_name(index, call).unwrap_or_default();
    let mut given = index.arguments(call).positional();
    let owner = given.next().filter(|_| ATTRIBUTES.contains(&name) && given.next() == Some(string));
    let is_torch = |owner: Id| view.names.qualify(index, owner).is_some_and(|name| name.starts_with("torch"));
    owner.is_some_and(|owner| !is_settings(view, index.text_of(owner)) && !is_torch(owner))
        || NAMES.contains(&name)
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
