//! What a name is bound to, and which of its assignments may reach a place.

use super::{Origin, Origins, Part, Place};
use crate::scopes::Bound;
use crate::tree::{Id, Index, fields, kinds};
use std::rc::Rc;

impl<'t> Origins<'_, 't> {
    /// The values of a name where it is read, or bound; where something is added to it, both of them.
    pub(super) fn of_name(&self, value: &Origin<'t>) -> Option<Vec<Origin<'t>>> {
        let (index, id) = (&self.file(value.place).index, value.place.id);
        let added = index.parent(id).filter(|around| index.kind(*around) == kinds().augmented_assignment);
        let added = added.filter(|_| index.item(id).field == fields().left).and_then(|added| index.source(added));
        let Some(added) = added else { return self.of_read_name(value) };
        let before = self.of_read_name(value).unwrap_or_default();
        Some(before.into_iter().chain([value.at(added)]).collect())
    }

    fn of_read_name(&self, value: &Origin<'t>) -> Option<Vec<Origin<'t>>> {
        let (place, file) = (value.place, self.file(value.place));
        if !self.scopes[place.file].reads(place.id) {
            return self.bound_to(value);
        }
        let bound = self.scopes[place.file].bindings(&file.index, place.id);
        if bound.is_empty() {
            let name = file.index.text_of(place.id);
            let mut modules = file.names.wildcards.iter();
            let imported = modules.find_map(|module| self.of_module(value, Some(&format!("{module}.{name}"))));
            let kept = || Some(self.kept_under(value, bound)).filter(|kept| !kept.is_empty());
            return imported.or_else(kept);
        }
        let first = Place { id: bound[0].id, ..place };
        let steady = *self.steady.borrow_mut().entry(first).or_insert_with(|| steady(&file.index, bound));
        let mut found: Vec<_> =
            reaching(&file.index, place.id, bound, steady).into_iter().map(|id| value.at(id)).collect();
        found.extend(self.kept_under(value, bound));
        Some(found)
    }

    /// The values of an identifier that binds a name.
    fn bound_to(&self, value: &Origin<'t>) -> Option<Vec<Origin<'t>>> {
        let (k, f, id) = (kinds(), fields(), value.place.id);
        let file = self.file(value.place);
        let index = &file.index;
        let parent = index.parent(id)?;
        let kind = index.kind(parent);
        if [k.function_definition, k.class_definition].contains(&kind) && index.item(id).field == f.name {
            return Some(vec![value.at(parent)]);
        }
        if kind == k.dotted_name || kind == k.aliased_import {
            let binding = file
                .names
                .bindings
                .iter()
                .find(|binding| binding.local == index.text_of(id) && index.is_within(id, binding.part))?;
            return self.of_module(value, Some(&binding.qualified));
        }
        if is_parameter(index, id) {
            return self.of_own_object(value);
        }
        if kind == k.named_expression {
            return Some(vec![value.at(index.value(parent)?)]);
        }
        let (holder, at, unpacked) = unpacked(index, id)?;
        let mut taken = value.at(index.source(holder)?);
        taken.parts.extend(unpacked);
        if index.kind(holder) != k.assignment {
            taken.parts.push(Part::Any);
        }
        let is_target = index.item(at).field == f.left;
        let is_plain = [k.assignment, k.for_statement, k.for_in_clause].contains(&index.kind(holder));
        (is_target && is_plain).then(|| vec![taken])
    }

    /// The values of a method's first parameter, which is the object that has the method.
    fn of_own_object(&self, value: &Origin<'t>) -> Option<Vec<Origin<'t>>> {
        let (_, at, class) = self.parameter(value.place)?;
        Some(vec![self.in_class(value, class.filter(|_| at == 0)?)?])
    }

    /// The function of a parameter, its place among the parameters, and the class if the function is a method.
    pub(super) fn parameter(&self, place: Place) -> Option<(Place, usize, Option<Place>)> {
        let index = &self.file(place).index;
        let function = index.ancestors(place.id).find(|a| index.kind(*a) == kinds().function_definition)?;
        let at =
            index.function(function)?.parameters().position(|parameter| index.is_within(place.id, parameter.id))?;
        let function = Place { id: function, ..place };
        Some((function, at, self.class_of_method(function)))
    }

    /// What the calls of a function give for a parameter, and its default; none if no call is seen, or it is the object that has the
    /// method.
    pub(super) fn passed(&self, place: Place) -> Option<Rc<[Place]>> {
        let index = &self.file(place).index;
        if !is_parameter(index, place.id) || self.scopes[place.file].reads(place.id) {
            return None;
        }
        let (function, at, class) = self.parameter(place)?;
        if at == 0 && class.is_some() {
            return None;
        }
        let callers = self.callers(function);
        if let Some([_, passed]) = self.passed.borrow().get(&place).filter(|[of, _]| Rc::ptr_eq(of, &callers)) {
            return Some(Rc::clone(passed)).filter(|passed| !passed.is_empty());
        }
        let parameter = index.function(function.id)?.parameters().nth(at)?;
        let default = parameter.default.map_or(place, |id| Place { id, ..place });
        let at = at - usize::from(class.is_some());
        let given = |call: &Place| {
            let given = self.file(*call).index.arguments(call.id).get(at, parameter.name);
            given.map_or(default, |id| Place { id, ..*call })
        };
        let passed: Rc<[Place]> = callers.iter().map(given).collect();
        self.passed.borrow_mut().insert(place, [callers, Rc::clone(&passed)]);
        Some(passed).filter(|passed| !passed.is_empty())
    }
}

/// Whether an identifier is in a list of parameters.
fn is_parameter(index: &Index<'_>, id: Id) -> bool {
    let k = kinds();
    let parameters = [k.parameters, k.typed_parameter, k.default_parameter, k.typed_default_parameter];
    index.kind(id) == k.identifier && index.parent(id).is_some_and(|holder| parameters.contains(&index.kind(holder)))
}

/// The statement or clause that gives a value to a target, the whole target, and how the name's value is taken out of it.
pub(super) fn unpacked<'t>(index: &Index<'t>, id: Id) -> Option<(Id, Id, Vec<Part<'t>>)> {
    let k = kinds();
    const PLACES: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];
    let (mut at, mut parts) = (id, Vec::new());
    loop {
        let holder = index.parent(at)?;
        let kind = index.kind(holder);
        if ![k.pattern_list, k.tuple_pattern, k.list_pattern, k.parenthesized_expression].contains(&kind) {
            return Some((holder, at, parts));
        }
        if kind != k.parenthesized_expression {
            let place = index.parts(holder).position(|part| part == at)?;
            let after_splat = index.parts(holder).take(place).any(|part| index.kind(part) == k.list_splat_pattern);
            parts.push(PLACES.get(place).filter(|_| !after_splat).map_or(Part::Any, |place| Part::Item(place)));
        }
        at = holder;
    }
}

/// The function around the bindings of a name, if they are all in one and follow one another.
pub(super) fn steady(index: &Index<'_>, bound: &[Bound]) -> Option<Option<Id>> {
    let mut functions = bound.iter().filter(|bound| bound.from > 0).map(|bound| function_around(index, bound.id));
    let first = functions.next()?;
    let in_order = bound.is_sorted_by_key(|bound| bound.id) && bound.is_sorted_by_key(|bound| bound.from);
    (in_order && functions.all(|function| function == first)).then_some(first)
}

pub(super) fn function_around(index: &Index<'_>, id: Id) -> Option<Id> {
    let k = kinds();
    index.ancestors(id).find(|a| [k.function_definition, k.lambda].contains(&index.kind(*a)))
}

/// The bindings of a name whose value may still be there at a place; `steady` is that of all of them.
pub(super) fn reaching(index: &Index<'_>, at: Id, bound: &[Bound], steady: Option<Option<Id>>) -> Vec<Id> {
    let k = kinds();
    let (start, here) = (index.item(at).start, function_around(index, at));
    let is_elsewhere = |bound: &Bound| bound.from > 0 && function_around(index, bound.id) != here;
    if bound.len() == 1 || steady.map_or_else(|| bound.iter().any(is_elsewhere), |function| function != here) {
        return bound.iter().map(|bound| bound.id).collect();
    }
    let loops = |id: Id| {
        let is_loop = |a: &Id| [k.for_statement, k.while_statement].contains(&index.kind(*a));
        index.ancestors(id).take_while(move |a| Some(*a) != here).filter(is_loop)
    };
    // It always runs before: the block that it is in is around the place, or the loop that it belongs to.
    let is_certain = |bound: &Bound| {
        let of_loop =
            index.ancestors(bound.id).find(|a| [k.for_statement, k.block, k.module].contains(&index.kind(*a)));
        bound.from == 0 || of_loop.is_some_and(|around| index.is_within(at, around))
    };
    let mut bound = bound;
    if steady.is_some() {
        // A file may bind a name thousands of times: only those between the last certain one and the end of
        // the loops count.
        let before = bound.partition_point(|bound| bound.from <= start);
        let last = bound[..before].iter().rfind(|bound| is_certain(bound));
        // What is bound further below in a loop is bound anew by the last certain one, if that is in the loop too.
        let is_without = |id: &Id| last.is_none_or(|last| last.from == 0 || !index.is_within(last.id, *id));
        let end = loops(at).filter(is_without).last().map_or(0, |outermost| index.item(outermost).next);
        let last = last.map_or(0, |last| last.from);
        let behind = bound[before..].partition_point(|bound| bound.id < end);
        bound = &bound[bound.partition_point(|bound| bound.from < last)..before + behind];
    }
    let last = bound.iter().filter(|b| b.from <= start && is_certain(b)).max_by_key(|b| b.from);
    let reaches = |bound: &&Bound| {
        if bound.from <= start {
            return last.is_none_or(|last| bound.from >= last.from);
        }
        let repeated = loops(at).find(|l| index.is_within(bound.id, *l));
        repeated.is_some_and(|l| last.is_none_or(|last| last.from == 0 || !index.is_within(last.id, l)))
    };
    bound.iter().filter(reaches).map(|bound| bound.id).collect()
}
