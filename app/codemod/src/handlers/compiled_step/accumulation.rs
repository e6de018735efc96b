//! Gradients that are added up over several batches by hand, which the compiled step does by itself.

use super::known::{Known, number};
use super::micro_batches::{Cut, cut, micro_batches};
use super::plan::Plan;
use super::{Input, Refusal, is_reached, loop_of, refuse};
use crate::change::{Change, dedent, statement_end};
use crate::facts::counting::{Counted, counted};
use crate::facts::roles::Role;
use crate::facts::{FileView, line_indent};
use crate::tree::{Id, fields, kinds};

const ADVICE: &str = "gradients are accumulated by hand in a way that is not followed. Write it as `if (i + 1) % n == 0:` around \
    the optimizer's step, in the loop over the loader, with a number or a name for n and no `else`; then port again";
const ELSEWHERE: &str = "the IPU accumulates gradients by its options, which are told before the loader is made, and that is not in \
    this file. Make the loader here, then port again";
const UNKNOWN: &str = "the IPU accumulates gradients by its options, which are told before the loader is made, and this number of \
    batches is not known there. Make it a constant at the top of the file, or a setting that is read before, then port again";

/// What makes a step out of several batches.
pub(super) enum Counter {
    /// `if (i + 1) % n == 0:` around the optimizer's step.
    Around,
    /// `if (i + 1) % n != 0: continue` in front of it.
    Skip(Id),
    /// `for _ in range(n):` around the backward pass: the n.
    Turns(Id),
    /// `for a, b in zip(x.chunk(n), y.chunk(n)):` around it, and the samples of one part.
    Parts(Cut, String),
}

/// Gradients that are added up by hand.
pub(super) struct Accumulation {
    pub(super) by: Counter,
    /// Tests that hold at the batches of an update; every batch is one now.
    pub(super) tests: Vec<Id>,
    /// The assignment that gives the test a name, and whether that name holds at an update.
    named: Option<(Id, bool)>,
    /// The number of batches, as the step writes it.
    pub(super) count: String,
    /// The same where the options are told.
    value: String,
    pub(super) known: Known,
}

/// How a step accumulates, if it does.
pub(super) fn accumulation(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    step: Id,
    around: Option<Id>,
    optimizer: &str,
    header: Id,
) -> Result<Option<Accumulation>, Refusal> {
    let f = fields();
    let index = &view.index;
    let branch = input.project.modes.is_some();
    for &call in view.calls("step").iter().filter(|c| index.is_within(**c, step) && is_reached(input, view, **c)) {
        let Some(object) = index.field(call, f.function).and_then(|g| index.field(g, f.object)) else { continue };
        if index.text_of(object) != optimizer && input.project.role(view, object) != Some(Role::Scaler) {
            continue;
        }
        if let Some(inner) = around.filter(|l| !index.is_within(call, *l)) {
            let turns = micro_batches(input, view, step, inner, optimizer);
            // A counted loop over micro-batches gets a check at run time: one turn is no accumulation.
            if branch {
                return if turns.is_some() { Ok(None) } else { refuse(call, ADVICE) };
            }
            if let Some(cut) = cut(view, inner)?
                && let Some(&number) = cut.chunks.numbers.first()
            {
                let count = index.text_of(number).to_owned();
                let (value, known) = told(view, step, &count, number, header)?;
                let part = cut.micro_batch(view, &value)?;
                let by = Counter::Parts(cut, part);
                return Ok(Some(Accumulation { by, tests: Vec::new(), named: None, count, value, known }));
            }
            let turns = super::micro_batches::turns(input, view, inner, turns)?;
            let (value, known) = told(view, step, index.text_of(turns), turns, header)?;
            let count = index.text_of(turns).to_owned();
            return Ok(Some(Accumulation {
                by: Counter::Turns(turns),
                tests: Vec::new(),
                named: None,
                count,
                value,
                known,
            }));
        }
        let Some((by, test, counted)) = counter(view, step, call) else { continue };
        let otherwise = index.field(test, f.alternative).is_some();
        let by_name = counted.named.is_some() || matches!(by, Counter::Skip(_));
        if counted.count.is_empty() || counted.and_more || otherwise || branch && by_name {
            return refuse(test, ADVICE);
        }
        let (value, known) = told(view, step, counted.count, test, header)?;
        // The name holds at an update when the test that lets it happen asks for it.
        let named = counted.named.map(|(assignment, denied)| (assignment, denied == matches!(by, Counter::Skip(_))));
        let mut tests = vec![test];
        if matches!(by, Counter::Skip(_)) {
            tests.clear();
        }
        tests.extend(same_tests(input, view, test, &counted, named.map(|(_, holds)| holds)));
        return Ok(Some(Accumulation { by, tests, named, count: counted.count.to_owned(), value, known }));
    }
    Ok(None)
}

/// What the options are told, and where; or why they can't be.
fn told(view: &FileView<'_>, step: Id, count: &str, at: Id, header: Id) -> Result<(String, Known), Refusal> {
    if view.calls("DataLoader").is_empty() {
        return refuse(at, ELSEWHERE);
    }
    number(view, step, count, header).map_or_else(|| refuse(at, UNKNOWN), Ok)
}

/// The test that decides at which batches a call is made: around it, or in front of it with a `continue`.
fn counter<'t>(view: &FileView<'t>, step: Id, call: Id) -> Option<(Counter, Id, Counted<'t>)> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let goes_back = |at: Id| view.calls("backward").iter().any(|b| index.is_within(*b, at));
    let test =
        |at: Id| (index.kind(at) == k.if_statement).then(|| counted(view, index.field(at, f.condition)?)).flatten();
    let inside = index.ancestors(call).take_while(|a| *a != step);
    // A test around the backward pass, too, chooses batches and adds up nothing.
    if let Some((at, found)) = inside.into_iter().filter(|a| !goes_back(*a)).find_map(|a| Some((a, test(a)?))) {
        return Some((Counter::Around, at, found));
    }
    let around = loop_of(view, call)?;
    skips(view, around)
        .into_iter()
        .filter(|at| *at < call && index.parent(*at).is_some_and(|block| index.is_within(call, block)))
        .filter(|at| view.calls("backward").iter().any(|b| index.is_within(*b, around) && b < at))
        .find_map(|at| Some((Counter::Skip(at), at, test(at)?)))
}

/// Tests of a loop that do nothing but go on to its next turn.
pub(super) fn skips(view: &FileView<'_>, around: Id) -> Vec<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let only_continues = |at: &Id| {
        let body = index.field(*at, f.consequence);
        body.is_some_and(|b| {
            index.parts(b).count() == 1 && index.parts(b).all(|s| index.kind(s) == k.continue_statement)
        }) && loop_of(view, *at) == Some(around)
    };
    index.of_kind_in(k.if_statement, around).iter().copied().filter(only_continues).collect()
}

/// Other tests of the loop that hold at the same batches: of the same words, or around a scheduler's step.
fn same_tests(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    test: Id,
    like: &Counted<'_>,
    name_holds: Option<bool>,
) -> Vec<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let Some(around) = loop_of(view, test) else { return Vec::new() };
    let steps_schedule = |at: Id| {
        view.calls("step").iter().any(|c| {
            let object = index.field(*c, f.function).and_then(|g| index.field(g, f.object));
            index.is_within(*c, at) && object.is_some_and(|o| input.project.role(view, o) == Some(Role::Scheduler))
        })
    };
    let same = |at: &Id| {
        let found = index.field(*at, f.condition).and_then(|c| counted(view, c));
        *at != test
            && index.field(*at, f.alternative).is_none()
            && found.is_some_and(|found| match (found.named, name_holds) {
                (Some((_, denied)), Some(holds)) => denied != holds,
                _ => {
                    !found.and_more
                        && (index.text_of(found.expression) == index.text_of(like.expression) && name_holds.is_none()
                            || found.count == like.count && steps_schedule(*at))
                }
            })
    };
    index.of_kind_in(k.if_statement, around).iter().copied().filter(same).collect()
}

impl Accumulation {
    /// What is told to the options.
    pub(super) fn lines(&self, opts: &str, divided: bool) -> String {
        let mut out = format!("{opts}.Training.gradientAccumulation({})", self.value);
        if !divided {
            out.push_str(&format!(
                "\n{opts}.Training.accumulationAndReplicationReductionType(poptorch.ReductionType.Sum)"
            ));
        }
        out
    }

    /// A moved statement without the division by the number of batches; none when that was all it did.
    pub(super) fn undivided(&self, text: &str, attributes: &[(String, String)]) -> (Option<String>, bool) {
        let bare = text.trim_end();
        let counts: Vec<String> = std::iter::once(self.count.clone())
            .chain(attributes.iter().filter_map(|(name, given)| self.as_attribute(name, given)))
            .collect();
        let by = |form: &str| {
            counts.iter().find_map(|count| bare.strip_suffix(&format!("{form}{count}"))).map(str::trim_end)
        };
        if by("/= ").or_else(|| by("/=")).is_some() {
            return (None, true);
        }
        let Some(rest) = by("/ ").or_else(|| by("/")) else { return (Some(text.to_owned()), false) };
        match rest.split_once('=') {
            Some((left, right)) if left.trim() == right.trim() => (None, true),
            // `a + b / n` divides b alone.
            Some((_, right)) if !is_one_term(right) => (Some(text.to_owned()), false),
            _ => (Some(rest.to_owned()), true),
        }
    }

    /// How the module calls the number, when this attribute holds it.
    fn as_attribute(&self, name: &str, given: &str) -> Option<String> {
        let rest = self.count.strip_prefix(given)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("self.{name}{rest}"))
    }

    /// Attributes that only the division asked for.
    pub(super) fn forget_number(&self, attributes: &mut Vec<(String, String)>, body: &[String]) {
        attributes.retain(|(name, given)| {
            self.as_attribute(name, given).is_none() || body.iter().any(|l| l.contains(&format!("self.{name}")))
        });
    }

    /// Whether a test is one of those that count.
    pub(super) fn counts(&self, test: Id) -> bool {
        self.tests.contains(&test)
    }

    /// Every batch of the loader is one of an update now: tests hold, what skips goes, and a loop over them has one turn.
    pub(super) fn at_every_turn(&self, plan: &mut Plan<'_, '_>) {
        let f = fields();
        let view = plan.view;
        let index = &view.index;
        let whole = |node: Id, text: &str| Change::Expression { node, range: index.range(node), text: text.to_owned() };
        let conditions: Vec<Id> = self.tests.iter().filter_map(|t| index.field(*t, f.condition)).collect();
        for &condition in &conditions {
            plan.edit(condition, whole(condition, "True"));
        }
        match &self.by {
            Counter::Around => {}
            &Counter::Skip(at) => plan.edit(at, Change::Replace { first: at, last: at, text: String::new() }),
            &Counter::Turns(turns) => plan.edit(turns, whole(turns, "1")),
            Counter::Parts(cut, part) => {
                for &number in &cut.chunks.numbers {
                    plan.edit(number, whole(number, "1"));
                }
                plan.edit(cut.batch, whole(cut.batch, part));
            }
        }
        let Some((assignment, holds)) = self.named else { return };
        let (Some(left), Some(right)) = (index.field(assignment, f.left), index.field(assignment, f.right)) else {
            return;
        };
        let goes = |id: Id| {
            let skipped = matches!(self.by, Counter::Skip(at) if index.is_within(id, at));
            skipped || id == left || conditions.iter().any(|c| index.is_within(id, *c))
        };
        let plain = index.kind(left) == kinds().identifier;
        let statement = view.statement_of(assignment).filter(|_| plain);
        match statement.filter(|_| view.identifiers(index.text_of(left)).iter().all(|id| goes(*id))) {
            Some(at) => plan.edit(at, Change::Replace { first: at, last: at, text: String::new() }),
            None => plan.edit(right, whole(right, if holds { "True" } else { "False" })),
        }
    }

    /// `len(loader) // n` is `len(loader)` where the loader's batches are those of a whole step.
    pub(super) fn lengths(&self, plan: &mut Plan<'_, '_>) {
        if matches!(self.by, Counter::Parts(..)) {
            return;
        }
        let k = kinds();
        let view = plan.view;
        let index = &view.index;
        let text = |id: Id| index.text_of(id);
        let same = |id: Id| [&self.count, &self.value].iter().any(|n| **n == *text(id));
        // The loader whose batches are accumulated: the one that a loop around a test reads.
        let loops = self.tests.iter().flat_map(|t| index.ancestors(*t)).filter(|a| index.kind(*a) == k.for_statement);
        let read: Vec<&str> = loops
            .filter_map(|l| index.field(l, fields().right))
            .flat_map(|right| std::iter::once(right).chain(index.of_kind_in(k.identifier, right).iter().copied()))
            .chain(index.of_kind(k.attribute).iter().copied().filter(|a| {
                self.tests.iter().flat_map(|t| index.ancestors(*t)).any(|l| {
                    index.kind(l) == k.for_statement
                        && index.field(l, fields().right).is_some_and(|right| index.is_within(*a, right))
                })
            }))
            .map(text)
            .collect();
        let is_length = |id: Id| {
            let of = || index.parts(index.field(id, fields().arguments)?).next();
            index.kind(id) == k.call
                && crate::names::called_name(index, id) == Some("len")
                && of()
                    .is_some_and(|o| read.contains(&text(o)) && plan.input.project.role(view, o) == Some(Role::Loader))
        };
        for &quotient in index.of_kind(k.binary_operator) {
            let mut parts = index.parts(quotient);
            let (Some(left), Some(right)) = (parts.next(), parts.next()) else { continue };
            let operator = index.text[index.item(left).end..index.item(right).start].trim();
            // `epochs * len(loader) // n` too; of `(len(loader) + n - 1) // n` nothing is known.
            let counts = is_length(left)
                || index.kind(left) == k.binary_operator && {
                    let sides: Vec<Id> = index.parts(left).collect();
                    let between = sides
                        .windows(2)
                        .all(|s| index.text[index.item(s[0]).end..index.item(s[1]).start].trim() == "*");
                    between && sides.iter().any(|s| is_length(*s))
                };
            if ["//", "/"].contains(&operator) && counts && same(right) && is_reached(plan.input, view, quotient) {
                let range = index.item(left).end..index.item(quotient).end;
                plan.edit(quotient, Change::Expression { node: quotient, range, text: String::new() });
            }
        }
    }
}

/// Whether a division that follows divides all of an expression: nothing weaker stands outside of its brackets.
fn is_one_term(expression: &str) -> bool {
    let mut depth = 0_usize;
    let is_weak = |word: &str| matches!(word, "+" | "-" | "if" | "or" | "and" | "lambda" | "|" | "&" | "<" | ">");
    let outside: String = expression
        .chars()
        .map(|c| {
            if matches!(c, '(' | '[' | '{') {
                depth += 1;
            } else if matches!(c, ')' | ']' | '}') {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 { c } else { '.' }
        })
        .collect();
    let spaced = outside.replace(['+', '-'], " + ");
    !spaced.trim_start_matches([' ', '+']).split_whitespace().any(is_weak)
}

/// A test's body without the test, without what `gone` names and with what follows a scheduler.
pub(super) fn unwrapped(
    view: &FileView<'_>,
    test: Id,
    gone: &dyn Fn(Id) -> bool,
    after: &dyn Fn(Id) -> Option<String>,
) -> Change {
    let index = &view.index;
    let mut out: Vec<String> = Vec::new();
    for statement in index.field(test, fields().consequence).into_iter().flat_map(|b| index.children(b)) {
        if gone(statement) {
            continue;
        }
        let start = index.item(statement).start;
        let text = &index.text[start..statement_end(view, statement)];
        out.push(dedent(&text.replace("\r\n", "\n"), line_indent(index.text, start)));
        out.extend(after(statement));
    }
    Change::Replace { first: test, last: test, text: out.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::is_one_term;

    #[test]
    fn a_division_divides_the_last_term() {
        for whole in ["criterion(x, y)", "(a + b)", "a * b", "-a", "f(a + b) * w[i - 1]"] {
            assert!(is_one_term(whole), "{whole}");
        }
        for sum in ["a + b", "a - f(b)", "a if b else c", "(a) + (b)"] {
            assert!(!is_one_term(sum), "{sum}");
        }
    }
}
