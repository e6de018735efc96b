//! Tables with an entry for the source vendor's cards.

use crate::condition::is_cuda_device;
use crate::reached::{on_another_system, only_with_cuda};
use python::names::called_name;
use python::strings::plain_string;
use python::tree::{Id, fields, kinds};
use training::FileView;

/// Calls whose first argument is a key.
const LOOK_UPS: [&str; 3] = ["get", "pop", "setdefault"];

/// The key of a file that is reported, and whether a device is looked up for which its table has no entry: such a key, or
/// the first. `own` is the target's device.
pub(super) fn key_for_cuda(view: &FileView<'_>, own: Option<&str>) -> Option<(Id, bool)> {
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
    let lacking = std::iter::once(first).chain(keys).find(|key| is_of_devices(view, *key));
    Some((lacking.unwrap_or(first), lacking.is_some()))
}

fn is_looked_up(view: &FileView<'_>, string: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let Some(parent) = index.parent(string) else { return false };
    let field = index.item(string).field;
    let is_first = || index.parts(parent).next() == Some(string);
    let looks_up = |call: Id| called_name(index, call).is_some_and(|name| LOOK_UPS.contains(&name));
    if is_cuda_device(view, string) {
        return false;
    }
    index.kind(parent) == k.pair && field == fields().key
        || index.kind(parent) == k.subscript && field == fields().subscript
        || index.kind(parent) == k.argument_list && is_first() && index.parent(parent).is_some_and(looks_up)
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
fn is_of_devices(view: &FileView<'_>, key: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let Some(table) = table(view, key).filter(|table| has(view, *table, "cpu")) else { return false };
    let parent = index.parent(table);
    let assigned = parent.and_then(|parent| index.assignment(parent)).and_then(|a| a.target());
    let name = assigned.map(|target| index.text_of(target));
    // A key that a loop takes from the table itself is in it.
    let of_itself = |key: Id| {
        index.of_kind(k.for_statement).iter().any(|of| {
            let (left, right) = (index.field(*of, fields().left), index.field(*of, fields().right));
            let mut names = left.into_iter().flat_map(|left| index.text_of(left).split(','));
            names.any(|name| name.trim() == index.text_of(key))
                && right.zip(name).is_some_and(|(right, name)| index.text_of(right).starts_with(name))
        })
    };
    let is_chosen = |key: Option<Id>| key.is_some_and(|key| plain_string(index, key).is_none() && !of_itself(key));
    let reads = |at: Id| index.item(at).field != fields().left && is_chosen(index.field(at, fields().subscript));
    if parent.is_some_and(|parent| index.kind(parent) == k.subscript && reads(parent)) {
        return true;
    }
    let Some(name) = name else { return false };
    let function = view.function_of(table);
    let is_seen = |at: Id| name.contains('.') || function.is_none() || view.function_of(at) == function;
    let is_it = |value: Option<Id>| value.is_some_and(|value| index.text_of(value) == name && is_seen(value));
    index.of_kind(k.subscript).iter().any(|at| is_it(index.value(*at)) && reads(*at))
        || view
            .calls("get")
            .iter()
            .any(|call| is_it(index.receiver(*call)) && is_chosen(index.arguments(*call).positional().next()))
}
