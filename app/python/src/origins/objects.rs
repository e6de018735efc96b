//! Attributes and items of objects, the functions that calls reach, and their results.

use super::bound::unpacked;
use super::{MOST_VALUES, Origin, Origins, OwnStores, Part, Place, Store, VARIABLES, item};
use crate::file::PythonFile;
use crate::names::called_name;
use crate::scopes::{Bound, Scopes};
use crate::tree::{Id, Index, fields, kinds};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What the files assign to attributes and items.
pub(super) fn stores<'t>(files: &[&PythonFile<'t>]) -> FxHashMap<&'t str, Vec<Store<'t>>> {
    let (k, f) = (kinds(), fields());
    let mut stores: FxHashMap<&str, Vec<Store<'t>>> = FxHashMap::default();
    for (file, python) in files.iter().enumerate() {
        let index = &python.index;
        for target in index.of_kind(k.attribute).iter().chain(index.of_kind(k.subscript)) {
            let Some((holder, at, taken)) = unpacked(index, *target) else { continue };
            let assigns = [k.assignment, k.augmented_assignment].contains(&index.kind(holder));
            if !assigns || index.item(at).field != f.left {
                continue;
            }
            let (object, name, part) = match index.attribute(*target) {
                Some(attribute) => {
                    let name = attribute.name().unwrap_or_default();
                    (attribute.owner(), name, Part::Attribute(name))
                }
                None => {
                    let key = index.field(*target, f.subscript).and_then(|key| item(index, key));
                    (index.value(*target), key.unwrap_or_default(), key.map_or(Part::Any, Part::Item))
                }
            };
            if let (Some(object), Some(value)) = (object, index.source(holder)) {
                stores.entry(name).or_default().push(Store { object: Place { file, id: object }, part, value, taken });
            }
        }
    }
    stores
}

/// The stores of each object of a file, by its text.
pub(super) fn by_object<'t>(
    files: &[&PythonFile<'t>],
    stores: &FxHashMap<&'t str, Vec<Store<'t>>>,
) -> FxHashMap<(usize, &'t str), FxHashMap<&'t str, Vec<usize>>> {
    let mut found: FxHashMap<_, FxHashMap<&str, Vec<usize>>> = FxHashMap::default();
    for (name, list) in stores {
        for (at, Store { object, .. }) in list.iter().enumerate() {
            let of_object = found.entry((object.file, files[object.file].index.text_of(object.id))).or_default();
            of_object.entry(name).or_default().push(at);
        }
    }
    found
}

/// The lists of stores that may be of a part, by the text of the attribute or the item.
fn lists<'m, 't, L>(
    lists: &'m FxHashMap<&'t str, L>,
    part: Part<'t>,
) -> impl Iterator<Item = (&'t str, &'m L)> + use<'m, 't, L> {
    let named = match part {
        Part::Attribute(name) | Part::Item(name) => vec![name, ""],
        Part::Any => lists.keys().copied().collect(),
    };
    named.into_iter().filter_map(|name| Some((name, lists.get(name)?)))
}

/// What objects of a class keep under an attribute.
#[derive(Default)]
struct Kept<'t> {
    /// What methods assign to it, and to items of it: the names of lists of stores, and the places in them.
    attributes: Vec<(&'t str, usize)>,
    items: Vec<(&'t str, usize)>,
    /// What the bodies of the classes give it.
    members: Vec<Place>,
}

impl Kept<'_> {
    fn count(&self) -> usize {
        self.attributes.len() + self.items.len() + self.members.len()
    }
}

impl<'t> Store<'t> {
    fn fits(&self, part: Part<'t>) -> bool {
        match part {
            Part::Attribute(_) => self.part == part,
            Part::Item(_) => self.part == part || self.part == Part::Any,
            Part::Any => !matches!(self.part, Part::Attribute(_)),
        }
    }
}

impl<'t> Origins<'_, 't> {
    /// The values of a part of what a name holds that are assigned to that part: `name["key"] = value`.
    pub(super) fn kept_under(&self, value: &Origin<'t>, bound: &[Bound]) -> Vec<Origin<'t>> {
        let Some(part) = value.parts.last() else { return Vec::new() };
        let (file, index) = (value.place.file, &self.file(value.place).index);
        let Some(kept) = self.kept.get(&(file, index.text_of(value.place.id))) else { return Vec::new() };
        let is_same = |store: &&Store<'t>| std::ptr::eq(self.scopes[file].bindings(index, store.object.id), bound);
        let kept = lists(kept, *part).flat_map(|(name, places)| places.iter().map(move |at| &self.stores[name][*at]));
        kept.filter(|store| store.fits(*part)).filter(is_same).map(|store| held(value, store)).collect()
    }

    /// What files, in their order, keep under a part.
    pub(super) fn stored(&self, part: Part<'t>, files: &[usize]) -> impl Iterator<Item = &Store<'t>> {
        let in_file = |stores: &'_ Vec<Store<'t>>, file: usize| {
            let from = stores.partition_point(|store| store.object.file < file);
            from..stores.partition_point(|store| store.object.file <= file)
        };
        let all = lists(&self.stores, part);
        let stores = all.flat_map(move |(_, list)| files.iter().flat_map(move |file| &list[in_file(list, *file)]));
        stores.filter(move |store| store.fits(part))
    }

    /// The class of a function that is a method with `self`.
    pub(super) fn class_of_method(&self, function: Place) -> Option<Place> {
        let index = &self.file(function).index;
        let around =
            index.ancestors(function.id).find(|a| index.definition(*a).is_none_or(|inner| inner != function.id));
        let class =
            around.and_then(|block| index.parent(block)).filter(|a| index.kind(*a) == kinds().class_definition)?;
        let is_static = |decorator: Id| index.text_of(decorator).trim_start_matches('@') == "staticmethod";
        let decorators = index.function(function.id)?.decorators();
        (!decorators.into_iter().any(is_static)).then_some(Place { id: class, ..function })
    }

    /// The values of an attribute of an object of the class at the value's place; none if it is the object itself, or nothing
    /// assigns them.
    pub(super) fn of_instance(&self, value: &Origin<'t>) -> Option<Vec<Origin<'t>>> {
        let Kept { attributes, items, members } = self.kept_by(value);
        let inner = value.inside(value.place.id);
        let attributes = self.in_order(attributes).map(|store| held(value, store));
        let found = attributes.chain(self.in_order(items).map(|store| held(&inner, store)));
        let members = members.into_iter().map(|place| inner.in_file(place.file, place.id));
        let found: Vec<Origin<'t>> = found.chain(members).collect();
        (!found.is_empty()).then_some(found)
    }

    /// What objects of the class at the value's place keep under what is taken out of it. Of more than a walk looks at, some
    /// are left out.
    fn kept_by(&self, value: &Origin<'t>) -> Kept<'t> {
        let mut kept = Kept::default();
        let Some((last @ Part::Attribute(name), rest)) = value.parts.split_last() else { return kept };
        for class in &*self.related(value.place) {
            self.add_stores(&mut kept.attributes, self.own.attributes.get(class), *last);
            // `self.name["key"] = value`
            if let Some(item) = rest.last() {
                self.add_stores(&mut kept.items, self.own.items.get(&(*class, *name)), *item);
            }
            let members = self.members.get(class).and_then(|members| members.get(name)).into_iter().flatten();
            kept.members.extend(members.map(|id| Place { id: *id, ..*class }));
            if kept.count() > MOST_VALUES {
                break;
            }
        }
        kept
    }

    fn add_stores(
        &self,
        to: &mut Vec<(&'t str, usize)>,
        kept: Option<&FxHashMap<&'t str, Vec<usize>>>,
        part: Part<'t>,
    ) {
        for (name, places) in kept.into_iter().flat_map(|kept| lists(kept, part)) {
            let stores = &self.stores[name];
            to.extend(places.iter().filter(|at| stores[**at].fits(part)).map(|at| (name, *at)));
        }
    }

    /// Whether a value is an attribute of objects of a class that keep more under it than a walk looks at.
    pub(super) fn has_too_many(&self, value: &Origin<'t>) -> bool {
        let is_of_class = self.file(value.place).index.kind(value.place.id) == kinds().class_definition;
        is_of_class && self.kept_by(value).count() > MOST_VALUES
    }

    /// The same attribute of the class of an object; none if its objects keep nothing under it.
    pub(super) fn in_class(&self, value: &Origin<'t>, class: Place) -> Option<Origin<'t>> {
        let in_class = value.in_file(class.file, class.id);
        (self.kept_by(&in_class).count() > 0).then_some(in_class)
    }

    /// What methods keep in their own objects.
    pub(super) fn own_stores(&self) -> OwnStores<'t> {
        let mut own = OwnStores::default();
        for (name, list) in &self.stores {
            for (at, store) in list.iter().enumerate() {
                let index = &self.file(store.object).index;
                if let Some(class) = self.class_of_self(store.object) {
                    own.attributes.entry(class).or_default().entry(name).or_default().push(at);
                }
                let Some(object) = index.attribute(store.object.id) else { continue };
                let owner = object.owner().and_then(|owner| self.class_of_self(Place { id: owner, ..store.object }));
                if let (Some(class), Some(attribute)) = (owner, object.name()) {
                    own.items.entry((class, attribute)).or_default().entry(name).or_default().push(at);
                }
            }
        }
        own
    }

    /// The class of a method whose first parameter a name is.
    fn class_of_self(&self, name: Place) -> Option<Place> {
        let file = self.file(name);
        let method = Place { id: file.function_of(name.id)?, ..name };
        let first = file.index.function(method.id)?.parameters().next()?;
        self.class_of_method(method).filter(|_| file.index.is_text(name.id, first.name))
    }

    /// These stores, in the order of the files.
    fn in_order(&self, mut places: Vec<(&'t str, usize)>) -> impl Iterator<Item = &Store<'t>> {
        sorting::by_key(&mut places, |(name, at)| (name.is_empty(), *at));
        places.into_iter().map(|(name, at)| &self.stores[name][at])
    }

    /// A class, those it inherits from, and those that inherit from it.
    fn related(&self, class: Place) -> Rc<[Place]> {
        let mut known = self.related.borrow_mut();
        let related = known.entry(class).or_insert_with(|| {
            let mut found = reached(class, &self.bases);
            found.extend(reached(class, &self.derived).split_off(1));
            found.into()
        });
        Rc::clone(related)
    }

    /// The values of a call: those that its functions return, attributes of the object that it makes.
    pub(super) fn of_call(&self, value: &Origin<'t>) -> Option<Vec<Origin<'t>>> {
        let k = kinds();
        let definitions = self.definitions(value.place);
        if definitions.is_empty() {
            return self.of_built_in(value);
        }
        let mut found = Vec::new();
        for definition in definitions.iter() {
            let index = &self.file(*definition).index;
            if index.kind(definition.id) == k.class_definition {
                let of_class = [self.in_class(value, *definition), self.of_field(value, *definition)];
                if of_class.iter().all(Option::is_none) {
                    return None;
                }
                found.extend(of_class.into_iter().flatten());
                continue;
            }
            if !index.of_kind_in(k.r#yield, definition.id).is_empty() {
                return None;
            }
            let returned = returned(index, definition.id);
            found.extend(returned.map(|id| value.in_file(definition.file, id)));
        }
        Some(found)
    }

    /// What a call of a data class is given for one of its fields.
    fn of_field(&self, value: &Origin<'t>, class: Place) -> Option<Origin<'t>> {
        let Part::Attribute(name) = value.parts.last()? else { return None };
        let index = &self.file(class).index;
        let body = index.class(class.id)?.body()?;
        let fields = index.parts(body).filter_map(|s| index.assignment(index.parts(s).next()?));
        let at = fields.filter(|field| field.annotation().is_some()).position(|field| field.assigns(name))?;
        let given = self.file(value.place).index.arguments(value.place.id).get(at, name)?;
        Some(value.inside(given))
    }

    /// The functions and classes of the project that a call may be of.
    pub fn definitions(&self, call: Place) -> Rc<[Place]> {
        if let Some(known) = self.definitions.borrow().get(&call) {
            return Rc::clone(known);
        }
        self.definitions.borrow_mut().insert(call, Rc::default());
        self.looking.borrow_mut().insert(call);
        let callee = self.file(call).index.callee(call.id).map(|id| Place { id, ..call });
        let mut found = Vec::new();
        if let Some(callee) = callee {
            let wrapped = |place: Place| self.wrapped(place).into_iter().collect();
            self.walk(callee, &wrapped, &mut |value, is_origin| found.extend(is_origin.then(|| value.clone())));
        }
        let called = |object: &Origin<'t>| {
            let is_object = object.is_whole() && self.file(object.place).index.kind(object.place.id) == kinds().call;
            let methods = self.conventions.called.iter().filter(|_| is_object);
            let mut methods = methods.map(|name| self.origins_of(object.part(object.place.id, Part::Attribute(name))));
            methods.find(|found| found.iter().any(Origin::is_whole))
        };
        found = found.into_iter().flat_map(|origin| called(&origin).unwrap_or_else(|| vec![origin])).collect();
        let is_definition = |place: Place| {
            let kind = self.file(place).index.kind(place.id);
            kind == kinds().function_definition || kind == kinds().class_definition
        };
        let found: Rc<[Place]> =
            found.into_iter().filter(|o| o.is_whole()).map(|o| o.place).filter(|p| is_definition(*p)).collect();
        self.definitions.borrow_mut().insert(call, Rc::clone(&found));
        self.looking.borrow_mut().remove(&call);
        found
    }

    /// What a call wraps, if its result is called like it.
    fn wrapped(&self, call: Place) -> Option<Id> {
        let index = &self.file(call).index;
        let name = called_name(index, call.id)?;
        if let Some(object) = index.receiver(call.id).filter(|_| self.conventions.chained.contains(&name)) {
            return Some(object);
        }
        let is_wrapper = self.conventions.wrappers.iter().any(|names| names.contains(&name));
        index.arguments(call.id).positional().next().filter(|_| is_wrapper)
    }

    /// The calls of a function; of a class's `__init__` those of the class.
    pub fn callers(&self, function: Place) -> Rc<[Place]> {
        if let Some(known) = self.callers.borrow().get(&function) {
            return Rc::clone(known);
        }
        self.callers.borrow_mut().insert(function, Rc::default());
        let class = self.class_of_method(function).filter(|_| self.file(function).name_of(function.id) == "__init__");
        let found: Rc<[Place]> = match class {
            Some(class) => self.makers(class).into(),
            None => self.calls_of(function).into(),
        };
        self.callers.borrow_mut().insert(function, Rc::clone(&found));
        found
    }

    /// The calls that run the `__init__` of a class: its own, those of classes without one that inherit it, and those of theirs.
    fn makers(&self, class: Place) -> Vec<Place> {
        let defines = |class: &Place| {
            let file = self.file(*class);
            let functions = file.index.of_kind_in(kinds().function_definition, class.id);
            functions.iter().any(|function| file.name_of(*function) == "__init__")
        };
        let derived = reached(class, &self.derived).split_off(1);
        let mut found: Vec<Place> = self.calls_of(class);
        found.extend(derived.iter().filter(|class| !defines(class)).flat_map(|class| self.calls_of(*class)));
        for Place { file, id } in derived.into_iter().filter(defines) {
            let index = &self.files()[file].index;
            let calls = self.files()[file].calls("__init__").iter().filter(|call| index.is_within(**call, id));
            found.extend(calls.map(|id| Place { file, id: *id }));
        }
        found
    }

    /// The calls that may be of a function or class.
    fn calls_of(&self, definition: Place) -> Vec<Place> {
        let name = self.file(definition).name_of(definition.id);
        let others = self.aliases.get(name).into_iter().flatten().copied().filter(move |alias| *alias != name);
        // It may be given another name: `run = train`, `fit(run=train)`.
        let is_passed_on = self.conventions.called.contains(&name) || self.values.contains(name);
        let names = std::iter::once(name).chain(others).chain(is_passed_on.then_some(VARIABLES));
        names.flat_map(|name| self.calls_under(name, definition)).collect()
    }

    /// Those of them with the last name of their function.
    fn calls_under(&self, name: &str, definition: Place) -> Vec<Place> {
        let Some(calls) = self.calls.get(name) else { return Vec::new() };
        // Looking for one call may ask for the calls of another definition, which goes on from there.
        let mut open = Vec::new();
        loop {
            let next = calls.unread.borrow_mut().pop_front();
            let Some(call) = next else { break };
            let definitions = self.definitions(call);
            if self.looking.borrow().contains(&call) {
                open.push(call);
            }
            let mut known = calls.known.borrow_mut();
            for definition in definitions.iter() {
                known.entry(*definition).or_default().insert(call);
            }
        }
        // What is still being looked for is not known yet.
        calls.unread.borrow_mut().extend(open);
        let known = calls.known.borrow();
        known.get(&definition).into_iter().flatten().copied().collect()
    }
}

/// The names in a file that it assigns or passes on.
pub(super) fn values<'t>(file: &PythonFile<'t>) -> impl Iterator<Item = &'t str> {
    let (k, index) = (kinds(), &file.index);
    let holds = [k.assignment, k.argument_list, k.keyword_argument, k.pair];
    let is_value = move |id: &&Id| index.parent(**id).is_some_and(|holder| holds.contains(&index.kind(holder)));
    index.of_kind(k.identifier).iter().filter(is_value).map(|id| index.text_of(*id))
}

/// Calls of what is kept under a name: of a parameter, a variable, an attribute.
pub(super) fn calls_of_variables<'t>(
    files: &[&PythonFile<'t>],
    scopes: &[Scopes<'t>],
    stores: &FxHashMap<&'t str, Vec<Store<'t>>>,
) -> Vec<Place> {
    let is_variable = |file: usize, call: Id| {
        let index = &files[file].index;
        let Some(callee) = index.callee(call) else { return false };
        match index.attribute(callee) {
            Some(attribute) => attribute.name().is_some_and(|name| stores.contains_key(name)),
            None => {
                let bound = scopes[file].bindings(index, callee);
                bound.iter().any(|bound| !is_import_or_definition(index, bound.id))
            }
        }
    };
    let calls =
        files.iter().enumerate().flat_map(|(file, python)| python.index.calls().map(move |call| (file, call.id())));
    calls.filter(|(file, call)| is_variable(*file, *call)).map(|(file, id)| Place { file, id }).collect()
}

/// Whether an identifier is bound by an import or a definition.
fn is_import_or_definition(index: &Index<'_>, bound: Id) -> bool {
    let k = kinds();
    let holds = [k.dotted_name, k.aliased_import, k.function_definition, k.class_definition];
    index.parent(bound).is_some_and(|holder| holds.contains(&index.kind(holder)))
}

/// What the body of each class gives its attributes, by their names.
pub(super) fn members<'t>(files: &[&PythonFile<'t>]) -> FxHashMap<Place, FxHashMap<&'t str, Vec<Id>>> {
    let mut all: FxHashMap<_, FxHashMap<&str, Vec<Id>>> = FxHashMap::default();
    for (number, file) in files.iter().enumerate() {
        let index = &file.index;
        for class in index.classes() {
            let members = all.entry(Place { file: number, id: class.id() }).or_default();
            for statement in class.body().into_iter().flat_map(|body| index.parts(body)) {
                let assignment = || index.parts(statement).next().and_then(|a| index.assignment(a)?.sides());
                let member = match index.definition(statement) {
                    Some(definition) => Some((file.name_of(definition), definition)),
                    None => assignment().map(|(target, value)| (index.text_of(target), value)),
                };
                if let Some((name, value)) = member {
                    members.entry(name).or_default().push(value);
                }
            }
        }
    }
    all
}

/// The classes that each class names as its bases, and those that name each.
pub(super) fn heritage(files: &[&PythonFile<'_>]) -> [FxHashMap<Place, Vec<Place>>; 2] {
    let mut by_name: FxHashMap<&str, Vec<Place>> = FxHashMap::default();
    let classes = |file: usize| files[file].index.classes();
    for (file, class) in (0..files.len()).flat_map(|file| classes(file).map(move |class| (file, class))) {
        by_name.entry(class.name()).or_default().push(Place { file, id: class.id() });
    }
    let [mut bases, mut derived]: [FxHashMap<Place, Vec<Place>>; 2] = Default::default();
    for (file, class) in (0..files.len()).flat_map(|file| classes(file).map(move |class| (file, class))) {
        let place = Place { file, id: class.id() };
        let named = class.bases().positional().map(|base| files[file].index.text_of(base).rsplit('.').next());
        for base in named.flatten().flat_map(|name| by_name.get(name).into_iter().flatten()) {
            bases.entry(place).or_default().push(*base);
            derived.entry(*base).or_default().push(place);
        }
    }
    [bases, derived]
}

/// A class, and those that lead on from it.
fn reached(class: Place, onward: &FxHashMap<Place, Vec<Place>>) -> Vec<Place> {
    let mut found = vec![class];
    let mut seen = FxHashSet::from_iter([class]);
    let mut at = 0;
    while let Some(class) = found.get(at) {
        let next = onward.get(class).into_iter().flatten();
        let new: Vec<Place> = next.copied().filter(|class| seen.insert(*class)).collect();
        found.extend(new);
        at += 1;
    }
    found
}

/// The value of a store where a part of its object is read.
fn held<'t>(value: &Origin<'t>, store: &Store<'t>) -> Origin<'t> {
    let mut held = value.inside(store.value).in_file(store.object.file, store.value);
    held.parts.extend(&store.taken);
    held.under(Some(store.part));
    held
}

/// What a function returns.
fn returned<'i>(index: &'i Index<'_>, function: Id) -> impl Iterator<Item = Id> + 'i {
    let k = kinds();
    let own = move |id: &Id| {
        index.ancestors(*id).find(|a| [k.function_definition, k.lambda].contains(&index.kind(*a))) == Some(function)
    };
    let returns = index.of_kind_in(k.return_statement, function).iter().copied().filter(own);
    returns.filter_map(|statement| index.parts(statement).next())
}
