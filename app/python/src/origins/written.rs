//! How a value is written at another place.

use super::bound::{function_around, reaching, steady};
use super::{Origin, Origins, Part, Place, Store, item};
use crate::names::called_name;
use crate::strings::plain_string;
use crate::syntax::Argument;
use crate::tree::{Id, Index, fields, kinds};
use sorting::SortedSet;
use std::fmt::Write;

/// Steps that are followed from a name to what it was given.
const LONGEST: usize = 40;
/// Expressions that are written in place of a name of another one.
const DEEPEST_EXPRESSION: usize = 4;
/// Built-in functions whose result depends on nothing but their arguments.
const PURE: [&str; 6] = ["bool", "float", "int", "max", "min", "round"];

/// Where a value is to be written, and how.
struct At {
    /// The statement that follows.
    id: Id,
    quote: char,
    /// The expressions around it that are written in place of a name.
    steps: usize,
}

impl<'t> Origins<'_, 't> {
    /// How the value of an expression is written just before a statement of the same file, if it certainly is the same there:
    /// in the same words, under another name that was given the same value, or as what it was computed from; with this quote
    /// around keys.
    pub fn written_at(&self, value: Place, at: Id, quote: char) -> Option<String> {
        self.written(value, &At { id: at, quote, steps: 0 })
    }

    fn written(&self, value: Place, at: &At) -> Option<String> {
        let index = &self.file(value).index;
        let mut paths = Vec::new();
        self.paths(value, &mut paths)?;
        let start = index.item(value.id).start;
        let mut text = index.text_of(value.id).to_owned();
        sorting::by_key(&mut paths, |path| std::cmp::Reverse(*path));
        for path in paths {
            let range = index.range(path);
            let written = self.path_at(Place { id: path, ..value }, at)?;
            let is_part = path != value.id && is_composed(&written);
            let written = if is_part { format!("({written})") } else { written };
            text.replace_range(range.start - start..range.end - start, &written);
        }
        Some(text)
    }

    /// The names, with their attributes and items, that an expression reads; none if it may differ each time it is evaluated.
    fn paths(&self, place: Place, found: &mut Vec<Id>) -> Option<()> {
        let (k, f, id) = (kinds(), fields(), place.id);
        let index = &self.file(place).index;
        let kind = index.kind(id);
        if [k.integer, k.float, k.string, k.none, k.r#true, k.r#false].contains(&kind) {
            return index.of_kind_in(k.interpolation, id).is_empty().then_some(());
        }
        if root(index, id).is_some() {
            found.push(id);
            return Some(());
        }
        let composed = [
            k.parenthesized_expression,
            k.unary_operator,
            k.binary_operator,
            k.not_operator,
            k.boolean_operator,
            k.comparison_operator,
        ];
        if composed.contains(&kind) {
            return index.parts(id).try_for_each(|part| self.paths(Place { id: part, ..place }, found));
        }
        let callee = index.callee(id)?;
        // `cfg.get("key", 1)`, `int(…)`
        let of_module = |owner: &Id| self.file(place).names.qualify(index, *owner).is_some();
        let has_key = index.arguments(id).ids().next().is_some_and(|key| plain_string(index, key).is_some());
        let looked_up = index.attribute(callee).filter(|called| called.name() == Some("get") && has_key);
        let looked_up = looked_up.and_then(|called| called.owner()).filter(|owner| !of_module(owner));
        let is_pure = PURE.contains(&index.text_of(callee));
        let is_built_in = || self.scopes[place.file].bindings(index, callee).is_empty();
        if looked_up.is_none() && !(is_pure && is_built_in()) {
            return None;
        }
        let arguments = index.arguments(id).ids().map(|given| index.field(given, f.value).unwrap_or(given));
        looked_up.into_iter().chain(arguments).try_for_each(|part| self.paths(Place { id: part, ..place }, found))
    }

    fn path_at(&self, path: Place, at: &At) -> Option<String> {
        let index = &self.file(path).index;
        let root = root(index, path.id)?;
        if !self.is_unchanged(path, root, at.id) {
            return None;
        }
        if self.is_same_at(path, root, at.id) {
            return Some(index.text_of(path.id).to_owned());
        }
        let chain = self.chain(Origin::new(path));
        let named = self.named_at(path, &chain, at).or_else(|| {
            // The same object.
            let parts = self.parts_in_text(path);
            let of_root = self.chain(Origin::new(Place { id: root, ..path })).into_iter();
            let of_root = of_root
                .map(|value| Origin { parts: parts.iter().rev().chain(&value.parts).copied().collect(), ..value });
            self.named_at(path, &of_root.collect::<Vec<_>>(), at)
        });
        let computed = || {
            let at = At { steps: at.steps + 1, ..*at };
            let mut values = chain.iter().skip(1).filter(|value| value.is_whole() && at.steps < DEEPEST_EXPRESSION);
            values.find_map(|Origin { place, .. }| {
                let index = &self.file(*place).index;
                if is_literal(index, place.id) {
                    return Some(index.text_of(place.id).to_owned());
                }
                let is_computed = place.file == path.file && index.kind(place.id) != kinds().identifier;
                self.written(*place, &at).filter(|_| is_computed)
            })
        };
        named.or_else(computed)
    }

    /// A name, and what is taken out of it, that was given one of these values.
    fn named_at(&self, path: Place, chain: &[Origin<'t>], at: &At) -> Option<String> {
        let index = &self.file(path).index;
        let names = self.scopes[path.file].visible(index, at.id).into_iter().filter_map(|(name, bound)| {
            let reached = reaching(index, at.id, bound, steady(index, bound));
            let [only] = reached[..] else { return None };
            let is_bound = index.item(only).start < index.item(at.id).start;
            is_bound.then(|| (name, self.chain(Origin::new(Place { id: only, ..path }))))
        });
        let meets = names.flat_map(|(name, of_name)| {
            let meeting = chain.iter().enumerate().filter_map(move |(steps, value)| {
                let ends = |other: &&Origin<'t>| other.place == value.place && value.parts.ends_with(&other.parts);
                let same = of_name.iter().find(ends)?;
                Some((steps, value.parts[..value.parts.len() - same.parts.len()].to_vec()))
            });
            meeting.map(move |(steps, rest)| (steps, name, rest)).collect::<Vec<_>>()
        });
        let (_, name, rest) = meets.min_by_key(|(steps, name, _)| (*steps, *name))?;
        parts_of(name, &rest, at.quote)
    }

    /// Whether a path has the same value, in the same words, at another place of its file.
    fn is_same_at(&self, path: Place, root: Id, at: Id) -> bool {
        let file = self.file(path);
        let index = &file.index;
        let scopes = &self.scopes[path.file];
        let bound = scopes.bindings(index, root);
        let start = index.item(at).start;
        let (here, there) = (function_around(index, root), function_around(index, at));
        let class = |function: Option<Id>| self.class_of_method(Place { id: function?, ..path });
        let seen = scopes.visible_name(index, index.text_of(root), at);
        if !std::ptr::eq(seen, bound) {
            // The same attribute of the object, in another of its methods: the constructor sets it, and has done so.
            let is_object = |function: Option<Id>| {
                let first = function.and_then(|f| index.function(f)?.parameters().next());
                first.is_some_and(|first| index.is_text(root, first.name))
            };
            let same_class = class(here).is_some_and(|of| class(there) == Some(of));
            let first = self.parts_in_text(path).first().copied();
            let stores = first.into_iter().flat_map(|part| self.stored(part, std::slice::from_ref(&path.file)));
            let of_object = |object: &Id| {
                index.is_text(*object, index.text_of(root)) && class(function_around(index, *object)) == class(here)
            };
            let stores: Vec<Id> = stores.map(|store| store.object.id).filter(of_object).collect();
            let setters: SortedSet<Option<Id>> = stores.iter().map(|store| function_around(index, *store)).collect();
            let is_set = |store: &Id| {
                let setter = function_around(index, *store);
                if setter == there {
                    return index.item(*store).start < start;
                }
                let name = there.map_or("", |there| file.name_of(there));
                let calls = file.calls(name).iter();
                !calls.into_iter().any(|call| function_around(index, *call) == setter && call < store)
            };
            return same_class
                && is_object(here)
                && is_object(there)
                && setters.len() == 1
                && stores.iter().all(is_set);
        }
        if bound.is_empty() {
            return !file.names.wildcards.is_empty();
        }
        let reached = |at: Id| reaching(index, at, bound, steady(index, bound));
        let (first, second) = (reached(root), reached(at));
        let binders: SortedSet<Option<Id>> = bound.iter().map(|bound| function_around(index, bound.id)).collect();
        let certain = binders.len() == 1 && (second.len() == 1 || here == there || there.is_none());
        let is_bound = |id: &Id| {
            let from = bound.iter().find(|bound| bound.id == *id).map_or(0, |by| by.from);
            if there == function_around(index, *id) {
                return from <= start;
            }
            // The module may call the function before it binds the name.
            let callers = there.map(|id| self.callers(Place { id, ..path }));
            let is_early = |call: &Place| {
                call.file == path.file && function_around(index, call.id).is_none() && index.item(call.id).start < from
            };
            !callers.is_some_and(|callers| callers.iter().any(is_early))
        };
        first == second && certain && second.iter().all(is_bound)
    }

    /// Whether nothing sets an attribute or an item of this name after the place: only constructors do, or the place's own function
    /// above it. An object may have other names, so that of the object counts only where the item is not known.
    fn is_unchanged(&self, path: Place, root: Id, at: Id) -> bool {
        let parts = self.parts_in_text(path);
        if parts.is_empty() {
            return true;
        }
        let chain = self.chain(Origin::new(Place { id: root, ..path }));
        let k = kinds();
        let is_name = |value: &&Origin<'t>| self.file(value.place).index.kind(value.place.id) == k.identifier;
        let names: SortedSet<(usize, &str)> = chain
            .iter()
            .filter(is_name)
            .map(|value| (value.place.file, self.file(value.place).index.text_of(value.place.id)))
            .collect();
        let is_above = |place: Place| {
            let index = &self.file(place).index;
            let same = place.file == path.file && function_around(index, place.id) == function_around(index, at);
            same && index.item(place.id).start < index.item(at).start
        };
        let constructs = |object: Place| {
            let file = self.file(object);
            let function = function_around(&file.index, object.id);
            let first = function.and_then(|f| file.index.function(f)?.parameters().next());
            function.is_some_and(|f| file.name_of(f) == "__init__")
                && first.is_some_and(|first| file.index.is_text(object.id, first.name))
        };
        let all: Vec<usize> = (0..self.files().len()).collect();
        let is_kept = |store: &Store<'t>| {
            let name = self.file(store.object).index.text_of(store.object.id);
            let is_other = store.part == Part::Any && !names.contains(&(store.object.file, name));
            is_other || constructs(store.object) || is_above(store.object)
        };
        // `cfg.update(…)`, `setattr(args, …)`, `vars(args).update(…)`
        let changes = |file: usize, call: Id| {
            let index = &self.files()[file].index;
            let is_statement = index.parent(call).is_some_and(|p| index.kind(p) == k.expression_statement);
            let object = match index.callee(call) {
                Some(callee) if index.is_text(callee, "setattr") => index.arguments(call).ids().next(),
                Some(callee) => index.owner(callee),
                None => None,
            };
            let object = object.filter(|_| is_statement).map_or("", |object| index.text_of(object));
            let bare = object.trim_start_matches("vars(").trim_end_matches(')').trim_end_matches(".__dict__");
            let is_own = bare == object && ["self", "cls"].contains(&object);
            !is_own && names.contains(&(file, bare)) && !is_above(Place { file, id: call })
        };
        let files: SortedSet<usize> = names.iter().map(|(file, _)| *file).collect();
        parts.iter().all(|part| self.stored(*part, &all).all(is_kept))
            && !files
                .into_iter()
                .any(|file| self.files()[file].index.of_kind(k.call).iter().any(|call| changes(file, *call)))
    }

    /// The attributes and items that a path names, from the root on.
    fn parts_in_text(&self, path: Place) -> Vec<Part<'t>> {
        let index = &self.file(path).index;
        let (mut parts, mut at) = (Vec::new(), path.id);
        while let Some((part, owner)) = part_of(index, at) {
            parts.push(part);
            at = owner;
        }
        parts.reverse();
        parts
    }

    /// The one way that a value came, as far as there is only one.
    fn chain(&self, value: Origin<'t>) -> Vec<Origin<'t>> {
        let mut chain = vec![value];
        while let Some(last) = chain.last().filter(|last| chain.len() < LONGEST && !last.parts.contains(&Part::Any)) {
            match self.one_before(last) {
                Some(before) if !chain.contains(&before) => chain.push(before),
                _ => break,
            }
        }
        chain
    }

    fn directly_before(&self, value: &Origin<'t>) -> Option<Vec<Origin<'t>>> {
        let Some(places) = self.passed(value.place) else { return Some(self.assigned(self.before(value)?)) };
        let (function, ..) = self.parameter(value.place)?;
        let name = self.file(value.place).index.text_of(value.place.id);
        let may_be_unpacked = |call: &Place| {
            let arguments = self.file(*call).index.arguments(call.id);
            let unpacks = |given| matches!(given, Argument::Unpacked(_) | Argument::UnpackedTable(_));
            arguments.keyword(name).is_none() && arguments.iter().any(unpacks)
        };
        let is_known = !self.callers(function).iter().any(may_be_unpacked) && !self.is_passed_on(function);
        is_known.then(|| places.iter().map(|place| value.in_file(place.file, place.id)).collect())
    }

    /// What objects keep, in place of attributes of their classes: code can't name an object by its class.
    fn assigned(&self, values: Vec<Origin<'t>>) -> Vec<Origin<'t>> {
        let of_class = |value: &Origin<'t>| {
            let is_class = self.file(value.place).index.kind(value.place.id) == kinds().class_definition;
            if is_class { self.of_instance(value) } else { None }
        };
        values.into_iter().flat_map(|value| of_class(&value).unwrap_or_else(|| vec![value])).collect()
    }

    /// Whether a function is a value somewhere, such as an argument, so that calls of it are not seen.
    fn is_passed_on(&self, function: Place) -> bool {
        let k = kinds();
        let name = self.file(function).name_of(function.id);
        self.files().iter().enumerate().any(|(file, python)| {
            let index = &python.index;
            python.identifiers(name).iter().any(|id| {
                let attribute =
                    index.parent(*id).filter(|p| index.kind(*p) == k.attribute && index.owner(*p) != Some(*id));
                let whole = attribute.unwrap_or(*id);
                let is_read = attribute.is_some() || self.scopes[file].reads(*id);
                let holder = index.parent(whole);
                let is_stored = index.item(whole).field == fields().left;
                is_read && !is_stored && holder.is_none_or(|holder| index.callee(holder) != Some(whole))
            })
        })
    }

    fn one_before(&self, value: &Origin<'t>) -> Option<Origin<'t>> {
        let index = &self.file(value.place).index;
        // `cfg.get("key", 1)` is not `cfg["key"]`.
        if index.kind(value.place.id) == kinds().call && called_name(index, value.place.id) == Some("get") {
            return None;
        }
        let mut before = self.directly_before(value)?;
        // Several calls may pass the same.
        for _ in 0..3 {
            before.iter_mut().for_each(|value| value.key = None);
            before.dedup();
            let literal = |value: &Origin<'t>| {
                let index = &self.file(value.place).index;
                (value.is_whole() && is_literal(index, value.place.id)).then(|| index.text_of(value.place.id))
            };
            if before.first().is_some_and(|first| literal(first).is_some())
                && before.iter().all(|value| literal(value) == literal(&before[0]))
            {
                before.truncate(1);
            }
            if before.len() == 1 {
                break;
            }
            let further: Option<Vec<_>> = before.iter().map(|value| self.directly_before(value)).collect();
            before = further?.into_iter().flatten().collect();
        }
        let [only] = &before[..] else { return None };
        // The result of a function that is called twice may be another one each time.
        let function = function_around(&self.file(only.place).index, only.place.id);
        let is_call = self.file(value.place).index.kind(value.place.id) == kinds().call;
        let enters = is_call
            && (only.place.file != value.place.file
                || function != function_around(&self.file(value.place).index, value.place.id));
        let once = || function.is_none_or(|id| self.callers(Place { id, ..only.place }).len() == 1);
        (!enters || once()).then(|| only.clone())
    }
}

/// `name.attribute["item"]`.
fn parts_of(name: &str, rest: &[Part<'_>], quote: char) -> Option<String> {
    let mut text = name.to_owned();
    for part in rest.iter().rev() {
        let written = match part {
            Part::Attribute(name) => write!(text, ".{name}"),
            Part::Item(place) if place.parse::<usize>().is_ok() => write!(text, "[{place}]"),
            Part::Item(key) => write!(text, "[{quote}{key}{quote}]"),
            Part::Any => return None,
        };
        written.ok()?;
    }
    Some(text)
}

/// The part that an attribute or a subscript with a literal key names, and what it is a part of.
fn part_of<'t>(index: &Index<'t>, id: Id) -> Option<(Part<'t>, Id)> {
    if let Some(attribute) = index.attribute(id) {
        return Some((Part::Attribute(attribute.name()?), attribute.owner()?));
    }
    if index.kind(id) != kinds().subscript {
        return None;
    }
    let key = index.field(id, fields().subscript)?;
    Some((Part::Item(item(index, key)?), index.value(id)?))
}

/// Whether an expression has an operator outside of brackets and strings.
fn is_composed(text: &str) -> bool {
    let (mut depth, mut quote) = (0_usize, None);
    text.chars().any(|c| {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('(' | '[', None) => depth += 1,
            (')' | ']', None) => depth = depth.saturating_sub(1),
            _ => return depth == 0 && (c == ' ' || "+-*/%<>=!&|^~@".contains(c)),
        }
        false
    })
}

/// A number or a truth value.
fn is_literal(index: &Index<'_>, id: Id) -> bool {
    let k = kinds();
    [k.integer, k.float, k.r#true, k.r#false].contains(&index.kind(id))
}

/// The name that a path begins with.
fn root(index: &Index<'_>, id: Id) -> Option<Id> {
    let mut at = id;
    while let Some((_, owner)) = part_of(index, at) {
        at = owner;
    }
    (index.kind(at) == kinds().identifier).then_some(at)
}

#[cfg(test)]
mod tests {
    use crate::file::PythonFile;
    use crate::origins::tests::CONVENTIONS;
    use crate::origins::{Origins, Place};
    use crate::tree::Tree;

    /// How the argument of `here` is written before the statement `there()`.
    #[track_caller]
    fn check(program: &str, expected: Option<&str>) {
        let tree = Tree::parse(program);
        assert!(!tree.has_error(), "{program}");
        let file = PythonFile::read("train.py", &tree);
        let id = file.index.arguments(file.calls("here")[0]).ids().next().expect("a value");
        let at = file.statement_of(file.calls("there")[0]).expect("a place");
        let origins = Origins::of(vec![&file], CONVENTIONS);
        assert_eq!(origins.written_at(Place { file: 0, id }, at, '"').as_deref(), expected, "{program}");
    }

    #[test]
    fn in_the_same_words() {
        check("n = a()\nthere()\nhere(n)\n", Some("n"));
        check("there()\nn = a()\nhere(n)\n", None);
        check("n = a()\nthere()\nn = b()\nhere(n)\n", None);
        check("n = a()\nif n > 1:\n    n = b()\nthere()\nhere(n)\n", Some("n"));
        check("class S:\n    n = 2\nthere()\nhere(S.n)\n", Some("S.n"));
        check("import a\nclass S:\n    n = 2\nthere()\nfor e in r:\n    here(S.n)\n", Some("S.n"));
        check("there()\ndef f():\n    here(n)\nn = 2\n", Some("2"));
        check("n = a()\ndef f():\n    there()\ndef g():\n    here(n)\n", Some("n"));
        check("n = a()\ndef f(n):\n    there()\ndef g():\n    here(n)\n", None);
        check("def f(n):\n    there()\n    here(n)\n", Some("n"));
        check("def f(n):\n    for n in r:\n        here(n)\nthere()\n", None);
        check("for n in r:\n    there()\n    here(n)\n", Some("n"));
        check("import s\nthere()\nhere(s.n)\n", Some("s.n"));
        check("from s import *\nthere()\nhere(n)\n", Some("n"));
        check("o = p()\nthere()\nhere(int(o['n']) * o.get('m', 1) + 2)\n", Some("int(o['n']) * o.get('m', 1) + 2"));
        check("o = p()\nthere()\nhere(o.f())\n", None);
    }

    #[test]
    fn attributes_that_are_set() {
        check("o = p()\no.n = 2\nthere()\nhere(o.n)\n", Some("o.n"));
        check("o = p()\nthere()\no.n = 2\nhere(o.n)\n", None);
        let fit = "def fit(o):\n    here(o.n)\np = q()\n";
        check(&format!("{fit}p.n = max(1, p.n)\nthere()\nfit(p)\n"), Some("p.n"));
        check(&format!("{fit}there()\np.n = max(1, p.n)\nfit(p)\n"), None);
        let class = "class A:\n    def __init__(self, n):\n        BEFORE\n        self.n = n\n        AFTER\n    def f(self):\n        here(self.n)\n    def g(self):\n        IN_G\n";
        let with = |before: &str, after: &str, g: &str| {
            class.replace("BEFORE", before).replace("AFTER", after).replace("IN_G", g)
        };
        check(&with("there()", "pass", "pass"), Some("n"));
        check(&with("pass", "there()", "pass"), Some("self.n"));
        check(&with("pass", "pass", "there()"), Some("self.n"));
        check(&with("self.g()", "pass", "there()"), None);
        check(&with("pass", "pass", "self.n = 3\n        there()"), None);
        check(&format!("o = p()\nthere()\nA(o.n)\n{}", with("pass", "pass", "pass")), Some("o.n"));
        check(&format!("o = p()\nthere()\nA(o.n)\nA(4)\n{}", with("pass", "pass", "pass")), None);
    }

    #[test]
    fn under_another_name() {
        let fit = "def fit(o):\n    here(o.n)\n";
        check(&format!("{fit}p = a()\nthere()\nfit(p)\n"), Some("p.n"));
        check(&format!("{fit}def load(s):\n    there()\np = a()\nload(p)\nfit(p)\nfit(p)\n"), Some("s.n"));
        check(&format!("{fit}def load(s):\n    there()\np = a()\nq = b()\nload(p)\nfit(q)\n"), None);
        check(
            &format!("{fit}def main():\n    p = a()\n    load(p)\n    fit(p)\ndef load(s):\n    there()\n"),
            Some("s.n"),
        );
        check(
            &format!("{fit}def main():\n    p = a()\n    load(p.n)\n    fit(p)\ndef load(s):\n    there()\n"),
            Some("s"),
        );
        check(
            &format!(
                "{fit}def main():\n    p = a()\n    load(p)\n    fit(p)\n    fit(b())\ndef load(s):\n    there()\n"
            ),
            None,
        );
        check(
            &format!(
                "{fit}def main():\n    p, q = a(1), a(2)\n    load(p)\n    fit(q)\ndef load(s):\n    there()\ndef a(x):\n    return open(x)\n"
            ),
            None,
        );
        check(
            "def fit(c):\n    here(c[\"n\"])\ndef load(d):\n    there()\nd = y()\nload(d)\nfit(d)\n",
            Some("d[\"n\"]"),
        );
        check("def fit(n=8):\n    here(n)\nthere()\nfit()\n", Some("8"));
        check("def fit(n=8):\n    here(n)\nthere()\nfit(2)\n", Some("2"));
        check("def fit(n):\n    here(n)\nthere()\nfit(2)\nfit(2)\n", Some("2"));
        check("def fit(n):\n    here(n)\nthere()\nfit(2)\nfit(3)\n", None);
        check("there()\nfor i in r:\n    here(i)\n", None);
    }

    #[test]
    fn calls_that_are_not_seen() {
        let fit = "def fit(n=1):\n    here(n)\nthere()\n";
        check(&format!("{fit}fit()\n"), Some("1"));
        check(&format!("{fit}fit(**o)\n"), None);
        check(&format!("{fit}fit(*o)\n"), None);
        check(&format!("{fit}fit(n=2, **o)\n"), Some("2"));
        check(&format!("{fit}fit()\nrun(fit)\n"), None);
        check(&format!("{fit}fit()\nrun = partial(fit, n=4)\n"), None);
    }

    #[test]
    fn objects_that_are_changed_in_between() {
        let loads = "o = p()\nthere()\n";
        check(&format!("def f(c):\n    c.n = 8\n{loads}f(o)\nhere(o.n)\n"), None);
        check(&format!("{loads}c = o\nc.n = 8\nhere(o.n)\n"), None);
        check(&format!("{loads}o.update(r)\nhere(o['n'])\n"), None);
        check(&format!("{loads}vars(o).update(r)\nhere(o.n)\n"), None);
        check(&format!("{loads}setattr(o, 'n', 2)\nhere(o.n)\n"), None);
        check(&format!("{loads}o[k] = 2\nhere(o['n'])\n"), None);
        check(&format!("{loads}c[k] = 2\nhere(o['n'])\n"), Some("o['n']"));
        check("o = p()\no.update(r)\nthere()\nhere(o['n'])\n", Some("o['n']"));
        check("n = 1\ndef f(v):\n    global n\n    n = v\ndef g():\n    there()\n    f(4)\n    here(n)\n", None);
        check("def f():\n    there()\nf()\nn = q()\ndef g():\n    here(n)\n", None);
    }

    #[test]
    fn as_what_it_was_computed_from() {
        check(
            "def fit(o):\n    n = int(o.get('n', 1))\n    here(n)\np = q()\nthere()\nfit(p)\n",
            Some("int(p.get('n', 1))"),
        );
        check("def fit(o):\n    n = o['n'] // 2\n    here(n)\np = q()\nthere()\nfit(p)\n", Some("p[\"n\"] // 2"));
        check("def fit(o):\n    n = o.get()\n    here(n)\np = q()\nthere()\nfit(p)\n", None);
        check("def fit(o):\n    n = o.get('n', 1)\n    here(n)\np = q()\nthere()\nfit(p)\n", Some("p.get('n', 1)"));
        check("import q\nthere()\nn = q.get('n')\nhere(n)\n", None);
        check(
            "def fit(a, b):\n    n = a + b\n    here(n * 2)\np = q()\nr = s()\nthere()\nfit(p, r)\n",
            Some("(p + r) * 2"),
        );
        check("def fit(o):\n    n = pick(o)\n    here(n)\np = q()\nthere()\nfit(p)\n", None);
    }
}
