//! Attributes and items of objects, the functions that calls reach, and their results.

use super::bound::unpacked;
use super::{Origin, Origins, Part, Place, Store, item};
use crate::file::PythonFile;
use crate::scopes::Bound;
use crate::tree::{Id, Index, fields, kinds};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// What the files assign to attributes and items.
pub(super) fn stores<'t>(files: &[&PythonFile<'t>]) -> HashMap<&'t str, Vec<Store<'t>>> {
    let (k, f) = (kinds(), fields());
    let mut stores: HashMap<&str, Vec<Store<'t>>> = HashMap::new();
    for (file, python) in files.iter().enumerate() {
        let index = &python.index;
        for target in index.of_kind(k.attribute).iter().chain(index.of_kind(k.subscript)) {
            let Some((holder, at, taken)) = unpacked(index, *target) else { continue };
            if index.kind(holder) != k.assignment || index.item(at).field != f.left {
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
                let value = Origin::new(file, value, &taken);
                stores.entry(name).or_default().push(Store { object: Place { file, id: object }, part, value });
            }
        }
    }
    stores
}

impl<'t> Origins<'_, 't> {
    /// The values of a part of what a name holds that are assigned to that part: `name["key"] = value`.
    pub(super) fn kept_under(&self, value: &Origin<'t>, bound: &[Bound]) -> Vec<Origin<'t>> {
        let Some(part) = value.parts.last() else { return Vec::new() };
        let (file, index) = (value.place.file, &self.file(value.place).index);
        let is_same = |object: Place| {
            object.file == file
                && index.is_text(object.id, index.text_of(value.place.id))
                && self.scopes[file].bindings(index, object.id) == bound
        };
        self.stored(*part).filter(|store| is_same(store.object)).map(|store| held(value, store)).collect()
    }

    fn stored(&self, part: Part<'t>) -> impl Iterator<Item = &Store<'t>> {
        let named = match part {
            Part::Attribute(name) | Part::Item(name) => vec![name, ""],
            Part::Any => self.stores.keys().copied().collect(),
        };
        let fits = move |store: &&Store<'t>| match part {
            Part::Attribute(_) => store.part == part,
            Part::Item(_) => store.part == part || store.part == Part::Any,
            Part::Any => !matches!(store.part, Part::Attribute(_)),
        };
        named.into_iter().flat_map(|name| self.stores.get(name).into_iter().flatten()).filter(fits)
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

    /// The values of an attribute of an object of a class; none if it is the object itself, or nothing assigns them.
    pub(super) fn of_instance(&self, value: &Origin<'t>, class: Place) -> Option<Vec<Origin<'t>>> {
        let (last, rest) = value.parts.split_last()?;
        let Part::Attribute(name) = last else { return None };
        let related = self.related(class);
        let is_self = |object: Place| {
            let file = self.file(object);
            let method = file.function_of(object.id).map(|id| Place { id, ..object });
            let owner = method.and_then(|method| self.class_of_method(method)).filter(|class| related.contains(class));
            let first = method.and_then(|m| file.index.function(m.id)?.parameters().next());
            owner.is_some() && first.is_some_and(|first| file.index.is_text(object.id, first.name))
        };
        let mut found: Vec<_> =
            self.stored(*last).filter(|store| is_self(store.object)).map(|store| held(value, store)).collect();
        let mut is_item_of = Vec::new();
        if let Some(item) = rest.last() {
            // `self.name["key"] = value`
            is_item_of.extend(self.stored(*item).filter(|store| {
                let index = &self.file(store.object).index;
                index.attribute(store.object.id).is_some_and(|object| {
                    object.name() == Some(*name)
                        && object.owner().is_some_and(|owner| is_self(Place { id: owner, ..store.object }))
                })
            }));
        }
        let inner = Origin { place: value.place, parts: rest.to_vec() };
        found.extend(is_item_of.into_iter().map(|store| held(&inner, store)));
        for class in &related {
            let index = &self.file(*class).index;
            let body = index.class(class.id).and_then(|class| class.body());
            for statement in body.into_iter().flat_map(|body| index.parts(body)) {
                let defined = index.definition(statement).filter(|d| self.file(*class).name_of(*d) == *name);
                let assigned =
                    index.parts(statement).next().and_then(|a| index.assignment(a)).filter(|a| a.assigns(name));
                let here = defined.or_else(|| assigned.and_then(|a| a.value()));
                found.extend(here.map(|id| Origin::new(class.file, id, rest)));
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// A class, those it inherits from, and those that inherit from it.
    fn related(&self, class: Place) -> Vec<Place> {
        let mut found = vec![class];
        let mut at = 0;
        while let Some(class) = found.get(at).copied() {
            at += 1;
            let new: Vec<Place> = self.bases(class).into_iter().filter(|base| !found.contains(base)).collect();
            found.extend(new);
        }
        found.extend(self.derived(class));
        found
    }

    /// Classes that inherit from a class.
    fn derived(&self, class: Place) -> Vec<Place> {
        let mut found = vec![class];
        let mut at = 0;
        while let Some(base) = found.get(at).copied() {
            at += 1;
            let others = self.classes.values().flatten().copied();
            let new: Vec<Place> = others.filter(|c| !found.contains(c) && self.bases(*c).contains(&base)).collect();
            found.extend(new);
        }
        found.split_off(1)
    }

    fn bases(&self, class: Place) -> Vec<Place> {
        let index = &self.file(class).index;
        let bases = index.class(class.id).into_iter().flat_map(|class| class.bases().positional());
        let named = bases.map(|base| index.text_of(base).rsplit('.').next().unwrap_or_default());
        named.flat_map(|name| self.classes.get(name).into_iter().flatten().copied()).collect()
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
                let of_class = [self.of_instance(value, *definition), self.of_field(value, *definition)];
                if of_class.iter().all(Option::is_none) {
                    return None;
                }
                found.extend(of_class.into_iter().flatten().flatten());
                continue;
            }
            if !index.of_kind_in(k.r#yield, definition.id).is_empty() {
                return None;
            }
            let returned = returned(index, definition.id);
            found.extend(returned.map(|id| Origin::new(definition.file, id, &value.parts)));
        }
        Some(found)
    }

    /// What a call of a data class is given for one of its fields.
    fn of_field(&self, value: &Origin<'t>, class: Place) -> Option<Vec<Origin<'t>>> {
        let Part::Attribute(name) = value.parts.last()? else { return None };
        let index = &self.file(class).index;
        let body = index.class(class.id)?.body()?;
        let fields = index.parts(body).filter_map(|s| index.assignment(index.parts(s).next()?));
        let at = fields.filter(|field| field.annotation().is_some()).position(|field| field.assigns(name))?;
        let given = self.file(value.place).index.arguments(value.place.id).get(at, name)?;
        Some(vec![value.inside(given)])
    }

    /// The functions and classes of the project that a call may be of.
    pub fn definitions(&self, call: Place) -> Rc<[Place]> {
        if let Some(known) = self.definitions.borrow().get(&call) {
            return Rc::clone(known);
        }
        self.definitions.borrow_mut().insert(call, Rc::default());
        let callee = self.file(call).index.callee(call.id).map(|id| Place { id, ..call });
        let found = callee.map_or_else(Vec::new, |callee| self.origins(callee));
        let is_definition = |place: Place| {
            let kind = self.file(place).index.kind(place.id);
            kind == kinds().function_definition || kind == kinds().class_definition
        };
        let found: Rc<[Place]> =
            found.into_iter().filter(|o| o.is_whole()).map(|o| o.place).filter(|p| is_definition(*p)).collect();
        self.definitions.borrow_mut().insert(call, Rc::clone(&found));
        found
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
            None => self.calls_of(function).collect(),
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
        let derived = self.derived(class);
        let mut found: Vec<Place> = self.calls_of(class).collect();
        found.extend(derived.iter().filter(|class| !defines(class)).flat_map(|class| self.calls_of(*class)));
        for Place { file, id } in derived.into_iter().filter(defines) {
            let index = &self.files()[file].index;
            let calls = self.files()[file].calls("__init__").iter().filter(|call| index.is_within(**call, id));
            found.extend(calls.map(|id| Place { file, id: *id }));
        }
        found
    }

    /// The calls that may be of a function or class.
    fn calls_of(&self, definition: Place) -> impl Iterator<Item = Place> {
        let name = self.file(definition).name_of(definition.id);
        let mut names: BTreeSet<&str> = BTreeSet::from([name]);
        for file in self.files() {
            let aliases = file.names.bindings.iter().filter(|b| b.qualified.rsplit('.').next() == Some(name));
            names.extend(aliases.map(|alias| alias.local.as_str()));
            // It may be given another name: `run = train`, `fit(run=train)`.
            let is_value = |id: &Id| {
                let holder = file.index.parent(*id).map(|p| file.index.kind(p));
                let k = kinds();
                holder.is_some_and(|kind| [k.assignment, k.argument_list, k.keyword_argument, k.pair].contains(&kind))
            };
            if file.identifiers(name).iter().any(is_value) {
                names.extend(self.scopes.iter().flat_map(|scopes| scopes.names()));
                names.extend(self.stores.keys());
            }
        }
        let calls = self.files().iter().enumerate().flat_map(move |(file, python)| {
            let calls: Vec<Id> = names.iter().flat_map(|name| python.calls(name)).copied().collect();
            calls.into_iter().map(move |id| Place { file, id })
        });
        calls.filter(move |call| self.definitions(*call).contains(&definition))
    }
}

/// The value of a store where a part of its object is read.
fn held<'t>(value: &Origin<'t>, store: &Store<'t>) -> Origin<'t> {
    let mut parts = value.parts[..value.parts.len() - 1].to_vec();
    parts.extend(&store.value.parts);
    Origin { place: store.value.place, parts }
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
