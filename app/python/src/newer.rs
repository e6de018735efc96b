//! Code that needs a newer Python than the oldest one that the grammar describes: syntax, types that are evaluated, and
//! names. Which of them a target's Python lacks is not known here.

use crate::compiles::{Rule, refused};
use crate::file::PythonFile;
use crate::names::called_name;
use crate::tree::{Id, fields, kinds};

/// A part of the syntax that older versions of Python do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Syntax {
    Match,
    ExceptGroup,
    /// `def f[T]`, `class A[T]`.
    TypeParameters,
    /// `type A = …`.
    TypeStatement,
    /// `with (a as b, c as d):`.
    BracketedWith,
    /// A decorator other than a dotted name or a call of one.
    AnyDecorator,
    /// The quotes of a formatted string, or a backslash, in the code that it contains.
    NestedQuotes,
    /// `x[*a]`.
    StarredIndex,
    /// `{} | {}`.
    JoinedDictionaries,
}

impl Syntax {
    /// By the words that the guides use for it.
    pub fn parse(words: &str) -> Option<Self> {
        Some(match words {
            "match" => Self::Match,
            "except*" => Self::ExceptGroup,
            "type parameters" => Self::TypeParameters,
            "type statements" => Self::TypeStatement,
            "bracketed with" => Self::BracketedWith,
            "any decorator" => Self::AnyDecorator,
            "nested quotes" => Self::NestedQuotes,
            "starred index" => Self::StarredIndex,
            "joined dictionaries" => Self::JoinedDictionaries,
            _ => return None,
        })
    }

    /// The first place in a file that has it.
    pub fn first(self, file: &PythonFile<'_>) -> Option<Id> {
        let (k, f, index) = (kinds(), fields(), &file.index);
        match self {
            Self::Match => index.of_kind(k.match_statement).first().copied(),
            Self::ExceptGroup => index.of_kind(k.except_clause).iter().copied().find(|id| {
                let rest = index.text_of(*id).strip_prefix("except").unwrap_or_default();
                rest.trim_start().starts_with('*')
            }),
            Self::TypeStatement => index.of_kind(k.type_alias_statement).first().copied(),
            Self::TypeParameters => {
                let has = |id: &Id| index.field(*id, f.type_parameters).is_some();
                let of_kind = |kind: u16| index.of_kind(kind).iter().copied().find(has);
                [k.function_definition, k.class_definition].into_iter().filter_map(of_kind).min()
            }
            Self::BracketedWith => index.with_statements().map(|with| with.id()).find(|with| has_brackets(file, *with)),
            Self::AnyDecorator => index.of_kind(k.decorator).iter().copied().find(|id| !is_plain_decorator(file, *id)),
            Self::NestedQuotes => {
                let nested = || refused(index).into_iter().find(|r| r.rule == Rule::QuoteInFormattedString);
                let found = (!index.of_kind(k.interpolation).is_empty()).then(nested).flatten()?;
                index.of_kind(k.interpolation).iter().copied().find(|id| index.range(*id) == found.range)
            }
            Self::StarredIndex => {
                let is_starred = |id: &Id| index.item(*id).field == f.subscript;
                let starred = index.of_kind(k.list_splat).iter().find(|id| is_starred(id))?;
                index.parent(*starred)
            }
            Self::JoinedDictionaries => {
                let joins = |id: &Id| joins_dictionaries(file, *id);
                index.of_kind(k.binary_operator).iter().copied().find(joins)
            }
        }
    }
}

/// Whether brackets are around all contexts of a `with`, and not around a single expression.
fn has_brackets(file: &PythonFile<'_>, with: Id) -> bool {
    let (k, index) = (kinds(), &file.index);
    let clauses = index.children(with).filter(|c| index.kind(*c) == k.with_clause);
    clauses.into_iter().any(|clause| {
        let items: Vec<Id> = index.parts(clause).collect();
        let inner = items.first().and_then(|item| index.parts(*item).next());
        let is_tuple = inner.is_some_and(|value| index.kind(value) == k.tuple) && items.len() == 1;
        let begins_inside = items.first().is_some_and(|first| index.item(*first).start > index.item(clause).start);
        is_tuple || begins_inside
    })
}

/// `@name`, `@package.name` or a call of one of them.
fn is_plain_decorator(file: &PythonFile<'_>, decorator: Id) -> bool {
    let index = &file.index;
    let Some(value) = index.parts(decorator).next() else { return true };
    let named = index.callee(value).unwrap_or(value);
    crate::names::dotted(index, named).is_some()
}

/// Whether one side of `a | b` is certainly a dictionary.
fn joins_dictionaries(file: &PythonFile<'_>, id: Id) -> bool {
    let (k, index) = (kinds(), &file.index);
    let is_dictionary = |side: Id| {
        [k.dictionary, k.dictionary_comprehension].contains(&index.kind(side))
            || called_name(index, side) == Some("dict") && file.names.is_free("dict") && index.receiver(side).is_none()
    };
    joined(file, id).is_some_and(|sides| sides.into_iter().any(is_dictionary))
}

/// The two sides of `a | b`.
fn joined(file: &PythonFile<'_>, id: Id) -> Option<[Id; 2]> {
    let (k, index) = (kinds(), &file.index);
    let parts: Vec<Id> = index.parts(id).collect();
    let [left, right] = parts.as_slice() else { return None };
    let joins = [k.binary_operator, k.union_type].contains(&index.kind(id)) && index.between(*left, *right) == "|";
    joins.then_some([*left, *right])
}

/// The first annotation that Python evaluates and that has one of these forms: `|` joins types, a name is that of a
/// class which is subscripted, `list` of `list[int]`.
pub fn first_annotation(file: &PythonFile<'_>, forms: &[String]) -> Option<Id> {
    let (k, index) = (kinds(), &file.index);
    if postpones_annotations(file) {
        return None;
    }
    let evaluated = |id: &Id| is_evaluated(file, *id) && !is_for_another_python(file, *id);
    index.of_kind(k.r#type).iter().copied().filter(evaluated).find(|annotation| {
        let inside = *annotation..index.item(*annotation).next;
        inside.into_iter().any(|id| joined(file, id).is_some() && has_union(forms) || subscripts(file, id, forms))
    })
}

/// The first expression outside annotations that evaluates a type of one of these forms.
pub fn first_type(file: &PythonFile<'_>, forms: &[String]) -> Option<Id> {
    let (k, index) = (kinds(), &file.index);
    let is_code = |id: Id| !index.is_in_annotation(id) && !is_for_another_python(file, id);
    let subscripted =
        index.of_kind(k.subscript).iter().copied().find(|id| subscripts(file, *id, forms) && is_code(*id));
    let is_union = |id: &Id| joins_types(file, *id, forms) && is_code(*id);
    let union = index.of_kind(k.binary_operator).iter().copied().filter(|_| has_union(forms)).find(is_union);
    subscripted.into_iter().chain(union).min()
}

fn has_union(forms: &[String]) -> bool {
    forms.iter().any(|form| form == "|")
}

/// Whether annotations stay unevaluated in the whole file.
fn postpones_annotations(file: &PythonFile<'_>) -> bool {
    let index = &file.index;
    index.of_kind(kinds().future_import_statement).iter().any(|id| index.mentions(*id, |name| name == "annotations"))
}

/// Whether a type is an annotation that is evaluated when its function, class or module is defined: not one of a
/// variable in a function.
fn is_evaluated(file: &PythonFile<'_>, annotation: Id) -> bool {
    let (k, index) = (kinds(), &file.index);
    let Some(holder) = index.parent(annotation) else { return false };
    let of_parameter = [k.typed_parameter, k.typed_default_parameter, k.function_definition];
    let bodies = [k.function_definition, k.class_definition, k.lambda];
    let in_function = || {
        let around = index.ancestors(holder).find(|a| bodies.contains(&index.kind(*a)));
        around.is_some_and(|a| index.kind(a) != k.class_definition)
    };
    of_parameter.contains(&index.kind(holder)) || index.kind(holder) == k.assignment && !in_function()
}

/// Whether a node is `list[int]` for one of these names.
fn subscripts(file: &PythonFile<'_>, id: Id, forms: &[String]) -> bool {
    let (k, index) = (kinds(), &file.index);
    if ![k.subscript, k.generic_type].contains(&index.kind(id)) || index.is_stored(id) {
        return false;
    }
    let Some(class) = index.parts(id).next() else { return false };
    forms.iter().filter(|form| *form != "|").any(|form| is_class(file, class, form))
}

/// Whether an expression names a class: one of Python's own, which nothing in the file replaces, or an imported one.
fn is_class(file: &PythonFile<'_>, id: Id, name: &str) -> bool {
    let index = &file.index;
    if name.contains('.') {
        return file.names.qualify(index, id).as_deref() == Some(name);
    }
    index.is_text(id, name) && file.names.is_free(name)
}

/// Whether `a | b` joins types: one side is `None`, a class of Python or a subscripted one, or the whole is what
/// something is tested to be an instance of.
fn joins_types(file: &PythonFile<'_>, id: Id, forms: &[String]) -> bool {
    const CLASSES: [&str; 11] =
        ["bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"];
    let (k, index) = (kinds(), &file.index);
    let Some(sides) = joined(file, id) else { return false };
    let is_type = |side: Id| {
        index.kind(side) == k.none
            || subscripts(file, side, forms)
            || CLASSES.iter().any(|class| is_class(file, side, class))
    };
    let tests = |call: Id| {
        let second = index.arguments(call).positional().nth(1);
        matches!(called_name(index, call), Some("isinstance" | "issubclass"))
            && second.is_some_and(|second| index.is_within(id, second))
    };
    sides.into_iter().any(is_type) || index.ancestors(id).any(tests)
}

/// The first place in a file that needs a name: its import, or an attribute of its module. A name without a dot is a module,
/// or one of Python's own names. None if the file provides for a Python without it.
pub fn first_use(file: &PythonFile<'_>, name: &str) -> Option<Id> {
    let (k, f, index) = (kinds(), fields(), &file.index);
    let Some((_, last)) = name.rsplit_once('.') else {
        let is_read =
            |id: &Id| !index.is_label(*id) && index.parent(*id).is_none_or(|p| index.kind(p) != k.dotted_name);
        let found = file.identifiers(name).iter().copied().filter(|_| file.names.is_free(name)).find(is_read);
        return first_import(file, name).or(found).filter(|id| !is_for_another_python(file, *id));
    };
    let is_import = |statement: Id| [k.import_statement, k.import_from_statement].contains(&index.kind(statement));
    let imported = file.names.bindings.iter().filter(|b| b.qualified == name && is_import(b.statement)).map(|b| b.part);
    let attributes = file.identifiers(last).iter().filter(|id| index.item(**id).field == f.attribute);
    let attributes = attributes.filter_map(|id| index.parent(*id));
    let named = attributes.filter(|id| file.names.qualify(index, *id).as_deref() == Some(name));
    let mut places: Vec<Id> = imported.chain(named).collect();
    sorting::plain(&mut places);
    let provides = places.iter().any(|id| is_for_another_python(file, *id));
    places.first().copied().filter(|_| !provides)
}

/// The name of a module in the first import of it, or of something in it, unless the file provides for a Python without it.
fn first_import(file: &PythonFile<'_>, module: &str) -> Option<Id> {
    let index = &file.index;
    let inner = |name: &str| name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let named = crate::names::imported_modules(index).filter(|(_, name)| inner(name));
    let statements: Vec<Id> = named.map(|(statement, _)| statement).collect();
    let provides = statements.iter().any(|id| is_for_another_python(file, *id));
    let first = statements.into_iter().min().filter(|_| !provides)?;
    index.of_kind_in(kinds().identifier, first).iter().copied().find(|id| index.is_text(*id, module))
}

/// Whether a place is tried, or under a test for the version of Python, for a name or for a type checker.
fn is_for_another_python(file: &PythonFile<'_>, id: Id) -> bool {
    const TESTS: [&str; 5] = ["version_info", "python_version_tuple", "hexversion", "TYPE_CHECKING", "hasattr"];
    let (k, index) = (kinds(), &file.index);
    let is_test = |test: Id| index.mentions(test, |name| TESTS.contains(&name));
    let imports = [k.import_statement, k.import_from_statement];
    let is_import = std::iter::once(id).chain(index.ancestors(id)).any(|a| imports.contains(&index.kind(a)));
    // Anything may fail where the errors of much code are caught, but an import fails because there is no such name.
    let expects = |handler: Id| {
        let is_bare = index.parts(handler).count() == 1;
        let expected = |name: &str| {
            ["ImportError", "ModuleNotFoundError", "AttributeError"].contains(&name) || is_import && name == "Exception"
        };
        is_bare && is_import || index.mentions(handler, expected)
    };
    index.ancestors(id).any(|a| {
        let kind = index.kind(a);
        let mut handlers = index.children(a).filter(|c| index.kind(*c) == k.except_clause);
        let tried = kind == k.try_statement && handlers.any(expects);
        let tested = [k.if_statement, k.elif_clause].contains(&kind) && index.condition(a).is_some_and(is_test);
        let chosen = kind == k.conditional_expression && index.parts(a).nth(1).is_some_and(is_test);
        tried || tested || chosen
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn forms() -> Vec<String> {
        ["|", "list", "dict", "type", "collections.abc.Callable"].map(str::to_owned).to_vec()
    }

    #[track_caller]
    fn check(text: &str, find: &dyn Fn(&PythonFile<'_>) -> Option<Id>, expected: Option<&str>) {
        let tree = Tree::parse(text);
        assert!(!tree.has_error(), "{text}");
        let file = PythonFile::read("a.py", &tree);
        let found = find(&file).map(|id| file.index.text_of(id).lines().next().unwrap_or_default());
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn newer_syntax() {
        let check = |words: &str, text: &str, expected: Option<&str>| {
            let syntax = Syntax::parse(words).expect("the guides' words");
            check(text, &|file| syntax.first(file), expected);
        };
        check("match", "match x:\n    case 1:\n        pass\n", Some("match x:"));
        check("match", "match = re.match(a, b)\nmatch(x)\n", None);
        check("except*", "try:\n    f()\nexcept* E:\n    pass\n", Some("except* E:"));
        check("except*", "try:\n    f()\nexcept E:\n    pass\n", None);
        check("type parameters", "def f[T](x: T) -> T:\n    return x\n", Some("def f[T](x: T) -> T:"));
        check("type parameters", "class A[T]:\n    pass\n", Some("class A[T]:"));
        check("type parameters", "def f(x: List[int]):\n    return x\n", None);
        check("type statements", "type A = int\n", Some("type A = int"));
        check("type statements", "type = 1\ntype(x)\n", None);
        check(
            "bracketed with",
            "with (open(a) as f, open(b) as g):\n    pass\n",
            Some("with (open(a) as f, open(b) as g):"),
        );
        check("bracketed with", "with (\n    open(a) as f,\n    g,\n):\n    pass\n", Some("with ("));
        check("bracketed with", "with (a, b):\n    pass\n", Some("with (a, b):"));
        check("bracketed with", "with open(a) as f, open(b) as g:\n    pass\n", None);
        check("bracketed with", "with (f(x) if a else b):\n    pass\n", None);
        check("bracketed with", "with (yield x) as f:\n    pass\n", None);
        check("bracketed with", "with (a or b) as f:\n    pass\n", None);
        check("any decorator", "@a[0]\ndef f(): pass\n", Some("@a[0]"));
        check("any decorator", "@a(1)(2)\ndef f(): pass\n", Some("@a(1)(2)"));
        check("any decorator", "@a.b(1)\n@c\ndef f(): pass\n", None);
        check("nested quotes", "x = f\"{a[\"b\"]}\"\n", Some("{a[\"b\"]}"));
        check("nested quotes", "x = f\"{a['b']}\"\n", None);
        check("nested quotes", "x = f\"{'\\n'.join(a)}\"\n", Some("{'\\n'.join(a)}"));
        check("starred index", "y = x[*a]\n", Some("x[*a]"));
        check("starred index", "y = x[..., *a, 0]\n", Some("x[..., *a, 0]"));
        check("starred index", "y = x[(*a, 0)]\nz = [*a]\nf(*a)\n", None);
        check("joined dictionaries", "x = a | {\"b\": 1}\n", Some("a | {\"b\": 1}"));
        check("joined dictionaries", "x = dict(a=1) | b\n", Some("dict(a=1) | b"));
        check("joined dictionaries", "x = a | b\ny = {1} | c\n", None);
    }

    #[test]
    fn evaluated_annotations() {
        let check =
            |text: &str, expected: Option<&str>| check(text, &|file| first_annotation(file, &forms()), expected);
        check("def f(x: int | None = None): pass\n", Some("int | None"));
        check("def f(x) -> list[int]: pass\n", Some("list[int]"));
        check("class A:\n    x: dict[str, int] = {}\n", Some("dict[str, int]"));
        check("x: Optional[list[int]] = None\n", Some("Optional[list[int]]"));
        check(
            "from collections.abc import Callable\ndef f(x: Callable[[int], int]): pass\n",
            Some("Callable[[int], int]"),
        );
        check("from typing import Callable\ndef f(x: Callable[[int], int]): pass\n", None);
        check("def f(x: \"int | None\", *y: List[int]): pass\n", None);
        check("def f():\n    x: list[int] = []\n    self.y: int | None = None\n", None);
        check("class A:\n    def f(self):\n        x: list[int] = []\n", None);
        check("from __future__ import annotations\ndef f(x: int | None): pass\n", None);
        check("if TYPE_CHECKING:\n    def f(x: int | None): pass\n", None);
        check("def list(): pass\nx: list[int] = 1\n", None);
    }

    #[test]
    fn evaluated_types() {
        let check = |text: &str, expected: Option<&str>| check(text, &|file| first_type(file, &forms()), expected);
        check("isinstance(x, A | B)\n", Some("A | B"));
        check("isinstance(x, (A, B | C))\n", Some("B | C"));
        check("Pair = int | None\n", Some("int | None"));
        check("Rows = list[int]\n", Some("list[int]"));
        check("x = cast(dict[str, int], y)\n", Some("dict[str, int]"));
        check("class A(dict[str, int]): pass\n", Some("dict[str, int]"));
        check("flags = a | b\nx = mask[list] | other\n", None);
        check("def f(x: int | None): pass\n", None);
        check("def f():\n    x: list[int] = []\n", None);
        check("list = [1]\nx = list[0]\n", None);
        check("if isinstance(x, A) and a | b: pass\n", None);
        check("if sys.version_info >= (3, 10):\n    Pair = int | None\n", None);
    }

    #[test]
    fn newer_names() {
        let check =
            |name: &str, text: &str, expected: Option<&str>| check(text, &|file| first_use(file, name), expected);
        check("typing.Self", "from typing import List, Self\ndef f(x: Self): pass\n", Some("Self"));
        check("typing.Self", "import typing as t\nx: t.Self\ny: t.Self\n", Some("t.Self"));
        check("typing.Self", "from typing_extensions import Self\n", None);
        let tried =
            "try:\n    from typing import Self\nexcept ImportError:\n    from typing_extensions import Self\nx: Self\n";
        check("typing.Self", tried, None);
        let tested =
            "import sys\nif sys.version_info >= (3, 11):\n    from typing import Self\nelse:\n    Self = None\n";
        check("typing.Self", tested, None);
        check("aiter", "x = aiter(y)\n", Some("aiter"));
        check("aiter", "x.aiter(y)\n", None);
        check("aiter", "def aiter(y): pass\naiter(z)\n", None);
    }

    #[test]
    fn newer_modules() {
        let check = |text: &str, expected: Option<&str>| check(text, &|file| first_use(file, "tomllib"), expected);
        check("import os, tomllib\n", Some("tomllib"));
        check("def f():\n    from tomllib import loads\n", Some("tomllib"));
        check("try:\n    import tomllib\nexcept ModuleNotFoundError:\n    import tomli as tomllib\n", None);
        check("import tomllib2\nfrom .tomllib import x\n", None);
    }
}
