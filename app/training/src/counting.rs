//! Tests that count batches, `(i + 1) % n == 0`, written directly or assigned to a name: `last = (i + 1) % n == 0`,
//! `if last:`; and loops that split a batch.

use python::PythonFile;
use python::names::{called_name, dotted};
use python::tree::{Id, kinds};

/// Such a test.
#[derive(Clone, Debug)]
pub struct Counted<'t> {
    /// The divisor of the batch number, if it is a number or a name.
    pub divisor: Option<Id>,
    /// The same as it is written, or empty.
    pub count: &'t str,
    /// The expression that counts, with what else it tests.
    pub expression: Id,
    /// The assignment that names it.
    pub named: Option<Id>,
    /// Whether the test negates it, or its name.
    pub denied: bool,
    /// Whether the expression is false where the test is true.
    is_false: bool,
    /// What makes the test true at other batches, too: `… or last`.
    pub alternatives: Vec<Id>,
    /// What the test requires besides: `… and ready`.
    pub conditions: Vec<Id>,
}

/// Reads a condition as a test that counts.
pub fn counted<'t>(file: &PythonFile<'t>, condition: Id) -> Option<Counted<'t>> {
    let k = kinds();
    let index = &file.index;
    let (mut expression, denied) = bare(file, condition);
    let (mut named, mut is_false) = (None, denied);
    if dotted(index, expression).is_some() {
        let assignment = assigned_in_loop(file, expression)?;
        named = Some(assignment);
        let (value, denies) = bare(file, index.source(assignment)?);
        (expression, is_false) = (value, denied ^ denies);
    }
    let (alternatives, conditions) = (Vec::new(), Vec::new());
    let mut found = Counted { divisor: None, count: "", expression, named, denied, is_false, alternatives, conditions };
    let counting = found.counting(file, expression, is_false)?;
    let divisor = index.of_kind_in(k.binary_operator, counting).iter().find_map(|id| divisor(file, *id))?;
    // `bool(… and ready)`
    let has_parts = [k.boolean_operator, k.conditional_expression];
    let is_one = has_parts.iter().all(|kind| index.of_kind_in(*kind, counting).is_empty());
    found.divisor = Some(divisor).filter(|id| is_plain(index.text_of(*id)) && is_one);
    found.count = found.divisor.map_or("", |id| index.text_of(id));
    Some(found)
}

impl Counted<'_> {
    /// The part of an expression that counts; the other parts are added to what the test is true for or requires.
    fn counting(&mut self, file: &PythonFile<'_>, expression: Id, denied: bool) -> Option<Id> {
        let index = &file.index;
        if index.kind(expression) != kinds().boolean_operator {
            return index.text_of(expression).contains('%').then_some(expression);
        }
        // A line's continuation is between them.
        let sides = [index.parts(expression).next()?, index.parts(expression).last()?];
        let (at, found) = sides.iter().enumerate().find_map(|(number, side)| {
            let (inner, denies) = bare(file, *side);
            Some((number, self.counting(file, inner, denied ^ denies)?))
        })?;
        let others = sides.iter().enumerate().filter(|(number, _)| *number != at).map(|(_, side)| *side);
        // `not (a or b)` requires both.
        let list = if joins_by_or(file, sides) == denied { &mut self.conditions } else { &mut self.alternatives };
        list.extend(others);
        Some(found)
    }

    /// Whether the test is true at one of the batches that another test counts, and at no other: `i % n == 0`.
    pub(crate) fn is_once_in_a_group(&self, file: &PythonFile<'_>, other: &Counted<'_>) -> bool {
        let (k, index) = (kinds(), &file.index);
        let counter = |test: &Counted<'_>| -> Option<Vec<&str>> {
            let left = index.parts(index.parent(test.divisor?)?).next()?;
            let names = index.of_kind_in(k.identifier, left).iter();
            Some(names.map(|id| index.text_of(*id)).collect())
        };
        let equals = index.kind(self.expression) == k.comparison_operator;
        let is_one = match equals {
            true => index.text_of(self.expression).contains("==") && !self.is_false,
            false => self.is_false,
        };
        is_one
            && self.alternatives.is_empty()
            && self.count == other.count
            && counter(self).is_some()
            && counter(self) == counter(other)
    }

    /// Whether an alternative makes the test true at the end of the loop: it compares the number that is counted with another
    /// than a literal, `i + 1 == len(loader)`, directly or under a name.
    pub(crate) fn is_at_end(&self, file: &PythonFile<'_>, alternative: Id) -> bool {
        let (k, index) = (kinds(), &file.index);
        let (bare_one, _) = bare(file, alternative);
        let named = dotted(index, bare_one).and_then(|_| assigned_in_loop(file, bare_one));
        let comparison = named.and_then(|a| index.source(a)).map_or(bare_one, |value| bare(file, value).0);
        let text = |id: &Id| index.text_of(*id);
        let head = index.text_of(self.expression).split('%').next().unwrap_or_default();
        let is_word = |name: &str| head.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        let names: Vec<&str> = index.of_kind_in(k.identifier, self.expression).iter().map(text).collect();
        let sides: Vec<Id> = index.parts(comparison).collect();
        let is_counter = |side: &Id| {
            let mut inside = index.of_kind_in(k.identifier, *side).iter().chain([side]).map(text);
            inside.any(|name| names.contains(&name) && is_word(name))
        };
        index.kind(comparison) == k.comparison_operator
            && sides.iter().any(is_counter)
            && sides.iter().all(|side| is_counter(side) || index.kind(*side) != k.integer)
    }
}

/// Whether the operator between two operands is `or`, without comments and line breaks.
fn joins_by_or(file: &PythonFile<'_>, [left, right]: [Id; 2]) -> bool {
    let code = file.index.between(left, right).lines().map(|line| line.split('#').next().unwrap_or(line));
    code.flat_map(str::split_whitespace).any(|word| word == "or")
}

/// The right side of a remainder.
fn divisor(file: &PythonFile<'_>, id: Id) -> Option<Id> {
    let index = &file.index;
    let mut sides = index.parts(id);
    let (left, right) = (sides.next()?, sides.next()?);
    (index.between(left, right) == "%" && index.kind(left) != kinds().string).then_some(right)
}

/// A number, a name with its dots, or a setting with literal keys: `cfg["count"]`.
fn is_plain(count: &str) -> bool {
    let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let quoted = |key: &str| {
        ['"', '\''].iter().any(|q| key.strip_prefix(*q).and_then(|k| k.strip_suffix(*q)).is_some_and(is_word))
    };
    let mut parts = count.split('[');
    let name = parts.next().is_some_and(|name| name.split('.').all(is_word));
    name && parts.all(|part| part.strip_suffix(']').is_some_and(quoted))
}

/// An expression without enclosing parentheses and `not`, and whether it is negated.
fn bare(file: &PythonFile<'_>, expression: Id) -> (Id, bool) {
    let k = kinds();
    let index = &file.index;
    let (mut at, mut denied) = (expression, false);
    while [k.parenthesized_expression, k.not_operator].contains(&index.kind(at)) {
        denied ^= index.kind(at) == k.not_operator;
        match index.parts(at).next() {
            Some(inner) => at = inner,
            None => break,
        }
    }
    (at, denied)
}

/// The one assignment to a name in the loop around the place that reads it.
fn assigned_in_loop(file: &PythonFile<'_>, name: Id) -> Option<Id> {
    let k = kinds();
    let index = &file.index;
    let text = index.text_of(name);
    let around = index
        .ancestors(name)
        .take_while(|a| index.kind(*a) != k.function_definition)
        .find(|a| [k.for_statement, k.while_statement].contains(&index.kind(*a)))?;
    let assigns = [k.assignment, k.augmented_assignment];
    let mut found = assigns
        .iter()
        .flat_map(|kind| index.of_kind_in(*kind, around).iter().copied())
        .filter(|a| index.target(*a).is_some_and(|l| index.text_of(l) == text));
    found.next().filter(|a| found.next().is_none() && *a < name && index.kind(*a) == k.assignment)
}

/// `for a, b in zip(x.chunk(n), y.chunk(n)):`.
#[derive(Clone, Debug)]
pub struct Chunks {
    /// What is split.
    pub tensors: Vec<Id>,
    /// The number of parts, once for each time it is written.
    pub numbers: Vec<Id>,
}

/// Reads a loop as one over equal parts of a batch.
pub fn chunks(file: &PythonFile<'_>, around: Id) -> Option<Chunks> {
    let k = kinds();
    let index = &file.index;
    let over = index.source(around).filter(|r| index.kind(*r) == k.call)?;
    let parts = |call: Id| -> Vec<Id> { index.arguments(call).ids().collect() };
    let calls = if index.callee(over).is_some_and(|g| index.text_of(g) == "zip") { parts(over) } else { vec![over] };
    let mut out = Chunks { tensors: Vec::new(), numbers: Vec::new() };
    for call in calls {
        let function = index.callee(call).filter(|_| called_name(index, call) == Some("chunk"))?;
        let mut given = parts(call).into_iter();
        let of_torch = file.names.qualify(index, function).as_deref() == Some("torch.chunk");
        out.tensors.push(if of_torch { given.next()? } else { index.owner(function)? });
        out.numbers.push(given.next().filter(|n| index.kind(*n) != k.keyword_argument)?);
        // Samples are counted along the first axis.
        if !given.all(|rest| matches!(index.text_of(rest), "0" | "dim=0")) {
            return None;
        }
    }
    let first = index.text_of(*out.numbers.first()?);
    out.numbers.iter().all(|n| index.text_of(*n) == first).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::{chunks, counted};
    use crate::marked;

    #[test]
    fn a_test_that_counts_batches() {
        let check = |above: &str, test: &str, expected: &str| {
            let mark = "^".repeat(test.len());
            let program = format!("for i in r:\n    {above}\n    if {test}:\n       {mark}\n        f()\n");
            marked::check(&program, expected, |at| {
                let Some(found) = counted(&at.file(), at.node()) else { return "none".to_owned() };
                let named = found.named.map_or("", |_| if found.denied { " not named" } else { " named" });
                let each = |word: &str, ids: Vec<_>| {
                    ids.into_iter().map(|id| format!(" {word} {}", at.lines([id]))).collect::<String>()
                };
                let (or, and) = (each("or", found.alternatives), each("and", found.conditions));
                format!("{}{named}{or}{and}", found.count)
            });
        };
        check("", "(i + 1) % 4 == 0", "4");
        check("", "not (i + 1) % args.n", "args.n");
        check("", "i % cfg['n'] == 0 and ready", "cfg['n'] and ready");
        check("", "i % 4 == 0 or end", "4 or end");
        check("", "end or (i % 4 == 0 and ready)", "4 or end and ready");
        check("", "bool(i % 4 == 0 and ready)", "");
        check("", "(last := i % 4 == 0 and ready)", "");
        check("", "not (i % 4 or warm)", "4 and warm");
        check("", "not (i % 4 and i + 1 != len(r))", "4 or i + 1 != len(r)");
        check("", "i % len(x) == 0", "");
        check("", "i == 4", "none");
        check("", "'%d' % i == name", "none");
        check("last = i % 4 == 0", "last", "4 named");
        check("last = i % 4 == 0", "not last", "4 not named");
        check("last = i % 4 == 0 or end", "last", "4 named or end");
        check("waits = i % 4 != 0 and not end", "not waits", "4 not named or not end");
        check("last = i % 4 == 0\n    last = last or end", "last", "none");
    }

    #[test]
    fn a_loop_over_parts_of_a_batch() {
        let check = |header: &str, expected: &str| {
            let program = format!("import torch\nfor {header}:\n^^^\n    f()\n");
            marked::check(&program, expected, |at| {
                chunks(&at.file(), at.node()).map_or("none".to_owned(), |c| at.lines(c.tensors).replace('\n', " "))
            });
        };
        check("a, b in zip(x.chunk(n), y.chunk(n))", "x y");
        check("a in torch.chunk(x, 4, dim=0)", "x");
        check("a in x.chunk(4, 1)", "none");
        check("a, b in zip(x.chunk(n), y.chunk(m))", "none");
        check("a in x.split(4)", "none");
    }
}
