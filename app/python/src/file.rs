//! A parsed file, and how its definitions, statements and calls are found.

use crate::layout::Layout;
use crate::names::{Names, Packages, called_name};
use crate::tree::{Id, Index, ROOT, Tree, fields, kinds};
use rustc_hash::{FxHashMap, FxHashSet};
use sorting::SortedMap;
use std::cell::RefCell;

/// A parsed file: its nodes, the meanings of its names, and its layout.
pub struct PythonFile<'t> {
    /// The path, as it was passed.
    pub path: &'t str,
    /// Its nodes.
    pub index: Index<'t>,
    /// The meanings of its names.
    pub names: Names,
    /// Its layout.
    pub layout: Layout,
    words: FxHashMap<&'t str, Vec<Id>>,
    /// Names that the module assigns, with the end of the first assignment.
    top_names: SortedMap<&'t str, usize>,
    calls: FxHashMap<&'t str, Vec<Id>>,
    /// Names of its classes and functions.
    definitions: FxHashSet<&'t str>,
    /// Where functions first bind names, as far as that was asked; each name by its first identifier.
    bound: RefCell<FxHashMap<(Id, Id), Option<usize>>>,
}

impl<'t> PythonFile<'t> {
    /// Reads a parsed text.
    pub fn read(path: &'t str, tree: &'t Tree) -> Self {
        Self::read_with(path, tree, &Packages::default())
    }

    /// Reads a parsed text that imports these packages from other files.
    pub fn read_with(path: &'t str, tree: &'t Tree, packages: &Packages) -> Self {
        let index = tree.index();
        let names = Names::collect(&index, packages);
        let k = kinds();
        let mut words: FxHashMap<&str, Vec<Id>> = FxHashMap::default();
        for &id in index.of_kind(k.identifier) {
            words.entry(index.text_of(id)).or_default().push(id);
        }
        let mut calls: FxHashMap<&str, Vec<Id>> = FxHashMap::default();
        for &call in index.of_kind(k.call) {
            if let Some(name) = called_name(&index, call) {
                calls.entry(name).or_default().push(call);
            }
        }
        let definitions = [k.class_definition, k.function_definition].into_iter().flat_map(|kind| index.of_kind(kind));
        let definitions = definitions.map(|id| index.field(*id, fields().name).map_or("", |name| index.text_of(name)));
        let definitions = definitions.collect();
        let mut top_names: Vec<(&str, usize)> = Vec::new();
        for assignment in index.assignments() {
            let is_inner = |a: Id| [k.function_definition, k.class_definition].contains(&index.kind(a));
            let targets =
                if index.ancestors(assignment.id()).any(is_inner) { Vec::new() } else { assignment.targets() };
            let end = index.item(assignment.id()).end;
            top_names.extend(targets.into_iter().map(|target| (index.text_of(target), end)));
        }
        for binding in names.bindings.iter().filter(|b| b.scope.is_none()) {
            // The name as a slice of the text, which lives as long as the tree.
            let end = index.item(binding.statement).end;
            let within = index.text_of(binding.part);
            if let Some(at) = within.rfind(binding.local.as_str()) {
                top_names.push((&within[at..at + binding.local.len()], end));
            }
        }
        // The first binding of each name.
        let top_names = top_names.into_iter().rev().collect();
        let bound = RefCell::default();
        Self { path, layout: Layout::read(&index), words, top_names, calls, definitions, bound, index, names }
    }

    /// Whether an identifier of that text is anywhere in the file.
    pub fn has_word(&self, word: &str) -> bool {
        // `import torch.cuda.amp` has its parts as one dotted name of identifiers, so they are all here.
        self.words.contains_key(word)
    }

    /// The first of these names that does not occur in the file, or otherwise the last of them with a number appended.
    pub fn free_name(&self, names: &[&str]) -> String {
        let last = names.last().copied().unwrap_or("name");
        let numbered = (2..).map(|n| format!("{last}{n}"));
        let mut names = names.iter().map(|name| (*name).to_owned()).chain(numbered);
        names.find(|name| !self.has_word(name)).unwrap_or_default()
    }

    /// The identifiers of that text, in its order.
    pub fn identifiers(&self, name: &str) -> &[Id] {
        self.words.get(name).map_or(&[], Vec::as_slice)
    }

    /// Every identifier of the file, by its text.
    pub fn words(&self) -> impl Iterator<Item = (&'t str, &[Id])> {
        self.words.iter().map(|(word, ids)| (*word, ids.as_slice()))
    }

    /// Whether the module binds a name: before an offset, or anywhere when a function reads it later.
    pub fn binds_at_top(&self, name: &str, at: usize, in_function: bool) -> bool {
        self.top_names.get(name).is_some_and(|end| in_function || *end <= at)
    }

    /// Calls by the last name of their function.
    pub fn calls(&self, name: &str) -> &[Id] {
        self.calls.get(name).map_or(&[], Vec::as_slice)
    }

    /// All calls with the last name of their function, by that name.
    pub fn calls_by_name(&self) -> impl Iterator<Item = (&'t str, &[Id])> {
        self.calls.iter().map(|(name, calls)| (*name, calls.as_slice()))
    }

    /// The calls of that name inside a node.
    pub fn calls_in(&self, name: &str, within: Id) -> &[Id] {
        self.index.within(self.calls(name), within)
    }

    /// Leaves calls out of those of a name.
    pub fn forget_calls(&mut self, name: &str, forgotten: &[Id]) {
        if let Some(calls) = self.calls.get_mut(name) {
            calls.retain(|call| !forgotten.contains(call));
        }
    }

    /// Calls of a function by its own name, or as a method of something that is not a model: `model.train()` is not a
    /// call of a `train`.
    pub fn callers(&self, function: Id) -> impl Iterator<Item = Id> + '_ {
        self.calls(self.name_of(function)).iter().copied().filter(move |call| {
            let owner = self.index.field(*call, fields().function).and_then(|g| self.index.field(g, fields().object));
            owner.is_none_or(|o| {
                let owner = self.index.text_of(o);
                owner == "self"
                    || self.class_of(function).is_some() && !owner.contains("model") && !owner.contains("net")
            })
        })
    }

    /// The qualified name of a call's function, through imports: `torch.optim.SGD`; none if it is not imported.
    pub fn qualified(&self, call: Id) -> Option<String> {
        self.index.call(call)?.qualified(&self.names)
    }

    /// Whether a node is in a `try`.
    pub fn is_tried(&self, id: Id) -> bool {
        self.index.ancestors(id).any(|a| self.index.kind(a) == kinds().try_statement)
    }

    /// The innermost function around a node.
    pub fn function_of(&self, id: Id) -> Option<Id> {
        Some(self.index.item(id).function).filter(|function| *function != ROOT)
    }

    /// The innermost class around a node.
    pub fn class_of(&self, id: Id) -> Option<Id> {
        self.index.ancestors(id).find(|a| self.index.kind(*a) == kinds().class_definition)
    }

    /// The name of a function or a class.
    pub fn name_of(&self, definition: Id) -> &'t str {
        self.index.field(definition, fields().name).map_or("", |n| self.index.text_of(n))
    }

    /// Whether the file has a class or a function of that name.
    pub fn defines(&self, name: &str) -> bool {
        self.definitions.contains(name)
    }

    /// Whether something is assigned to a name, with exactly this spelling.
    pub fn assigns(&self, name: &str) -> bool {
        self.index.assignments_to(name).next().is_some()
    }

    /// The statement that contains a node: the child of a block or of the module.
    pub fn statement_of(&self, id: Id) -> Option<Id> {
        Some(self.index.item(id).statement).filter(|statement| *statement != ROOT)
    }

    /// The quote for a string in place of a node: that of the string which it is, the other one inside an f-string, as every
    /// Python 3 accepts it, else the file's.
    pub fn quote_at(&self, node: Id) -> char {
        let (k, index) = (kinds(), &self.index);
        let quote_of = |s: Id| index.text_of(s).chars().find(|c| *c == '"' || *c == '\'');
        if let Some(own) = Some(node).filter(|n| index.kind(*n) == k.string).and_then(quote_of) {
            return own;
        }
        let statement = self.statement_of(node).unwrap_or(node);
        let formats = !index.of_kind_in(k.interpolation, statement).is_empty();
        let mut around = index.ancestors(node).take_while(|a| formats && index.kind(*a) != k.block);
        match around.find(|a| index.kind(*a) == k.string).and_then(quote_of) {
            Some('"') => '\'',
            Some(_) => '"',
            None => self.layout.quote,
        }
    }

    /// Whether a function binds a name, as a parameter or by assignment.
    pub fn binds(&self, function: Id, name: &str) -> bool {
        self.bound_from(function, name).is_some()
    }

    /// Whether a function has bound a name, as a parameter or by assignment, when it reaches a node of its own.
    pub fn binds_before(&self, function: Id, name: &str, id: Id) -> bool {
        self.bound_from(function, name).is_some_and(|end| end <= self.index.item(id).start)
    }

    /// Where in the text a function first binds a name.
    fn bound_from(&self, function: Id, name: &str) -> Option<usize> {
        let ids = self.identifiers(name);
        let asked = (function, *ids.first()?);
        let known = self.bound.borrow().get(&asked).copied();
        known.unwrap_or_else(|| {
            let found = self.first_bound(function, name, ids);
            self.bound.borrow_mut().insert(asked, found);
            found
        })
    }

    /// The same, of the identifiers with this name.
    fn first_bound(&self, function: Id, name: &str, ids: &[Id]) -> Option<usize> {
        let (k, f) = (kinds(), fields());
        if let Some(parameters) = self.index.field(function, f.parameters) {
            let is_bound = self.index.children(parameters).any(|p| {
                let kind = self.index.kind(p);
                if kind == k.identifier {
                    self.index.text_of(p) == name
                } else {
                    self.index.children(p).next().is_some_and(|n| self.index.text_of(n) == name)
                }
            });
            if is_bound {
                return Some(self.index.item(parameters).end);
            }
        }
        let first = |kind| {
            let mut identifiers = self.index.within(ids, function).iter();
            let statement = identifiers.find_map(|id| {
                let around = std::iter::once(*id).chain(self.index.ancestors(*id)).take_while(|a| *a != function);
                let target = around.into_iter().find(|a| {
                    let holder = self.index.parent(*a).filter(|_| self.index.item(*a).field == f.left);
                    holder.is_some_and(|holder| self.index.kind(holder) == kind)
                })?;
                let holds = self.index.parent(*id).map(|p| self.index.kind(p));
                let is_bound = target == *id || holds != Some(k.attribute) && holds != Some(k.subscript);
                self.index.parent(target).filter(|_| is_bound)
            })?;
            self.index.field(statement, f.right).or(Some(statement))
        };
        let bindings = [k.assignment, k.for_statement].into_iter().filter_map(first);
        bindings.map(|value| self.index.item(value).end).min()
    }
}

#[cfg(test)]
mod tests {
    use super::PythonFile;
    use crate::tree::Tree;

    #[test]
    fn calls_of_a_function_or_a_method() {
        let check = |text: &str, expected: &[&str]| {
            let tree = Tree::parse(text);
            let file = PythonFile::read("a.py", &tree);
            let function = file.index.functions().next().expect("a function").id();
            let found: Vec<&str> = file.callers(function).map(|call| file.index.text_of(call)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("def train(x):\n    pass\ntrain(1)\nmodel.train(2)\nself.train(3)\n", &["train(1)", "self.train(3)"]);
        check("class A:\n    def train(x):\n        pass\na.train(1)\nmodel.train(2)\n", &["a.train(1)"]);
    }

    #[test]
    fn names_that_a_function_binds() {
        let check = |text: &str, binds: bool, before: bool| {
            let tree = Tree::parse(text);
            let file = PythonFile::read("a.py", &tree);
            let function = file.index.functions().next().expect("a function").id();
            let here = *file.calls("here").first().expect("a place");
            assert_eq!((file.binds(function, "a"), file.binds_before(function, "a", here)), (binds, before), "{text}");
        };
        check("def f(a):\n    here()\n", true, true);
        check("def f(*, a=1):\n    here()\n", true, true);
        check("def f():\n    a = 1\n    here()\n", true, true);
        check("def f():\n    here()\n    a = 1\n", true, false);
        check("def f():\n    for b, a in c:\n        here()\n", true, true);
        check("def f():\n    b.a = a\n    here()\n", false, false);
    }

    #[test]
    fn names_that_a_module_binds() {
        let check = |text: &str, at_once: bool, in_function: bool| {
            let tree = Tree::parse(text);
            let file = PythonFile::read("a.py", &tree);
            let here = file.index.item(*file.calls("here").first().expect("a place")).start;
            let binds = |in_function| file.binds_at_top("a", here, in_function);
            assert_eq!((binds(false), binds(true)), (at_once, in_function), "{text}");
        };
        check("a = 1\nhere()\n", true, true);
        check("here()\na = 1\n", false, true);
        check("import a\nhere()\n", true, true);
        check("def f():\n    a = 1\nhere()\n", false, false);
    }

    #[test]
    fn a_name_that_is_free() {
        let tree = Tree::parse("step = 1\nother_step = 2\nother_step2 = 3\n");
        let file = PythonFile::read("a.py", &tree);
        assert_eq!(file.free_name(&["step", "loss"]), "loss");
        assert_eq!(file.free_name(&["step", "other_step"]), "other_step3");
    }
}
