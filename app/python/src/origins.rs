//! Where values come from: the expressions of a project whose value another expression may have.
//!
//! A value is followed backwards through names, arguments, results of functions, attributes of objects, and items of tuples and
//! dictionaries, in all files of a project. Of several assignments those count that may reach the place. A value whose
//! way is not known, such as the result of a function of another package, comes from the expression that gives it.

mod bound;
mod built_in;
mod objects;
mod written;

#[cfg(test)]
mod tests;

use crate::file::PythonFile;
use crate::modules::Modules;
use crate::scopes::{Bound, Scopes};
use crate::strings::plain_string;
use crate::tree::{Id, fields, kinds};
use rustc_hash::{FxHashMap, FxHashSet};
use sorting::SortedSet;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Values that one question looks at before it gives up.
const MOST_VALUES: usize = 400;
/// Parts in parts that are followed.
const DEEPEST: usize = 6;

/// A node of one of the project's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file's number.
    pub file: usize,
    /// The node.
    pub id: Id,
}

/// How a value is taken out of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part<'t> {
    /// `.name`.
    Attribute(&'t str),
    /// `["name"]`, `[0]`, or its place in an assignment to several names.
    Item(&'t str),
    /// An item that is not known: `[n]`, or one of a loop.
    Any,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin<'t> {
    /// The expression, parameter or definition.
    pub place: Place,
    /// What is taken out of it, the last one first.
    parts: Vec<Part<'t>>,
    /// The key of the dictionary that it was last taken out of.
    key: Option<&'t str>,
}

impl<'t> Origin<'t> {
    fn new(place: Place) -> Self {
        Self { place, parts: Vec::new(), key: None }
    }

    /// Whether the value is the expression itself, rather than a part of it.
    pub fn is_whole(&self) -> bool {
        self.parts.is_empty()
    }

    /// What is taken out of it, the last one first.
    pub fn parts(&self) -> &[Part<'t>] {
        &self.parts
    }

    /// The same part of another value of the same file.
    pub fn of(&self, id: Id) -> Self {
        self.at(id)
    }

    /// The key under which a dictionary or an object holds it, if it was taken out of one.
    pub fn key(&self) -> Option<&'t str> {
        self.key
    }

    /// The same value in another node.
    fn in_file(&self, file: usize, id: Id) -> Self {
        Self { place: Place { file, id }, ..self.clone() }
    }

    /// The same value in another node of the same file.
    fn at(&self, id: Id) -> Self {
        self.in_file(self.place.file, id)
    }

    /// A part of what is in another node of the same file.
    fn part(&self, id: Id, part: Part<'t>) -> Self {
        let mut part_of = self.at(id);
        part_of.parts.push(part);
        part_of
    }

    /// The value within the part that is taken out first.
    fn inside(&self, id: Id) -> Self {
        let mut inside = self.at(id);
        inside.under(inside.parts.last().copied());
        inside.parts.pop();
        inside
    }

    /// Notes that it is kept under a key; the place in a tuple is none.
    fn under(&mut self, part: Option<Part<'t>>) {
        if let Some(Part::Item(name) | Part::Attribute(name)) = part
            && !name.starts_with(|c: char| c.is_ascii_digit())
        {
            self.key = Some(name);
        }
    }
}

/// A value that is kept under an attribute or an item: `object.name = value`.
struct Store<'t> {
    /// `object`.
    object: Place,
    part: Part<'t>,
    value: Id,
    /// How the value is taken out of the node, as for [`Origin`].
    taken: Vec<Part<'t>>,
}

/// What methods keep in their own objects: `self.name = value`, `self.name["key"] = value`.
#[derive(Default)]
struct OwnStores<'t> {
    /// By the class and the text of the attribute: their places in its list.
    attributes: FxHashMap<Place, FxHashMap<&'t str, Vec<usize>>>,
    /// By the class and the attribute, and the text of the item.
    items: FxHashMap<(Place, &'t str), FxHashMap<&'t str, Vec<usize>>>,
}

/// How objects of a project's packages are called, as names of functions and methods.
#[derive(Clone, Copy, Debug)]
pub struct Conventions {
    /// Methods that run when an object is called, such as `__call__`.
    pub called: &'static [&'static str],
    /// Functions whose result is called like their first argument.
    pub wrappers: &'static [&'static [&'static str]],
    /// Methods whose result is called like their object.
    pub chained: &'static [&'static str],
}

/// The name under which the calls of variables are kept, which no function has.
const VARIABLES: &str = "";

/// Calls with one name.
#[derive(Default)]
struct Calls {
    /// Those whose definitions have not been looked for, to the end.
    unread: RefCell<VecDeque<Place>>,
    /// The others, by the definitions that they may be of.
    known: RefCell<FxHashMap<Place, SortedSet<Place>>>,
}

/// What a project's files show about where values come from.
pub struct Origins<'v, 't> {
    modules: Modules<'v, 't>,
    scopes: Vec<Scopes<'t>>,
    /// By path.
    numbers: FxHashMap<&'t str, usize>,
    /// By the text of the attribute or the item.
    stores: FxHashMap<&'t str, Vec<Store<'t>>>,
    /// By the file and the text of the object, and the text of the attribute or the item: their places in its list.
    kept: FxHashMap<(usize, &'t str), FxHashMap<&'t str, Vec<usize>>>,
    own: OwnStores<'t>,
    /// The bases of each class of the project, and the classes that have it as a base.
    bases: FxHashMap<Place, Vec<Place>>,
    derived: FxHashMap<Place, Vec<Place>>,
    /// What the body of a class gives its attributes: values and methods, by their names.
    members: FxHashMap<Place, FxHashMap<&'t str, Vec<Id>>>,
    /// Names that imports give to what has this name.
    aliases: FxHashMap<&'v str, SortedSet<&'v str>>,
    /// The calls of all files, by the last name of their function, and those of variables.
    calls: FxHashMap<&'t str, Calls>,
    /// Names that some file assigns or passes on.
    values: FxHashSet<&'t str>,
    conventions: Conventions,
    /// The definitions that a callee may be. One that is being looked for has none, which ends circles.
    definitions: RefCell<FxHashMap<Place, Rc<[Place]>>>,
    callers: RefCell<FxHashMap<Place, Rc<[Place]>>>,
    related: RefCell<FxHashMap<Place, Rc<[Place]>>>,
    /// The calls whose definitions are being looked for.
    looking: RefCell<FxHashSet<Place>>,
    /// What the callers of a function give for a parameter, with those callers.
    passed: RefCell<FxHashMap<Place, [Rc<[Place]>; 2]>>,
    /// The function around the bindings of a name, by the first of them: see [`bound`].
    steady: RefCell<FxHashMap<Place, Option<Option<Id>>>>,
}

impl<'v, 't> Origins<'v, 't> {
    /// Reads the files of a project.
    pub fn of(files: Vec<&'v PythonFile<'t>>, conventions: Conventions) -> Self {
        let scopes: Vec<Scopes<'_>> = files.iter().map(|file| Scopes::of(&file.index)).collect();
        let mut aliases: FxHashMap<&str, SortedSet<&str>> = FxHashMap::default();
        for binding in files.iter().flat_map(|file| &file.names.bindings) {
            let name = binding.qualified.rsplit('.').next().unwrap_or_default();
            aliases.entry(name).or_default().insert(&binding.local);
        }
        let numbers = files.iter().enumerate().map(|(number, file)| (file.path, number)).collect();
        let stores = objects::stores(&files);
        let kept = objects::by_object(&files, &stores);
        let calls_of_variables = objects::calls_of_variables(&files, &scopes, &stores);
        let [bases, derived] = objects::heritage(&files);
        let members = objects::members(&files);
        let mut calls: FxHashMap<&str, VecDeque<Place>> = FxHashMap::default();
        calls.insert(VARIABLES, calls_of_variables.into());
        for (file, python) in files.iter().enumerate() {
            for (name, ids) in python.calls_by_name() {
                calls.entry(name).or_default().extend(ids.iter().map(|id| Place { file, id: *id }));
            }
        }
        let calls = calls.into_iter().map(|(name, calls)| (name, Calls { unread: calls.into(), ..Calls::default() }));
        let calls = calls.collect();
        let values = files.iter().flat_map(|file| objects::values(file)).collect();
        let modules = Modules::of(files);
        let (definitions, callers, related, looking, passed, steady) = Default::default();
        let mut origins = Self {
            modules,
            scopes,
            numbers,
            stores,
            kept,
            own: OwnStores::default(),
            bases,
            derived,
            members,
            aliases,
            calls,
            values,
            conventions,
            definitions,
            callers,
            related,
            looking,
            passed,
            steady,
        };
        origins.own = origins.own_stores();
        origins
    }

    /// The files, as they were passed.
    pub fn files(&self) -> &[&'v PythonFile<'t>] {
        self.modules.files()
    }

    /// The number of a file; none if it is not one of the project's, as they were passed.
    pub fn number(&self, file: &PythonFile<'_>) -> Option<usize> {
        self.numbers.get(file.path).copied().filter(|n| std::ptr::addr_eq(self.files()[*n], file))
    }

    /// What binds a name for code at a place.
    pub fn visible_name(&self, place: Place, name: &str) -> &[Bound] {
        self.scopes[place.file].visible_name(&self.files()[place.file].index, name, place.id)
    }

    /// Where the value of an expression comes from.
    pub fn origins(&self, place: Place) -> Vec<Origin<'t>> {
        self.origins_of(Origin::new(place))
    }

    /// Where a value, or a part of one, comes from.
    pub fn origins_of(&self, value: Origin<'t>) -> Vec<Origin<'t>> {
        let mut found = Vec::new();
        let mut visit = |value: &Origin<'t>, is_origin: bool| found.extend(is_origin.then(|| value.clone()));
        self.walk_of(value, &|_| Vec::new(), &mut Seen::default(), &mut visit);
        found
    }

    /// Visits every expression that a value comes through, and whether it comes from it. `through` names the parts of an
    /// expression, such as the arguments of an unknown function, that its value is made of.
    pub fn walk(&self, place: Place, through: &dyn Fn(Place) -> Vec<Id>, visit: &mut dyn FnMut(&Origin<'t>, bool)) {
        self.walk_of(Origin::new(place), through, &mut Seen::default(), visit);
    }

    /// [`Self::walk`], without what earlier walks have seen: many walks that have the same question visit each value once.
    /// Returns whether all values were followed; otherwise the next walk follows them again.
    pub fn walk_unseen(
        &self,
        place: Place,
        through: &dyn Fn(Place) -> Vec<Id>,
        seen: &mut Seen<'t>,
        visit: &mut dyn FnMut(&Origin<'t>, bool),
    ) -> bool {
        self.walk_of(Origin::new(place), through, seen, visit)
    }

    fn walk_of(
        &self,
        value: Origin<'t>,
        through: &dyn Fn(Place) -> Vec<Id>,
        Seen(done): &mut Seen<'t>,
        visit: &mut dyn FnMut(&Origin<'t>, bool),
    ) -> bool {
        let mut todo = vec![Next::Value(value.clone())];
        let mut seen = FxHashSet::default();
        let start = value;
        while let Some(value) = next(&mut todo) {
            if done.contains(&value) || !seen.insert(value.clone()) {
                continue;
            }
            // What is not followed further may be anything.
            if seen.len() > MOST_VALUES || self.has_too_many(&value) {
                visit(&start, true);
                return false;
            }
            if value.parts.len() > DEEPEST {
                visit(&value, true);
                continue;
            }
            // Hundreds of calls may give a parameter its value, of which the next ones may do.
            if let Some(places) = self.passed(value.place) {
                visit(&value, false);
                let left = places.len();
                todo.push(Next::Passed(value, places, left));
                continue;
            }
            let given = || {
                let given = through(value.place);
                (!given.is_empty()).then(|| given.into_iter().map(|id| value.at(id)).collect())
            };
            let from = self.before(&value).or_else(given);
            visit(&value, from.is_none());
            todo.extend(from.into_iter().flatten().map(Next::Value));
        }
        done.extend(seen);
        true
    }

    fn file(&self, place: Place) -> &'v PythonFile<'t> {
        self.files()[place.file]
    }

    /// The values that this one is taken from; none if it comes from nowhere else.
    fn before(&self, value: &Origin<'t>) -> Option<Vec<Origin<'t>>> {
        let (k, f, id) = (kinds(), fields(), value.place.id);
        let index = &self.file(value.place).index;
        let kind = index.kind(id);
        let parts = || index.parts(id);
        if kind == k.identifier {
            return self.of_name(value);
        }
        if kind == k.attribute {
            if let Some(found) = self.of_module(value, self.file(value.place).names.qualify(index, id).as_deref()) {
                return Some(found);
            }
            let attribute = index.attribute(id)?;
            return Some(vec![value.part(attribute.owner()?, Part::Attribute(attribute.name()?))]);
        }
        if kind == k.subscript {
            let key = index.field(id, f.subscript)?;
            let part = match item(index, key) {
                Some(text) => Part::Item(text),
                None if index.kind(key) == k.slice => return None,
                None => Part::Any,
            };
            return Some(vec![value.part(index.value(id)?, part)]);
        }
        if kind == k.call {
            return self.of_call(value);
        }
        if [k.parenthesized_expression, k.r#await].contains(&kind) {
            return Some(parts().take(1).map(|inner| value.at(inner)).collect());
        }
        if kind == k.conditional_expression {
            return Some(parts().enumerate().filter(|(n, _)| *n != 1).map(|(_, arm)| value.at(arm)).collect());
        }
        if kind == k.boolean_operator {
            return Some(parts().map(|side| value.at(side)).collect());
        }
        if kind == k.named_expression {
            return Some(vec![value.at(index.value(id)?)]);
        }
        // `a = b = value`
        if kind == k.assignment {
            return Some(vec![value.at(index.source(id)?)]);
        }
        if kind == k.class_definition {
            return self.of_instance(value);
        }
        let part = *value.parts.last()?;
        if [k.tuple, k.list, k.expression_list].contains(&kind) {
            let place = match part {
                Part::Item(place) => Some(place.parse::<usize>().ok()?),
                Part::Any => None,
                Part::Attribute(_) => return None,
            };
            let chosen = parts().enumerate().filter(|(n, _)| place.is_none_or(|place| place == *n));
            let chosen: Vec<Id> = chosen.map(|(_, id)| id).collect();
            let is_splat = parts().any(|id| index.kind(id) == k.list_splat);
            return (!chosen.is_empty() && !is_splat).then(|| chosen.into_iter().map(|id| value.inside(id)).collect());
        }
        if kind == k.dictionary {
            let is_chosen = |pair: &Id| {
                let key = index.field(*pair, f.key).and_then(|key| item(index, key));
                part == Part::Any || matches!(part, Part::Item(name) if key == Some(name))
            };
            let of_pairs = parts().filter(is_chosen).filter_map(|pair| {
                let key = index.field(pair, f.key).and_then(|key| item(index, key));
                Some(Origin { key, ..value.inside(index.value(pair)?) })
            });
            let splats = parts().filter(|id| index.kind(*id) == k.dictionary_splat);
            let unpacked = splats.filter_map(|splat| Some(value.at(index.parts(splat).next()?)));
            let found: Vec<_> = of_pairs.chain(unpacked).collect();
            return (!found.is_empty()).then_some(found);
        }
        if [k.list_comprehension, k.generator_expression, k.dictionary_comprehension].contains(&kind) {
            let body = parts().next()?;
            let body = if index.kind(body) == k.pair { index.value(body)? } else { body };
            return Some(vec![value.inside(body)]);
        }
        None
    }

    /// The values of a name of another file.
    fn of_module(&self, value: &Origin<'t>, qualified: Option<&str>) -> Option<Vec<Origin<'t>>> {
        let (file, rest) = self.modules.resolve(value.place.file, qualified?)?;
        let (name, further) = rest.split_first()?;
        let bound = self.scopes[file].top(name);
        if bound.is_empty() || !further.is_empty() {
            return None;
        }
        Some(bound.iter().map(|bound| value.in_file(file, bound.id)).collect())
    }
}

/// The values that walks have followed to their ends.
#[derive(Default)]
pub struct Seen<'t>(FxHashSet<Origin<'t>>);

/// What a walk looks at next.
enum Next<'t> {
    Value(Origin<'t>),
    /// The same value in that many of these places, the last one first.
    Passed(Origin<'t>, Rc<[Place]>, usize),
}

fn next<'t>(todo: &mut Vec<Next<'t>>) -> Option<Origin<'t>> {
    match todo.pop()? {
        Next::Value(value) => Some(value),
        Next::Passed(_, _, 0) => next(todo),
        Next::Passed(value, places, left) => {
            let Place { file, id } = places[left - 1];
            let first = value.in_file(file, id);
            todo.push(Next::Passed(value, places, left - 1));
            Some(first)
        }
    }
}

/// The text of a key or an index that is a literal.
fn item<'t>(index: &crate::tree::Index<'t>, key: Id) -> Option<&'t str> {
    plain_string(index, key).or_else(|| (index.kind(key) == kinds().integer).then(|| index.text_of(key)))
}
