//! Errors that Python's compiler reports although the parser's grammar accepts the code.
//!
//! The grammar is made for editors and accepts more than Python does: positional arguments after keywords, `return`
//! outside a function, `await` outside an `async` one. A port is compared with its original, so a missing rule here
//! weakens the check, and a wrong one counts on both sides.

use crate::lines::{broken_line, line_indent, line_start};
use crate::tree::{Id, Index, Kinds, fields, kinds};
use sorting::SortedSet;
use std::ops::Range;

/// A place that Python rejects, and a number for the violated rule: two places with the same number are errors of the
/// same kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The rejected bytes.
    pub range: Range<usize>,
    /// The rule.
    pub rule: Rule,
}

/// Rules of Python's compiler that the parser does not enforce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Rule {
    OrderOfArguments,
    RepeatedKeyword,
    OrderOfParameters,
    RepeatedParameter,
    OutsideFunction,
    OutsideAsync,
    OutsideLoop,
    NoTarget,
    BareWalrus,
    MisplacedStar,
    MisplacedAs,
    LateFuture,
    StarImportInFunction,
    BareExceptFirst,
    TryAlone,
    LateGlobal,
    NonlocalAtTop,
    QuoteInFormattedString,
    BytesBesideText,
    EmptyBlock,
    MixedIndentation,
    BrokenLine,
}

/// Every place of a text without syntax errors that Python rejects, in the order of the text.
pub fn refused(index: &Index<'_>) -> Vec<Refused> {
    let k = kinds();
    let mut look = Look { index, k, found: Vec::new() };
    for &list in index.of_kind(k.argument_list) {
        look.arguments(list);
    }
    for &list in index.of_kind(k.parameters).iter().chain(index.of_kind(k.lambda_parameters)) {
        look.parameters(list);
    }
    look.surroundings();
    look.targets();
    look.walrus();
    look.stars();
    look.imports();
    look.handlers();
    look.declarations();
    look.strings();
    look.blocks();
    look.lines();
    sorting::by_key(&mut look.found, |refused| (refused.range.start, refused.rule));
    look.found
}

struct Look<'i, 't> {
    index: &'i Index<'t>,
    k: &'static Kinds,
    found: Vec<Refused>,
}

impl Look<'_, '_> {
    fn add(&mut self, id: Id, rule: Rule) {
        self.found.push(Refused { range: self.index.range(id), rule });
    }

    fn kind_is(&self, id: Id, kinds: &[u16]) -> bool {
        kinds.contains(&self.index.kind(id))
    }

    fn arguments(&mut self, list: Id) {
        let (k, index) = (self.k, self.index);
        let (mut named, mut table) = (false, false);
        let mut names: SortedSet<&str> = SortedSet::new();
        for argument in index.parts(list) {
            let kind = index.kind(argument);
            if kind == k.keyword_argument {
                named = true;
                if index.keyword_name(argument).is_some_and(|name| !names.insert(name)) {
                    self.add(argument, Rule::RepeatedKeyword);
                }
            } else if kind == k.dictionary_splat {
                table = true;
            } else if kind == k.list_splat {
                if table {
                    self.add(argument, Rule::OrderOfArguments);
                }
            } else if named || table {
                self.add(argument, Rule::OrderOfArguments);
            }
        }
    }

    fn parameters(&mut self, list: Id) {
        let (k, f, index) = (self.k, fields(), self.index);
        let mut names: SortedSet<&str> = SortedSet::new();
        let (mut default, mut star, mut bare, mut last) = (false, false, None, false);
        for parameter in index.parts(list) {
            let kind = index.kind(parameter);
            if last {
                self.add(parameter, Rule::OrderOfParameters);
            }
            let inner = if kind == k.typed_parameter { index.children(parameter).next() } else { Some(parameter) };
            let inner_kind = inner.map_or(0, |inner| index.kind(inner));
            if kind == k.keyword_separator || inner_kind == k.list_splat_pattern {
                if star {
                    self.add(parameter, Rule::OrderOfParameters);
                }
                star = true;
                bare = (kind == k.keyword_separator).then_some(parameter);
            } else if inner_kind == k.dictionary_splat_pattern {
                last = true;
                if let Some(bare) = bare.take() {
                    self.add(bare, Rule::OrderOfParameters);
                }
            } else if kind == k.default_parameter || kind == k.typed_default_parameter {
                bare = None;
                default |= !star;
            } else if kind != k.positional_separator {
                bare = None;
                if default && !star {
                    self.add(parameter, Rule::OrderOfParameters);
                }
            }
            let name = index.field(parameter, f.name).or(match inner {
                Some(inner) if inner_kind == k.identifier => Some(inner),
                Some(inner) => index.children(inner).next().filter(|id| index.kind(*id) == k.identifier),
                None => None,
            });
            let name = name.filter(|id| index.kind(*id) == k.identifier);
            if name.is_some_and(|name| !names.insert(index.text_of(name))) {
                self.add(parameter, Rule::RepeatedParameter);
            }
        }
        if let Some(bare) = bare {
            self.add(bare, Rule::OrderOfParameters);
        }
    }

    /// The definition or lambda that the code of a node belongs to, or the class around it.
    fn home(&self, id: Id) -> Option<Id> {
        let k = self.k;
        let homes = [k.function_definition, k.class_definition, k.lambda];
        let mut inner = id;
        self.index.ancestors(id).find(|around| {
            // Decorators, defaults and annotations belong to the code around the definition.
            let inside = self.index.item(inner).field == fields().body;
            inner = *around;
            homes.contains(&self.index.kind(*around)) && inside
        })
    }

    fn is_async(&self, function: Id) -> bool {
        self.index.text_of(function).starts_with("async")
    }

    fn surroundings(&mut self) {
        let (k, index) = (self.k, self.index);
        for kind in [k.return_statement, k.r#yield, k.r#await] {
            for &id in index.of_kind(kind) {
                let home = self.home(id).filter(|home| !self.kind_is(*home, &[k.class_definition]));
                match home {
                    None => self.add(id, if kind == k.r#await { Rule::OutsideAsync } else { Rule::OutsideFunction }),
                    Some(home) if kind == k.r#await && !self.is_async(home) => self.add(id, Rule::OutsideAsync),
                    _ => {}
                }
            }
        }
        for kind in [k.for_statement, k.with_statement] {
            for &id in index.of_kind(kind) {
                let home = self.home(id);
                if self.is_async(id) && !home.is_some_and(|home| self.is_async(home)) {
                    self.add(id, Rule::OutsideAsync);
                }
            }
        }
        for kind in [k.break_statement, k.continue_statement] {
            for &id in index.of_kind(kind) {
                let mut inner = id;
                let around = index.ancestors(id).find(|around| {
                    let body = index.item(inner).field == fields().body;
                    inner = *around;
                    (self.kind_is(*around, &[k.for_statement, k.while_statement]) && body)
                        || self.kind_is(*around, &[k.function_definition, k.class_definition])
                });
                if !around.is_some_and(|around| self.kind_is(around, &[k.for_statement, k.while_statement])) {
                    self.add(id, Rule::OutsideLoop);
                }
            }
        }
    }

    /// Whether something can be assigned to an expression, or deleted.
    fn is_target(&self, id: Id) -> bool {
        let (k, index) = (self.k, self.index);
        let kind = index.kind(id);
        if [k.identifier, k.attribute, k.subscript].contains(&kind) {
            return true;
        }
        let holds = [
            k.tuple,
            k.list,
            k.parenthesized_expression,
            k.expression_list,
            k.pattern_list,
            k.tuple_pattern,
            k.list_pattern,
            k.list_splat,
            k.list_splat_pattern,
        ];
        holds.contains(&kind) && index.parts(id).all(|part| self.is_target(part))
    }

    fn targets(&mut self) {
        let (k, index) = (self.k, self.index);
        for &statement in index.of_kind(k.delete_statement) {
            for target in index.parts(statement).filter(|id| !self.is_target(*id)).collect::<Vec<_>>() {
                self.add(target, Rule::NoTarget);
            }
        }
        for &target in index.of_kind(k.as_pattern_target) {
            if !index.parts(target).all(|id| self.is_target(id)) {
                self.add(target, Rule::NoTarget);
            }
        }
        for &statement in index.of_kind(k.augmented_assignment) {
            let left = index.field(statement, fields().left);
            let several = [k.pattern_list, k.tuple_pattern, k.list_pattern, k.list_splat_pattern];
            if let Some(left) = left.filter(|left| self.kind_is(*left, &several)) {
                self.add(left, Rule::NoTarget);
            }
        }
        // `x as y` is an expression to the parser.
        for &pattern in index.of_kind(k.as_pattern) {
            let places = [k.with_item, k.except_clause, k.case_clause];
            let at_home = index.ancestors(pattern).find(|around| {
                !self.kind_is(*around, &[k.parenthesized_expression, k.tuple]) || index.parent(*around).is_none()
            });
            let in_case = index.ancestors(pattern).any(|around| self.kind_is(around, &[k.case_clause]));
            if !in_case && !at_home.is_some_and(|home| self.kind_is(home, &places)) {
                self.add(pattern, Rule::MisplacedAs);
            }
        }
    }

    fn walrus(&mut self) {
        let (k, f, index) = (self.k, fields(), self.index);
        for &walrus in index.of_kind(k.named_expression) {
            let Some(parent) = index.parent(walrus) else { continue };
            let field = index.item(walrus).field;
            let kind = index.kind(parent);
            let bare = [
                k.expression_statement,
                k.assignment,
                k.augmented_assignment,
                k.keyword_argument,
                k.return_statement,
                k.assert_statement,
                k.raise_statement,
                k.delete_statement,
                k.r#yield,
                k.r#await,
                k.with_item,
                k.lambda,
                k.default_parameter,
                k.typed_default_parameter,
                k.pair,
                k.expression_list,
                k.interpolation,
                k.conditional_expression,
                k.boolean_operator,
                k.not_operator,
                k.named_expression,
                k.dictionary_splat,
            ];
            let iterated = [k.for_statement, k.for_in_clause].contains(&kind) && field == f.right;
            if bare.contains(&kind) || iterated {
                self.add(walrus, Rule::BareWalrus);
            }
        }
    }

    fn stars(&mut self) {
        let (k, index) = (self.k, self.index);
        let homes = [
            k.argument_list,
            k.list,
            k.set,
            k.tuple,
            k.expression_list,
            k.pattern_list,
            k.tuple_pattern,
            k.list_pattern,
            k.subscript,
        ];
        let loose = [
            k.comparison_operator,
            k.boolean_operator,
            k.not_operator,
            k.conditional_expression,
            k.lambda,
            k.named_expression,
        ];
        for &star in index.of_kind(k.list_splat) {
            // The parser reads `*x.y` as the attribute of `*x`, and the same with calls and comparisons.
            let begins = |id: &Id| index.item(*id).start == index.item(star).start && !self.kind_is(*id, &homes);
            let around: Vec<Id> = index.ancestors(star).take_while(begins).collect();
            let bare = |id: &Id| !self.kind_is(*id, &[k.expression_statement, k.block, k.module]);
            let whole = around.iter().copied().rfind(bare).unwrap_or(star);
            let Some(parent) = index.parent(whole) else { continue };
            if index.kind(parent) != k.argument_list && around.iter().any(|id| self.kind_is(*id, &loose)) {
                self.add(star, Rule::MisplacedStar);
                continue;
            }
            // `f(*args,)` as a statement: a tuple without brackets is several parts of the statement.
            let statement = index.kind(parent) == k.expression_statement
                && index.text[index.item(whole).end..index.item(parent).end].trim_start().starts_with(',');
            let several = index.kind(parent) == k.expression_statement && index.parts(parent).count() > 1;
            let typed = index.ancestors(star).take(3).any(|a| self.kind_is(a, &[k.type_parameter, k.typed_parameter]));
            let at_home = self.kind_is(parent, &homes) || statement || several || typed;
            let loose_value = index.parts(star).next().is_some_and(|value| self.kind_is(value, &loose));
            if !at_home || loose_value && index.kind(parent) != k.argument_list {
                self.add(star, Rule::MisplacedStar);
            }
        }
        for &star in index.of_kind(k.dictionary_splat) {
            let in_table = index.parent(star).is_some_and(|p| index.kind(p) == k.dictionary);
            if in_table && index.parts(star).next().is_some_and(|value| self.kind_is(value, &loose)) {
                self.add(star, Rule::MisplacedStar);
            }
        }
    }

    fn imports(&mut self) {
        let (k, index) = (self.k, self.index);
        for &star in index.of_kind(k.wildcard_import) {
            if index.ancestors(star).any(|a| self.kind_is(a, &[k.function_definition, k.class_definition])) {
                self.add(star, Rule::StarImportInFunction);
            }
        }
        let mut begun = false;
        for statement in index.parts(crate::tree::ROOT) {
            let kind = index.kind(statement);
            let text = kind == k.expression_statement
                && index.parts(statement).all(|part| self.kind_is(part, &[k.string, k.concatenated_string]));
            if kind == k.future_import_statement {
                if begun {
                    self.add(statement, Rule::LateFuture);
                }
            } else if !text {
                begun = true;
            }
        }
        for &statement in index.of_kind(k.future_import_statement) {
            if index.parent(statement) != Some(crate::tree::ROOT) {
                self.add(statement, Rule::LateFuture);
            }
        }
    }

    fn handlers(&mut self) {
        let (k, index) = (self.k, self.index);
        for &statement in index.of_kind(k.try_statement) {
            let clauses: Vec<Id> = index.parts(statement).collect();
            let handlers: Vec<Id> = clauses.iter().copied().filter(|c| index.kind(*c) == k.except_clause).collect();
            let ends = clauses.iter().any(|c| index.kind(*c) == k.finally_clause);
            let otherwise = clauses.iter().any(|c| index.kind(*c) == k.else_clause);
            if handlers.is_empty() && (!ends || otherwise) {
                self.add(statement, Rule::TryAlone);
            }
            for handler in handlers.iter().rev().skip(1) {
                if index.parts(*handler).all(|part| index.kind(part) == k.block) {
                    self.add(*handler, Rule::BareExceptFirst);
                }
            }
        }
    }

    fn declarations(&mut self) {
        let (k, index) = (self.k, self.index);
        for kind in [k.global_statement, k.nonlocal_statement] {
            for &statement in index.of_kind(kind) {
                let home = index.ancestors(statement).find(|a| self.kind_is(*a, &[k.function_definition]));
                let Some(home) = home else {
                    if kind == k.nonlocal_statement {
                        self.add(statement, Rule::NonlocalAtTop);
                    }
                    continue;
                };
                let names: SortedSet<&str> = index.parts(statement).map(|id| index.text_of(id)).collect();
                let earlier = index.of_kind_in(k.identifier, home).iter().take_while(|id| **id < statement);
                let own = |id: &&Id| {
                    let nearest = index.ancestors(**id).find(|a| self.kind_is(*a, &[k.function_definition, k.lambda]));
                    let named = index.parent(**id).is_some_and(|p| self.kind_is(p, &[kind]));
                    nearest == Some(home)
                        && !named
                        && !index.is_label(**id)
                        && index.item(**id).field != fields().name
                        && names.contains(index.text_of(**id))
                };
                if earlier.into_iter().any(|id| own(&id)) {
                    self.add(statement, Rule::LateGlobal);
                }
            }
        }
    }

    fn blocks(&mut self) {
        let (index, text) = (self.index, self.index.text);
        for &block in index.of_kind(self.k.block) {
            let Some(first) = index.parts(block).next() else {
                self.add(block, Rule::EmptyBlock);
                continue;
            };
            // Tabs and spaces that only look the same are an error.
            let start = index.item(first).start;
            let inner = line_indent(text, start);
            let outer = index.parent(block).map_or("", |owner| line_indent(text, index.item(owner).start));
            if line_start(text, start) + inner.len() == start && !inner.starts_with(outer) {
                self.add(first, Rule::MixedIndentation);
            }
        }
    }

    /// The parser continues after the end of a line if the statement is empty so far.
    fn lines(&mut self) {
        let (k, index) = (self.k, self.index);
        let in_block = index.of_kind(k.block).iter().flat_map(|block| index.parts(*block));
        for statement in index.parts(crate::tree::ROOT).chain(in_block) {
            self.line(statement, index.item(statement).end);
        }
        for &block in index.of_kind(k.block) {
            let Some(owner) = index.parent(block) else { continue };
            let header = index.parts(owner).take_while(|part| *part != block).last();
            header.into_iter().for_each(|last| self.line(owner, index.item(last).end));
        }
    }

    /// A statement, or the header of one with blocks.
    fn line(&mut self, statement: Id, end: usize) {
        let (index, start) = (self.index, self.index.item(statement).start);
        let has_block = end == index.item(statement).end && !index.of_kind_in(self.k.block, statement).is_empty();
        let text = index.text.get(start..end).filter(|text| text.contains('\n') && !has_block);
        if let Some(at) = text.and_then(broken_line) {
            self.found.push(Refused { range: start + at..start + at + 1, rule: Rule::BrokenLine });
        }
    }

    fn strings(&mut self) {
        let (k, index) = (self.k, self.index);
        for &inside in index.of_kind(k.interpolation) {
            let Some(around) = index.ancestors(inside).find(|a| index.kind(*a) == k.string) else { continue };
            let quote = quotes_of(index.text_of(around));
            let text = index.text_of(inside);
            if text.contains(quote) || (text.contains('\\') && !text.contains("\\\n")) {
                self.add(inside, Rule::QuoteInFormattedString);
            }
        }
        for &joined in index.of_kind(k.concatenated_string) {
            let is_bytes = |id: Id| {
                let text = index.text_of(id);
                text[..text.find(['"', '\'']).unwrap_or(0)].contains(['b', 'B'])
            };
            let bytes = index.parts(joined).filter(|id| is_bytes(*id)).count();
            if bytes > 0 && bytes < index.parts(joined).count() {
                self.add(joined, Rule::BytesBesideText);
            }
        }
    }
}

/// The opening quotes of a literal: one, or three of a kind.
fn quotes_of(literal: &str) -> &str {
    let start = literal.find(['"', '\'']).unwrap_or(0);
    let body = &literal[start..];
    let three = ["\"\"\"", "'''"].iter().any(|quotes| body.starts_with(quotes));
    &body[..body.len().min(if three { 3 } else { 1 })]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    /// The rules that a text violates, according to Python's compiler.
    #[track_caller]
    fn check(text: &str, expected: &[Rule]) {
        let tree = Tree::parse(text);
        assert!(!tree.has_error(), "{text}");
        let rules: Vec<Rule> = refused(&tree.index()).into_iter().map(|refused| refused.rule).collect();
        assert_eq!(rules, expected, "{text}");
    }

    #[test]
    fn calls_and_parameters() {
        check("f(a=1, b)\n", &[Rule::OrderOfArguments]);
        check("f(**a, b)\n", &[Rule::OrderOfArguments]);
        check("f(**a, *b)\n", &[Rule::OrderOfArguments]);
        check("f(a, *b, c, d=1, *e, **g, h=2)\n", &[]);
        check("class A(B, m=1, m=2): pass\n", &[Rule::RepeatedKeyword]);
        check("def f(a, b=1, /, c=2, *d, e, g=3, **h): pass\n", &[]);
        check("def f(a=1, b): pass\n", &[Rule::OrderOfParameters]);
        check("def f(a, *, **b): pass\n", &[Rule::OrderOfParameters]);
        check("def f(a, *): pass\n", &[Rule::OrderOfParameters]);
        check("f = lambda a, *b, a: 1\n", &[Rule::RepeatedParameter]);
        check("def f(a: int, a: int = 1): pass\n", &[Rule::RepeatedParameter]);
    }

    #[test]
    fn lines_that_go_on() {
        check("net =  # why\n    Net()\n", &[Rule::BrokenLine]);
        check("if a:\n    net =  # why\n        f()\n", &[Rule::BrokenLine]);
        check("while  # why\n  a: pass\n", &[Rule::BrokenLine]);
        check("net = (  # why\n    Net()\n)\nif a:  # why\n    b = \"\"\"\n\"\"\"\nelse:\n    # why\n    c\n", &[]);
        check(
            "@a\n@b(\n    1)\ndef f(\n    a\n) -> b:\n\n    return \\\n        a\n\n\nmatch a:\n    case (\n        b\n    ):\n        pass\n",
            &[],
        );
        check(
            "try:\n    a\nexcept (\n    B\n) as c:\n    d\nfinally:\n    e; f\nwith a as b, \\\n    c:\n    d\n",
            &[],
        );
    }

    #[test]
    fn what_needs_something_around_it() {
        check("return 1\n", &[Rule::OutsideFunction]);
        check("class A:\n    yield 1\n", &[Rule::OutsideFunction]);
        check("def f():\n    return lambda: (yield)\n", &[]);
        check("def f():\n    await g()\n    async with a: pass\n", &[Rule::OutsideAsync, Rule::OutsideAsync]);
        check("async def f():\n    await g()\n    async for a in b: pass\n", &[]);
        check(
            "for a in b:\n    def f():\n        break\nelse:\n    continue\n",
            &[Rule::OutsideLoop, Rule::OutsideLoop],
        );
        check("while a:\n    if b: break\n    else: continue\n", &[]);
        check("def f(a):\n    a = 1\n    global a\n", &[Rule::LateGlobal]);
        check("def f():\n    global a\n    a = 1\n", &[]);
        check("nonlocal a\n", &[Rule::NonlocalAtTop]);
        check("'''text'''\nfrom __future__ import annotations\n", &[]);
        check("import os\nfrom __future__ import annotations\n", &[Rule::LateFuture]);
        check("def f():\n    from a import *\n", &[Rule::StarImportInFunction]);
        check("try: pass\nexcept: pass\nexcept E: pass\n", &[Rule::BareExceptFirst]);
        check("try: pass\nfinally: pass\n", &[]);
    }

    #[test]
    fn expressions_out_of_place() {
        check("del a.b, c[0], (d, e)\n", &[]);
        check("del f()\n", &[Rule::NoTarget]);
        check("with a as b == c: pass\n", &[Rule::NoTarget]);
        check("with (a as b, c as d.e): pass\n", &[]);
        check("x = y := 1\n", &[Rule::BareWalrus]);
        check("x = (y := 1)\nf(y := 1)\nif y := 1: pass\n[y := 1]\n", &[]);
        check("f(a=b := 1)\n", &[Rule::BareWalrus]);
        check("x = [*a, *b.c, *(d or e)]\nf(*a or b)\nx = *a, b\nfor i in *a, b: pass\n", &[]);
        check("x = [*a or b]\n", &[Rule::MisplacedStar]);
        check("x = [*a.b == c]\n", &[Rule::MisplacedStar]);
        check("x = *a\n", &[Rule::MisplacedStar]);
        check("x = (*a.b == c)\n", &[Rule::MisplacedStar]);
        check("f'{a[\"b\"]} {c:{d}}'\n", &[]);
        check("f'{a['b']}'\n", &[Rule::QuoteInFormattedString]);
        check("'a' b'c'\n", &[Rule::BytesBesideText]);
        check("def f():\n\tif a:\n                b\n", &[Rule::MixedIndentation]);
    }
}
