//! What an expression may be: a Python number, an array of float64, a tensor of truth values.
//!
//! The value of a name is that of all expressions that it may come from, in all files of the project. A value that is
//! not known is [`Kinds::UNKNOWN`], which is never taken for one of the others.

use crate::kinds::{Kinds, KnownKinds, arithmetic};
use crate::project::{FileInProject, ProjectFacts};
use crate::words::{CALLS_WITHOUT_TENSOR, NUMPY_FLOAT64, TORCH_WITHOUT_TENSOR, TRUTH_FUNCTIONS, TRUTH_KEPT};
use python::PythonFile;
use python::names::called_name;
use python::origins::{Origin, Part, Place};
use python::tree::{Id, fields, kinds};
use std::ops::BitOr;

#[cfg(test)]
mod tests;

/// Expressions in expressions that are followed; the rest is unknown.
const DEEPEST: usize = 100;

impl FileInProject<'_, '_> {
    /// What an expression may be.
    pub fn kinds(&self, id: Id) -> Kinds {
        let place = self.project.origins.number(&self.view.file).map(|file| Place { file, id });
        place.map_or(Kinds::UNKNOWN, |place| self.project.kinds(place))
    }
}

impl<'t> ProjectFacts<'_, 't> {
    /// What an expression may be.
    fn kinds(&self, place: Place) -> Kinds {
        let KnownKinds { known, open, pending, lowest, depth } = &self.known_kinds;
        if let Some(kinds) = known.borrow().get(&place) {
            let first = open.borrow().get(&place).copied();
            lowest.set(first.map_or(lowest.get(), |first| first.min(lowest.get())));
            return *kinds;
        }
        let level = depth.get();
        if level >= DEEPEST {
            return Kinds::UNKNOWN;
        }
        depth.set(level + 1);
        known.borrow_mut().insert(place, Kinds::default());
        open.borrow_mut().insert(place, level);
        let (above, begin) = (lowest.replace(usize::MAX), pending.borrow().len());
        let mut found = Kinds::default();
        for origin in self.origins.origins(place) {
            found |= match origin.is_whole() {
                true if origin.place == place => self.of_expression(place),
                true => self.kinds(origin.place),
                false => self.of_part(&origin),
            };
        }
        depth.set(level);
        let first = lowest.get();
        if first < level {
            open.borrow_mut().insert(place, first);
            pending.borrow_mut().push(place);
            lowest.set(above.min(first));
        } else {
            if found == Kinds::default() {
                found = Kinds::UNKNOWN;
            }
            // What depends on this and on itself may be all that this may be.
            for other in pending.borrow_mut().split_off(begin) {
                *known.borrow_mut().entry(other).or_default() |= found;
                open.borrow_mut().remove(&other);
            }
            open.borrow_mut().remove(&place);
            lowest.set(above);
        }
        known.borrow_mut().insert(place, found);
        found
    }

    /// What a part of a value may be that comes from nowhere else.
    fn of_part(&self, origin: &Origin<'t>) -> Kinds {
        let id = origin.place.id;
        let file = self.origins.files()[origin.place.file];
        let index = &file.index;
        let first = || index.arguments(id).positional().next();
        if origin.parts().iter().any(|part| matches!(part, Part::Attribute("shape"))) {
            return Kinds::PLAIN;
        }
        match (called_name(index, id), origin.parts()) {
            (Some("range" | "trange" | "count"), [Part::Any]) => Kinds::NUMBER,
            (Some("enumerate"), [Part::Item("0"), Part::Any]) => Kinds::NUMBER,
            (None, [Part::Attribute(_)]) if file.names.stands_for(index, id, "math") => Kinds::NUMBER,
            (Some("parse_args"), [Part::Attribute(_)]) => Kinds::NUMBER | Kinds::PLAIN | Kinds::TEXT,
            (Some("tqdm"), [.., Part::Any]) => first().map_or(Kinds::UNKNOWN, |iterated| {
                let of = self.origins.origins_of(origin.of(iterated));
                of.iter().fold(Kinds::default(), |all, origin| {
                    all | if origin.is_whole() { self.kinds(origin.place) } else { self.of_part(origin) }
                })
            }),
            (_, parts) if parts.iter().all(|part| !matches!(part, Part::Attribute(_))) => {
                let whole = self.kinds(origin.place).each().map(|kind| match kind {
                    Kinds::MASK => Kinds::MASK | Kinds::UNKNOWN,
                    Kinds::TENSOR => kind,
                    _ => Kinds::UNKNOWN,
                });
                whole.fold(Kinds::default(), BitOr::bitor)
            }
            _ => Kinds::UNKNOWN,
        }
    }

    /// What an expression may be that gets its value from nowhere else.
    fn of_expression(&self, place: Place) -> Kinds {
        let (k, file) = (kinds(), self.origins.files()[place.file]);
        let (index, id) = (&file.index, place.id);
        let of = |id: Id| self.kinds(Place { id, ..place });
        let kind = index.kind(id);
        if [k.integer, k.float].contains(&kind) {
            return Kinds::NUMBER;
        }
        if [k.string, k.concatenated_string].contains(&kind) {
            return Kinds::TEXT;
        }
        let collections = [k.list, k.tuple, k.dictionary, k.set, k.list_comprehension, k.dictionary_comprehension];
        if collections.contains(&kind) || [k.none, k.r#true, k.r#false, k.not_operator].contains(&kind) {
            return Kinds::PLAIN;
        }
        if kind == k.comparison_operator {
            return self.of_comparison(place);
        }
        if kind == k.unary_operator {
            let operand = index.parts(id).next().map_or(Kinds::UNKNOWN, of);
            let is_truth = index.text_of(id).starts_with('~') && !operand.is_of_python();
            return if is_truth { Kinds::MASK.made_of(operand) } else { operand };
        }
        if kind == k.binary_operator {
            return match index.parts(id).collect::<Vec<_>>()[..] {
                [left, right] => arithmetic(index.between(left, right), of(left), of(right)),
                _ => Kinds::UNKNOWN,
            };
        }
        if kind == k.call {
            return self.of_call(place);
        }
        if kind == k.subscript {
            // A slice.
            return index.value(id).map_or(Kinds::UNKNOWN, of);
        }
        match file.function_of(id).filter(|function| self.counts(place.file, *function, id)) {
            Some(_) => Kinds::NUMBER,
            None => annotated(file, id),
        }
    }

    /// Whether an identifier is the parameter of a function that callers, who are not seen, give the number of an iteration.
    fn counts(&self, file: usize, function: Id, id: Id) -> bool {
        let file = self.origins.files()[file];
        let name = file.index.text_of(id);
        let mut parameters = file.index.function(function).into_iter().flat_map(|function| function.parameters());
        parameters.any(|p| p.name == name && file.index.is_within(id, p.id))
            && self.counted.contains(file.path, function, name)
    }

    fn of_comparison(&self, place: Place) -> Kinds {
        let index = &self.origins.files()[place.file].index;
        let parts: Vec<Id> = index.parts(place.id).collect();
        let compares = |pair: &[Id]| matches!(index.between(pair[0], pair[1]), "==" | "!=" | "<" | "<=" | ">" | ">=");
        let operands: Vec<Kinds> = parts.iter().map(|id| self.kinds(Place { id: *id, ..place })).collect();
        let is_plain = operands.iter().any(|kinds| kinds.is(Kinds::TEXT))
            || operands.iter().all(|kinds| kinds.is_of_python())
            || !parts.windows(2).all(compares);
        let all = operands.into_iter().fold(Kinds::default(), BitOr::bitor);
        if is_plain { Kinds::PLAIN } else { Kinds::MASK.made_of(all) }
    }

    fn of_call(&self, place: Place) -> Kinds {
        let (file, id) = (self.origins.files()[place.file], place.id);
        let index = &file.index;
        let of = |id: Id| self.kinds(Place { id, ..place });
        let Some(name) = called_name(index, id) else { return Kinds::UNKNOWN };
        let arguments: Vec<Id> = index.arguments(id).ids().collect();
        let qualified = index.callee(id).and_then(|callee| file.names.qualify(index, callee)).unwrap_or_default();
        let module = |name: &str| qualified.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        let receiver = index.receiver(id);
        let is_method = receiver.is_some() && qualified.is_empty();
        if !is_method && name == "len" {
            return Kinds::NUMBER;
        }
        if is_method && name == "size" {
            return Kinds::PLAIN;
        }
        if !is_method && name == "str" {
            return Kinds::TEXT;
        }
        let may_be_number = is_of_numbers(name) && module("torch").is_none() || module("math").is_some();
        // What depends on itself has no kind yet.
        let is_number = |id: &Id| of(*id) == Kinds::default() || of(*id).is_number();
        if !is_method && may_be_number && !arguments.is_empty() && arguments.iter().all(is_number) {
            return Kinds::NUMBER;
        }
        if module("numpy").is_some_and(|name| NUMPY_FLOAT64.contains(&name)) {
            // With a type, it may be another one.
            let types = ["float", "int", "bool", "complex", "type"];
            let is_plain = |id: &Id| types.iter().all(|word| !index.text_of(*id).contains(word));
            let is_float64 = !arguments.is_empty() && arguments.iter().all(is_plain);
            return if is_float64 { Kinds::FLOAT64 } else { Kinds::UNKNOWN };
        }
        let is_bool = |id: &Id| file.names.stands_for(index, *id, "torch.bool");
        let cast = index.arguments(id).keyword("dtype").into_iter().chain(index.arguments(id).positional());
        if receiver.is_some() && (TRUTH_FUNCTIONS.contains(&name) || cast.into_iter().any(|id| is_bool(&id))) {
            let by_torch = module("torch").is_some();
            return if by_torch { Kinds::HOST_MASK } else { Kinds::MASK.made_of(receiver.map_or(Kinds::UNKNOWN, of)) };
        }
        if let Some(function) = module("torch") {
            let is_fixed = index.arguments(id).keyword("requires_grad").is_none();
            return if is_fixed && makes_tensor(function) { Kinds::TENSOR } else { Kinds::UNKNOWN };
        }
        if !is_method {
            return Kinds::UNKNOWN;
        }
        // `x.float()` is a tensor of another type.
        let gives_tensor = matches!(name, "float" | "int") || !CALLS_WITHOUT_TENSOR.contains(&name);
        let kept = receiver.map_or(Kinds::UNKNOWN, of).each().map(|kind| match (kind, name) {
            (Kinds::MASK, _) if TRUTH_KEPT.contains(&name) => kind,
            (Kinds::FLOAT64, "reshape" | "copy" | "transpose") => kind,
            (Kinds::TENSOR, _) if gives_tensor && name != "requires_grad_" => kind,
            _ => Kinds::UNKNOWN,
        });
        kept.fold(Kinds::default(), BitOr::bitor)
    }
}

/// What a parameter may be, by its annotation.
fn annotated(file: &PythonFile<'_>, id: Id) -> Kinds {
    let typed = file.index.parent(id).and_then(|parameter| file.index.field(parameter, fields().r#type));
    match typed.map(|annotation| file.index.text_of(annotation)) {
        Some("int" | "float") => Kinds::NUMBER,
        Some("bool") => Kinds::PLAIN,
        Some("str") => Kinds::TEXT,
        _ => Kinds::UNKNOWN,
    }
}

/// Python's functions of numbers, some of which accept no tensor of a compiled step.
pub(crate) fn is_of_numbers(name: &str) -> bool {
    matches!(name, "min" | "max" | "abs" | "float" | "int" | "round")
}

/// Whether a function of PyTorch returns a tensor, judging by its name.
fn makes_tensor(name: &str) -> bool {
    let name = ["nn.functional.", "linalg.", "special."].iter().find_map(|m| name.strip_prefix(m)).unwrap_or(name);
    let is_class = name.starts_with(char::is_uppercase) && !name.ends_with("Tensor");
    !name.contains('.') && !is_class && !TORCH_WITHOUT_TENSOR.contains(&name)
}
