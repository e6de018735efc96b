//! Scopes, what binds a name in each, and names that are read without a value.
//!
//! Scopes are Python's: modules, classes, functions, lambdas and comprehensions. Execution is not followed, only the
//! text, so a name that one of two branches binds counts as bound.

use crate::tree::{Id, Index, Kinds, ROOT, fields, kinds};
use rustc_hash::FxHashMap;

/// A name that is read where it has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unbound<'t> {
    /// The name.
    pub name: &'t str,
    /// Where it is read.
    pub id: Id,
    /// Whether it is bound further down in the same scope; else it is bound nowhere.
    pub early: bool,
}

/// Python's built-in names; exceptions and warnings are recognised by their suffixes.
const BUILT_IN: &str = " abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile \
    complex delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help \
    hex id input int isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print \
    property quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip \
    KeyboardInterrupt StopIteration StopAsyncIteration GeneratorExit SystemExit NotImplemented Ellipsis ExceptionGroup \
    get_ipython ";

fn is_built_in(name: &str) -> bool {
    (name.starts_with("__") && name.ends_with("__"))
        || ["Error", "Exception", "Warning"].iter().any(|end| name.ends_with(end))
        || (BUILT_IN.contains(name) && BUILT_IN.contains(&format!(" {name} ")))
}

/// Every name of the text that is read without a value, in the order of the text.
pub fn unbound<'t>(index: &Index<'t>) -> Vec<Unbound<'t>> {
    let text = Text::walked(index);
    text.reads.iter().filter_map(|(id, scope)| text.missing(*id, *scope)).collect()
}

/// An identifier that binds a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The identifier.
    pub id: Id,
    /// The byte from which on the name has this value.
    pub from: usize,
}

/// The scopes of a file.
pub struct Scopes<'t> {
    scopes: Vec<Scope<'t>>,
    /// Names that are read, with the scope around each, in the order of the text.
    reads: Vec<(Id, usize)>,
}

impl<'t> Scopes<'t> {
    /// Reads the scopes of a file.
    pub fn of(index: &Index<'t>) -> Self {
        let Text { scopes, reads, .. } = Text::walked(index);
        Self { scopes, reads }
    }

    /// What binds a name that is read, in the scope that the name belongs to; none for a name without a scope.
    pub fn bindings(&self, index: &Index<'t>, read: Id) -> &[Bound] {
        let Ok(at) = self.reads.binary_search_by_key(&read, |(id, _)| *id) else { return &[] };
        self.bindings_in(index, index.text_of(read), self.reads[at].1)
    }

    /// Every name that a scope binds, with what binds it, and whether it is an attribute then, of the module or of a class.
    pub fn bound(&self, index: &Index<'t>) -> impl Iterator<Item = (&'t str, &[Bound], bool)> {
        self.scopes.iter().flat_map(move |scope| {
            let is_visible = scope.outer.is_none() || index.kind(scope.owner) == kinds().class_definition;
            scope.bound.iter().map(move |(name, bound)| (*name, bound.as_slice(), is_visible))
        })
    }

    /// What binds a name at the top level.
    pub fn top(&self, name: &str) -> &[Bound] {
        self.scopes[0].bound.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether an identifier is a name that is read, rather than bound or the name of an attribute.
    pub fn reads(&self, id: Id) -> bool {
        self.reads.binary_search_by_key(&id, |(id, _)| *id).is_ok()
    }

    /// The names that code at a place can read, those of the innermost scope first, with what binds each.
    pub fn visible(&self, index: &Index<'t>, at: Id) -> Vec<(&'t str, &[Bound])> {
        let mut names = Vec::new();
        for scope in self.around(index, at) {
            let mut of_scope: Vec<(&str, &[Bound])> =
                scope.bound.iter().map(|(name, bound)| (*name, bound.as_slice())).collect();
            of_scope.retain(|(name, _)| !names.iter().any(|(seen, _)| seen == name));
            sorting::by_key(&mut of_scope, |(_, bound)| bound[0].id);
            names.extend(of_scope);
        }
        names
    }

    /// What binds a name for code at a place.
    pub fn visible_name(&self, index: &Index<'t>, name: &str, at: Id) -> &[Bound] {
        self.around(index, at).find_map(|scope| scope.bound.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The scopes whose names code at a place can read.
    fn around(&self, index: &Index<'t>, at: Id) -> impl Iterator<Item = &Scope<'t>> {
        let number = |owner: Id| self.scopes.binary_search_by_key(&owner, |scope| scope.owner).ok();
        let inner = index.ancestors(at).find_map(number).unwrap_or(0);
        let outer = std::iter::successors(self.scopes[inner].outer, |scope| self.scopes[*scope].outer);
        let is_class = |scope: &usize| index.kind(self.scopes[*scope].owner) == kinds().class_definition;
        std::iter::once(inner).chain(outer.filter(move |scope| !is_class(scope))).map(|scope| &self.scopes[scope])
    }

    fn bindings_in(&self, index: &Index<'t>, name: &str, scope: usize) -> &[Bound] {
        let (mut at, mut is_first) = (Some(scope), true);
        while let Some(Scope { owner, outer, bound, .. }) = at.map(|at| &self.scopes[at]) {
            let is_class = index.kind(*owner) == kinds().class_definition;
            if let Some(bound) = bound.get(name).filter(|_| !is_class || is_first) {
                return bound;
            }
            (at, is_first) = (*outer, false);
        }
        &[]
    }
}

/// One scope: its owner, the scope around it, what binds each name, and where it is first bound.
struct Scope<'t> {
    owner: Id,
    outer: Option<usize>,
    names: FxHashMap<&'t str, usize>,
    bound: FxHashMap<&'t str, Vec<Bound>>,
    /// Names of `global` and `nonlocal`.
    elsewhere: Vec<&'t str>,
}

impl Scope<'_> {
    fn new(owner: Id, outer: Option<usize>) -> Self {
        Self { owner, outer, names: FxHashMap::default(), bound: FxHashMap::default(), elsewhere: Vec::new() }
    }
}

/// The occurrence of an identifier in its scope.
enum Role {
    Read,
    Label,
    /// It is bound from this byte on.
    Bound(usize),
    /// It is read first.
    Changed(usize),
    Parameter,
    Declared,
}

struct Text<'i, 't> {
    index: &'i Index<'t>,
    k: &'static Kinds,
    scopes: Vec<Scope<'t>>,
    reads: Vec<(Id, usize)>,
}

impl<'i, 't> Text<'i, 't> {
    fn walked(index: &'i Index<'t>) -> Self {
        let mut text = Text { index, k: kinds(), scopes: vec![Scope::new(ROOT, None)], reads: Vec::new() };
        text.walk();
        text
    }

    fn walk(&mut self) {
        let (k, f, index) = (self.k, fields(), self.index);
        let comprehensions =
            [k.list_comprehension, k.set_comprehension, k.dictionary_comprehension, k.generator_expression];
        let definitions = [k.function_definition, k.class_definition, k.lambda];
        // Open scopes with the node after each.
        let mut open: Vec<(usize, Id)> = vec![(0, index.items.len() as Id)];
        // Scopes of definitions whose bodies are still to be read.
        let mut coming: FxHashMap<Id, usize> = FxHashMap::default();
        for id in 0..index.items.len() as Id {
            while open.len() > 1 && open.last().is_some_and(|(_, end)| *end <= id) {
                open.pop();
            }
            let item = index.item(id);
            let scope = open.last().map_or(0, |(scope, _)| *scope);
            if definitions.contains(&item.kind) || comprehensions.contains(&item.kind) {
                self.scopes.push(Scope::new(id, Some(scope)));
                let new = self.scopes.len() - 1;
                if comprehensions.contains(&item.kind) {
                    open.push((new, item.next));
                } else {
                    coming.insert(id, new);
                }
            }
            if item.field == f.body
                && let Some(inner) = coming.get(&item.parent)
            {
                open.push((*inner, item.next));
            }
            if item.kind != k.identifier {
                continue;
            }
            // A lambda's body may be a name.
            let scope = open.last().map_or(0, |(scope, _)| *scope);
            let name = index.text_of(id);
            match self.role(id) {
                Role::Label => {}
                Role::Read => self.reads.push((id, scope)),
                Role::Bound(from) => self.bind(scope, id, name, from),
                Role::Changed(from) => {
                    self.reads.push((id, scope));
                    self.bind(scope, id, name, from);
                }
                Role::Parameter => {
                    let owner = index.ancestors(id).find(|a| definitions.contains(&index.kind(*a)));
                    if let Some(scope) = owner.and_then(|owner| coming.get(&owner)) {
                        self.scopes[*scope].names.insert(name, 0);
                        self.scopes[*scope].bound.entry(name).or_default().push(Bound { id, from: 0 });
                    }
                }
                Role::Declared => {
                    self.scopes[scope].elsewhere.push(name);
                    // The time of execution depends on the caller.
                    self.scopes[0].names.entry(name).or_insert(0);
                }
            }
        }
    }

    fn bind(&mut self, scope: usize, id: Id, name: &'t str, from: usize) {
        let k = self.k;
        let mut scope = scope;
        // `:=` binds outside the comprehension that contains it.
        let parent = self.index.parent(id);
        if parent.is_some_and(|p| self.index.kind(p) == k.named_expression) {
            while self.is_comprehension(scope)
                && let Some(outer) = self.scopes[scope].outer
            {
                scope = outer;
            }
        }
        if self.scopes[scope].elsewhere.contains(&name) {
            self.scopes[0].bound.entry(name).or_default().push(Bound { id, from });
            return;
        }
        self.scopes[scope].bound.entry(name).or_default().push(Bound { id, from });
        let first = self.scopes[scope].names.entry(name).or_insert(from);
        *first = from.min(*first);
    }

    fn is_comprehension(&self, scope: usize) -> bool {
        let (k, kind) = (self.k, self.index.kind(self.scopes[scope].owner));
        [k.list_comprehension, k.set_comprehension, k.dictionary_comprehension, k.generator_expression].contains(&kind)
    }

    fn role(&self, id: Id) -> Role {
        let (k, f, index) = (self.k, fields(), self.index);
        let Some(parent) = index.parent(id) else { return Role::Read };
        let (kind, item) = (index.kind(parent), index.item(id));
        let here = Role::Bound(item.end);
        if index.is_label(id) || kind == k.keyword_pattern {
            return Role::Label;
        }
        if kind == k.dotted_name {
            return self.role_in_dotted_name(id, parent);
        }
        if kind == k.aliased_import || kind == k.splat_pattern || kind == k.type_parameter {
            return here;
        }
        if [k.function_definition, k.class_definition].contains(&kind) && item.field == f.name {
            return Role::Bound(index.item(parent).start);
        }
        if kind == k.named_expression && item.field == f.name {
            return Role::Bound(index.item(parent).end);
        }
        if [k.global_statement, k.nonlocal_statement].contains(&kind) {
            return Role::Declared;
        }
        if kind == k.except_clause && item.field == f.alias {
            return here;
        }
        let case = |id: Id| index.parent(id).is_some_and(|p| index.kind(p) == k.case_pattern);
        if kind == k.as_pattern && case(parent) {
            return here;
        }
        let parameters = [k.parameters, k.lambda_parameters];
        let is_parameter = |at: Id| index.parent(at).is_some_and(|p| parameters.contains(&index.kind(p)));
        let splat = [k.list_splat_pattern, k.dictionary_splat_pattern].contains(&kind);
        let in_parameter = parameters.contains(&kind)
            || ([k.default_parameter, k.typed_default_parameter].contains(&kind) && item.field == f.name)
            || (kind == k.typed_parameter && index.children(parent).next() == Some(id))
            || (splat
                && (is_parameter(parent)
                    || index.parent(parent).is_some_and(|p| {
                        index.kind(p) == k.typed_parameter && index.children(p).next() == Some(parent)
                    })));
        if in_parameter {
            return Role::Parameter;
        }
        // `a, (b, *c) = …`: the whole pattern is on the left.
        let patterns = [
            k.pattern_list,
            k.tuple_pattern,
            k.list_pattern,
            k.list_splat_pattern,
            k.list_splat,
            k.tuple,
            k.list,
            k.parenthesized_expression,
        ];
        let mut whole = id;
        while let Some(around) = index.parent(whole).filter(|p| patterns.contains(&index.kind(*p))) {
            whole = around;
        }
        let Some(holder) = index.parent(whole) else { return Role::Read };
        let (holder_kind, left) = (index.kind(holder), index.item(whole).field == f.left);
        if holder_kind == k.as_pattern_target || whole != id && is_parameter(whole) {
            return here;
        }
        if left && [k.for_statement, k.for_in_clause].contains(&holder_kind) {
            return here;
        }
        if left && holder_kind == k.assignment {
            return Role::Bound(index.item(holder).end);
        }
        if left && holder_kind == k.augmented_assignment {
            return Role::Changed(index.item(holder).end);
        }
        Role::Read
    }

    /// Names in imports, and in the patterns of `case`, which bind.
    fn role_in_dotted_name(&self, id: Id, dotted: Id) -> Role {
        let (k, f, index) = (self.k, fields(), self.index);
        let Some(owner) = index.parent(dotted) else { return Role::Read };
        let (kind, field) = (index.kind(owner), index.item(dotted).field);
        let first = index.children(dotted).next() == Some(id);
        let end = index.item(owner).end;
        if kind == k.import_statement {
            return if first { Role::Bound(end) } else { Role::Label };
        }
        if kind == k.import_from_statement || kind == k.future_import_statement {
            return if first && field == f.name { Role::Bound(end) } else { Role::Label };
        }
        if kind == k.aliased_import {
            return Role::Label;
        }
        let plain = index.children(dotted).count() == 1;
        match (plain, first) {
            (true, _) => Role::Bound(index.item(id).end),
            (false, true) => Role::Read,
            (false, false) => Role::Label,
        }
    }

    fn missing(&self, id: Id, scope: usize) -> Option<Unbound<'t>> {
        let (k, index) = (self.k, self.index);
        let name = index.text_of(id);
        // Whether the code runs in order, rather than when something calls it.
        let mut at_once = true;
        let mut at = Some(scope);
        let mut in_class = true;
        while let Some(scope) = at {
            let Scope { owner, outer, names, .. } = &self.scopes[scope];
            let kind = index.kind(*owner);
            let is_class = kind == k.class_definition;
            if let Some(from) = names.get(name).filter(|_| !is_class || in_class) {
                let checked = *owner == ROOT || kind == k.function_definition;
                let early = checked && at_once && *from > index.item(id).end && !(*owner == ROOT && is_built_in(name));
                return (early && !self.is_annotation(id)).then_some(Unbound { name, id, early: true });
            }
            in_class &= self.is_comprehension(scope);
            at_once &= is_class || (self.is_comprehension(scope) && kind != k.generator_expression);
            at = *outer;
        }
        (!is_built_in(name)).then_some(Unbound { name, id, early: false })
    }

    /// Whether a node is part of an annotation, which may never be evaluated.
    fn is_annotation(&self, id: Id) -> bool {
        let index = self.index;
        index.ancestors(id).take_while(|a| index.kind(*a) != self.k.block).any(|a| index.kind(a) == self.k.r#type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    /// The names without a value, each with `^` if it is bound further down.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let tree = Tree::parse(text);
        assert!(!tree.has_error(), "{text}");
        let index = tree.index();
        let found = unbound(&index);
        let found: Vec<String> =
            found.iter().map(|u| format!("{}{}", u.name, if u.early { "^" } else { "" })).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_nothing_binds() {
        check("print(a, b.c, f(d=e))\n", &["a", "b", "f", "e"]);
        check("import a.b as c, d.e\nfrom f import g as h, i\nc, d, h, i, a, f\n", &["a", "f"]);
        check("def f(a, *b, c: T = D, **d):\n    return a, b, c, d, e\n", &["T", "D", "e"]);
        check("f = lambda a, *b: (a, b, c)\n", &["c"]);
        check("x = [a for a in y if (z := a)]\nz, a\n", &["y", "a"]);
        check("class A:\n    x = 1\n    y = x\n    def f(self):\n        return x\n", &["x"]);
        check("def f():\n    global g\n    g = 1\ng\n", &[]);
        check("with a as (b, c), d:\n    b, c\n", &["a", "d"]);
        check("try:\n    pass\nexcept E as e:\n    e\n", &["E"]);
        check(
            "match x:\n    case {'a': b, **c} | [b, *c] as d:\n        b, c, d\n    case K(u=v):\n        v\n",
            &["x"],
        );
        check("(a, [b, *c]), d.e = x\na, b, c\n", &["d", "x"]);
        check("f'{a}'\n", &["a"]);
    }

    #[test]
    fn what_is_bound_too_late() {
        check("x = os.getcwd()\nimport os\n", &["os^"]);
        check("def f():\n    return os\nimport os\n", &[]);
        check("def f():\n    y = x\n    x = 1\n", &["x^"]);
        // On the first iteration, even if later ones have a value.
        check("def f():\n    for i in r:\n        if i:\n            y = x\n        x = 1\n", &["r", "x^"]);
        check("class A(B):\n    c = d\nB = d = 1\n", &["B^", "d^"]);
        check("n += 1\n", &["n^"]);
        check("print(1)\nprint = 2\n", &[]);
        check("x: A = 1\nclass A: pass\n", &[]);
        check("a = [os for i in range(3)]\nb = (os for i in range(3))\nimport os\n", &["os^"]);
    }
}
