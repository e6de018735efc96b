//! Which expression holds the device that a program for several devices chose, at a place of it.

use crate::condition::is_cuda_device;
use python::PythonFile;
use python::names::dotted;
use python::origins::Place;
use python::scopes::Bound;
use python::strings::plain_string;
use python::tree::{Id, ROOT, fields, kinds};
use sorting::SortedSet;
use training::words::DEVICE_TYPES;
use training::{FileView, ProjectFacts};

/// How many names are followed to a value.
pub(super) const DEPTH: u8 = 3;

/// What is known of the device that an expression holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// It is the name of a device, such as `"cuda:0"`, not a `torch.device`, or may be one.
    pub(super) is_name: bool,
    /// It may be an accelerator: not the CPU in any case.
    is_accelerator: bool,
    /// It may be another card than the first.
    pub(super) has_index: bool,
}

impl Held {
    /// One of two.
    fn or(self, other: Self) -> Self {
        Self {
            is_name: self.is_name || other.is_name,
            is_accelerator: self.is_accelerator || other.is_accelerator,
            has_index: self.has_index || other.has_index,
        }
    }
}

/// The expression that holds the chosen device where a node is evaluated: a local name before an attribute of `self`
/// before one of the file. None unless every value of it is a device and it certainly has one by then; none if there are two.
pub(super) fn chosen_at<'t>(view: &FileView<'t>, project: &ProjectFacts<'_, '_>, at: Id) -> Option<(&'t str, Held)> {
    let index = &view.index;
    let file = project.origins.number(&view.file)?;
    let assigned = view.device_targets(|value| held_by(view, value, DEPTH).is_some());
    let assigned = assigned.iter().filter_map(|target| dotted(index, *target)).filter(|name| is_candidate(name));
    let function = view.function_of(at).and_then(|f| index.function(f));
    let given = function.into_iter().flat_map(|f| f.parameters()).map(|parameter| parameter.name);
    let names: SortedSet<&str> = assigned.chain(given).collect();
    let found = names.into_iter().filter_map(|name| {
        let (rank, held) = match name.strip_prefix("self.") {
            Some(_) => (1, of_self(view, project, name, at)?),
            None => local(view, project, Place { file, id: at }, name)?,
        };
        held.is_accelerator.then_some((rank, name, held))
    });
    let found: Vec<(u8, &str, Held)> = found.collect();
    let Some(best) = found.iter().map(|(rank, ..)| *rank).min() else { return used_before(view, project, at) };
    let mut of_rank = found.into_iter().filter(|(rank, ..)| *rank == best);
    let (_, name, held) = of_rank.next()?;
    of_rank.next().is_none().then_some((name, held))
}

/// How many calls before a place are looked at.
const CALLS_BEFORE: usize = 16;

/// An attribute or an entry, such as `args.device`, that the program itself used as a device by then, in the same function.
fn used_before<'t>(view: &FileView<'t>, project: &ProjectFacts<'_, '_>, at: Id) -> Option<(&'t str, Held)> {
    let (k, index) = (kinds(), &view.index);
    let file = project.origins.number(&view.file)?;
    let function = view.function_of(at);
    let within = |calls: &'_ [Id]| -> Vec<Id> {
        let all = function.map_or(calls, |function| index.within(calls, function));
        all[..all.partition_point(|call| *call < at)].iter().rev().take(CALLS_BEFORE).copied().collect()
    };
    // It certainly ran, and what it read is still what it was: nothing gives the name or the part another value from there on.
    let conditional = [
        k.lambda,
        k.list_comprehension,
        k.set_comprehension,
        k.dictionary_comprehension,
        k.generator_expression,
        k.boolean_operator,
        k.conditional_expression,
    ];
    let runs_before = |call: &Id| {
        let statement = view.statement_of(*call).filter(|_| view.function_of(*call) == function);
        statement.is_some_and(|statement| {
            let mut around = index.ancestors(*call).take_while(|around| *around >= statement);
            index.item(statement).next <= at
                && index.parent(statement).is_some_and(|block| index.is_within(at, block))
                && around.all(|around| !conditional.contains(&index.kind(around)))
        })
    };
    let stays = |call: Id, read: Id| {
        let Some(name) = std::iter::successors(Some(read), |id| index.parts(*id).next()).last() else { return false };
        let visible = |id| project.origins.visible_name(Place { file, id }, index.text_of(name));
        let is_kept = |statement: &Id| {
            let deletes = |id: &Id| index.is_text(*id, index.text_of(name));
            !index.of_kind_in(k.identifier, *statement).iter().any(deletes)
        };
        std::ptr::eq(visible(at), visible(name))
            && visible(name).iter().all(|bound| bound.id < call)
            && index.bindings(index.text_of(read)).iter().all(|store| *store < call)
            && index.of_kind(k.delete_statement).iter().all(is_kept)
    };
    let is_read = |id: &Id| {
        let is_entry = index.kind(*id) == k.subscript
            && index.field(*id, fields().subscript).is_some_and(|key| plain_string(index, key).is_some());
        is_entry || index.kind(*id) == k.attribute && dotted(index, *id).is_some()
    };
    let moved = within(view.calls("to"))
        .into_iter()
        .filter_map(|call| Some((call, index.arguments(call).positional().next().filter(is_read)?)));
    let made = within(view.calls("device")).into_iter().filter_map(|call| {
        let is_device = index.callee(call).is_some_and(|callee| view.names.stands_for(index, callee, "torch.device"));
        Some((call, index.arguments(call).positional().next().filter(is_read).filter(|_| is_device)?))
    });
    let given = |id| given_devices(project, Place { file, id });
    let by_use = Held { is_name: true, is_accelerator: true, has_index: true };
    let all = moved
        .map(|(call, id)| (call, id, given(id)))
        .chain(made.map(|(call, id)| (call, id, Some(given(id).unwrap_or(by_use)))));
    let found = all.filter(|(call, id, _)| runs_before(call) && stays(*call, *id));
    let found = found.max_by_key(|(call, ..)| *call)?;
    Some((index.text_of(found.1), found.2.filter(|held| held.is_accelerator)?))
}

/// A plain name, or an attribute of `self`.
fn is_candidate(name: &str) -> bool {
    !name.strip_prefix("self.").unwrap_or(name).contains('.')
}

/// What a name holds at a place, by the scope that it belongs to: 0 for the function's own, 2 for the file's.
fn local(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, place: Place, name: &str) -> Option<(u8, Held)> {
    let (k, index, at) = (kinds(), &view.index, place.id);
    let bound = project.origins.visible_name(place, name);
    let function = view.function_of(at);
    let mut held = Held::default();
    let mut is_certain = false;
    for bound in bound {
        let from = view.function_of(bound.id);
        if from.is_some() && from != function {
            return None;
        }
        let parent = index.parent(bound.id)?;
        if [k.parameters, k.typed_parameter].contains(&index.kind(parent)) {
            held = held.or(given_devices(project, Place { id: bound.id, ..place })?);
            is_certain = true;
            continue;
        }
        let assignment = index.assignment(parent).filter(|a| a.target() == Some(bound.id))?;
        let value = assignment.value().filter(|value| !index.is_within(at, *value))?;
        held = held.or(held_by(view, value, DEPTH)?);
        let statement = view.statement_of(parent)?;
        let block = index.parent(statement)?;
        let before = index.item(statement).end <= index.item(at).start;
        is_certain |= match from {
            Some(from) => index.function(from).and_then(|f| f.body()) == Some(block) && before,
            None if function.is_none() => before && (block == ROOT || index.is_within(at, block)),
            None => block == ROOT && !calls_before(view, statement),
        };
    }
    // `XPU = "xpu"` is a name for a device, not the one that the program chose.
    let value = |bound: Id| index.parent(bound).and_then(|parent| index.assignment(parent)).and_then(|a| a.value());
    let is_constant = |bound: &Bound| {
        let made = value(bound.id).map(|value| index.arguments(value).positional().next().unwrap_or(value));
        let named = made.and_then(|value| plain_string(index, value));
        named.is_some_and(|named| named.split(':').next() != Some("cuda"))
    };
    if !bound.is_empty() && bound.iter().all(is_constant) {
        return None;
    }
    let is_global =
        view.index.of_kind(k.global_statement).iter().any(|s| index.parts(*s).any(|id| index.is_text(id, name)));
    let rank = if bound.first().is_some_and(|bound| view.function_of(bound.id).is_some()) { 0 } else { 2 };
    (is_certain && !is_global).then_some((rank, held))
}

/// Whether the file calls a function of its own at the top level before a statement: it may need the name too early.
fn calls_before(view: &FileView<'_>, statement: Id) -> bool {
    let index = &view.index;
    let is_own = |call: &Id| index.callee(*call).is_some_and(|callee| view.defines(index.text_of(callee)));
    let at_top = |call: &Id| view.function_of(*call).is_none();
    index.of_kind(kinds().call).iter().take_while(|call| **call < statement).any(|call| at_top(call) && is_own(call))
}

/// What an attribute of `self` holds at a place.
fn of_self(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, name: &str, at: Id) -> Option<Held> {
    let index = &view.index;
    let class = |id| view.class_of(id).map(|class| view.name_of(class));
    let (own, function) = (class(at)?, view.function_of(at)?);
    let mut held = Held::default();
    let mut is_certain = false;
    for binding in index.bindings(name).iter().copied() {
        if !class(binding).is_some_and(|other| project.classes.related(own, other)) {
            continue;
        }
        let assignment = index.assignment(binding)?;
        let value = assignment.value().filter(|value| !index.is_within(at, *value))?;
        held = held.or(held_by(view, value, DEPTH)?);
        let (from, statement) = (view.function_of(binding)?, view.statement_of(binding)?);
        let is_plain = index.function(from).and_then(|f| f.body()) == index.parent(statement);
        let before = index.item(statement).end <= index.item(at).start;
        is_certain |= is_plain
            && if from == function {
                before
            } else {
                view.name_of(from) == "__init__" && view.name_of(function) != "__init__"
            };
    }
    is_certain.then_some(held)
}

/// What a parameter holds, if all its values are devices.
fn given_devices(project: &ProjectFacts<'_, '_>, place: Place) -> Option<Held> {
    let given = project.origins.origins(place);
    let mut held = Held::default();
    for origin in &given {
        let (file, id) = (&project.origins.files()[origin.place.file], origin.place.id);
        let one = origin.is_whole().then(|| held_in(file, id)).flatten()?;
        held = held.or(one);
    }
    (!given.is_empty()).then_some(held)
}

/// What a value holds, if it is a device or the name of one.
fn held_by(view: &FileView<'_>, value: Id, depth: u8) -> Option<Held> {
    let (k, index) = (kinds(), &view.index);
    if depth == 0 {
        return None;
    }
    let kind = index.kind(value);
    if kind == k.parenthesized_expression {
        return held_by(view, index.parts(value).next()?, depth);
    }
    if kind == k.conditional_expression {
        let parts: Vec<Id> = index.parts(value).collect();
        let [yes, _, no] = parts.as_slice() else { return None };
        return Some(held_by(view, *yes, depth)?.or(held_by(view, *no, depth)?));
    }
    if let Some(held) = held_in(view, value) {
        return Some(held);
    }
    if is_cuda_device(view, value) {
        return Some(Held { is_name: true, is_accelerator: true, has_index: true });
    }
    let name = dotted(index, value)?;
    let mut given = index.bindings(name).iter().filter(|id| **id < value).peekable();
    given.peek()?;
    let values = given.map(|id| held_by(view, index.assignment(*id)?.value()?, depth - 1));
    values.reduce(|a, b| Some(a?.or(b?)))?
}

/// The same of a value by itself: a string, or a call that makes a device.
fn held_in(file: &PythonFile<'_>, value: Id) -> Option<Held> {
    let index = &file.index;
    if let Some(text) = plain_string(index, value) {
        let (kind, number) = text.split_once(':').unwrap_or((text, "0"));
        let is_device = DEVICE_TYPES.contains(&kind);
        let held = Held { is_name: true, is_accelerator: !["cpu", "mps"].contains(&kind), has_index: number != "0" };
        return is_device.then_some(held);
    }
    let callee = index.callee(value)?;
    if file.names.stands_for(index, callee, "torch.accelerator.current_accelerator") {
        return Some(Held { is_accelerator: true, ..Held::default() });
    }
    if !file.names.stands_for(index, callee, "torch.device") {
        return None;
    }
    let given = index.arguments(value);
    let named = given.positional().next().map(|first| {
        let is_string = [kinds().string, kinds().concatenated_string].contains(&index.kind(first));
        let is_name = is_string && plain_string(index, first).is_none();
        held_in(file, first).unwrap_or(Held { is_accelerator: true, has_index: is_name, ..Held::default() })
    });
    let named = named.unwrap_or(Held { is_accelerator: true, ..Held::default() });
    Some(Held { is_name: false, has_index: named.has_index || given.ids().count() > 1, ..named })
}
