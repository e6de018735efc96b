//! Gradients that are accumulated over several batches by hand.

use super::calls::{arguments, is_parameter, loop_around};
use super::count::{Known, number};
use super::end_of_imports;
use super::micro_batches::{Cut, cut, micro_batches, turns};
use super::obstacle::{self as why, Found, Obstacle};
use super::schedule::schedules;
use super::update::updates;
use crate::counting::{Counted, counted};
use crate::project::FileInProject;
use crate::roles::Role;
use python::PythonFile;
use python::names::called_name;
use python::tree::{Id, ROOT, fields, kinds};

/// How several batches become one step.
#[derive(Clone)]
pub enum Counter {
    /// `if (i + 1) % n == 0:` around the optimizer's step.
    Around,
    /// `if (i + 1) % n != 0: continue` before it.
    Skip(Id),
    /// `for _ in range(n):` around the backward pass: the n.
    Turns(Id),
    /// `for a, b in zip(x.chunk(n), y.chunk(n)):` around it, and the samples of one part.
    Parts(Cut, String),
}

/// Gradients that are accumulated by hand.
#[derive(Clone)]
pub struct Accumulation {
    /// How several batches become one step.
    pub by: Counter,
    /// Tests that are true at the batches of an update; now every batch is one.
    pub tests: Vec<Id>,
    /// The assignment that names the test, and whether that name is true at an update.
    pub named: Option<(Id, bool)>,
    /// What makes an update of the batches that are left at the end of an epoch: another part of the test, or an update
    /// outside of the loop. A step of the target's always takes `count` batches.
    pub rest_updates: Vec<Id>,
    /// Steps of the schedule that go with an update outside of the loop, as the loop's updates have one.
    pub rest_schedules: Vec<Id>,
    /// The number of batches, as the step writes it.
    pub count: String,
    /// The same, as written where it is known.
    pub value: String,
    /// The place from which on that can be written.
    pub known: Known,
    /// A loader of another file, whose batches are joined here.
    pub joined: Option<JoinedLoader>,
    /// Where the loop ends before its loader does, by a count of batches if there is one, and that loader as the loop writes it.
    pub left_early: Vec<(Id, String)>,
}

impl Accumulation {
    /// Of the parts of one batch, whose loop takes all of them: nothing is left for an update of its own.
    fn of_parts(by: Counter, count: String, value: String, known: Known) -> Self {
        Self {
            by,
            tests: Vec::new(),
            named: None,
            rest_updates: Vec::new(),
            rest_schedules: Vec::new(),
            count,
            value,
            known,
            joined: None,
            left_early: Vec::new(),
        }
    }
}

/// A loader whose batches are joined to those of a whole step where the step reads them.
#[derive(Clone)]
pub struct JoinedLoader {
    /// How the step writes it: `loader`, `loaders["train"]`.
    pub loader: String,
    /// The name of the joined one.
    pub name: String,
    /// Where the step reads it under another name than that.
    pub reads: Vec<Id>,
    /// The statement before or after which the number of batches is known.
    pub at: Id,
    /// Whether it is after that statement.
    pub after: bool,
}

/// How a step accumulates, if it does.
pub(crate) fn read(
    file: FileInProject<'_, '_>,
    step: Id,
    around: Option<Id>,
    optimizer: &str,
) -> Found<Option<Accumulation>> {
    let index = &file.view.index;
    let branch = file.project.has_compute_modes();
    for &call in file.calls_in("step", step).iter().filter(|c| file.is_reached(**c)) {
        let Some(object) = file.index.receiver(call) else { continue };
        if index.text_of(object) != optimizer && file.role(object) != Some(Role::Scaler) {
            continue;
        }
        if let Some(inner) = around.filter(|l| !index.is_within(call, *l)) {
            let counted = micro_batches(file, step, inner, optimizer);
            // A counted loop over micro-batches gets a check at run time: one iteration is no accumulation.
            if branch {
                return if counted.is_some() { Ok(None) } else { Err(why::accumulation_unclear(call)) };
            }
            if let Some(cut) = cut(&file, inner)?
                && let Some(&number) = cut.chunks.numbers.first()
            {
                let count = index.text_of(number).to_owned();
                let (value, known) = known(file, step, number)?;
                let part = cut.micro_batch(&file, &value)?;
                let by = Counter::Parts(cut, part);
                return Ok(Some(Accumulation::of_parts(by, count, value, known)));
            }
            let turns = turns(file, inner, counted)?;
            let (value, known) = known(file, step, turns)?;
            let count = index.text_of(turns).to_owned();
            return Ok(Some(Accumulation::of_parts(Counter::Turns(turns), count, value, known)));
        }
        let Some((by, test, counted)) = counter(&file, step, call) else { continue };
        let otherwise = index.otherwise(test).is_some();
        let skips = matches!(by, Counter::Skip(_));
        let by_name = counted.named.is_some() || skips;
        let (or, and) = (&counted.alternatives, &counted.conditions);
        // What is skipped at more batches is updated at fewer.
        let (others, required) = if skips { (and, or) } else { (or, and) };
        let is_rest = others.iter().all(|other| counted.is_at_end(&file, *other));
        let Some(divisor) = counted.divisor.filter(|_| required.is_empty() && is_rest) else {
            return Err(why::accumulation_unclear(test));
        };
        if otherwise || branch && by_name {
            return Err(why::accumulation_unclear(test));
        }
        let (value, known, joined) = match known(file, step, divisor) {
            Ok((value, known)) => (value, known, None),
            Err(obstacle) if branch => return Err(obstacle),
            Err(obstacle) => {
                let (value, joined) = joined_loader(file, divisor, test).ok_or(Obstacle { at: test, ..obstacle })?;
                let is_literal = value.chars().all(|c| c.is_ascii_digit());
                let place = if joined.after { Known::After(joined.at) } else { Known::Before(joined.at) };
                (value, if is_literal { Known::FromStart } else { place }, Some(joined))
            }
        };
        // The name is true at an update if the test for the update requires it.
        let named = counted.named.map(|assignment| (assignment, counted.denied == skips));
        let mut tests = if skips { Vec::new() } else { vec![test] };
        tests.extend(same_tests(file, test, &counted, skips));
        let around = loop_around(&file, test);
        let body = around.and_then(|around| index.body(around));
        let behind = around.zip(body).map(|found| updates_behind(file, step, found)).unwrap_or_default();
        // One of several is for another precision.
        let reached = behind.iter().copied().find(|c| file.is_reached(*c));
        let rest_updates = others.iter().copied().chain(reached).collect();
        let is_of_update = |call: Id| {
            let follows = |at: Id| call > at && index.parent(at).is_some_and(|block| index.is_within(call, block));
            tests.iter().any(|test| index.is_within(call, *test)) || matches!(by, Counter::Skip(at) if follows(at))
        };
        let rest_schedules = schedules_of_rest(file, &behind, body, &is_of_update);
        let count = counted.count.to_owned();
        let left_early = around.map(|around| left_early(&file, around)).unwrap_or_default();
        return Ok(Some(Accumulation {
            by,
            tests,
            named,
            rest_updates,
            rest_schedules,
            count,
            value,
            known,
            joined,
            left_early,
        }));
    }
    Ok(None)
}

/// The updates behind the body of a loop that make one of what is left: the first, and others in the same statement.
fn updates_behind(file: FileInProject<'_, '_>, step: Id, (around, body): (Id, Id)) -> Vec<Id> {
    let index = &file.view.index;
    let is_behind = |c: &Id| *c > body && !index.is_within(*c, body);
    let mut found: Vec<Id> = updates(file, step).into_iter().map(|update| update.call).filter(is_behind).collect();
    // The first one's statement in the block of the loop, or the loop's `else`.
    let block = index.parent(around);
    let whole = found
        .iter()
        .find(|c| file.is_reached(**c))
        .and_then(|first| std::iter::once(*first).chain(index.ancestors(*first)).find(|a| index.parent(*a) == block));
    found.retain(|c| whole.is_some_and(|whole| index.is_within(*c, whole)));
    found
}

/// Steps of schedulers in the block around updates behind a loop, of those that step with the loop's updates, too.
fn schedules_of_rest(
    file: FileInProject<'_, '_>,
    updates: &[Id],
    body: Option<Id>,
    is_of_update: &dyn Fn(Id) -> bool,
) -> Vec<Id> {
    let index = &file.view.index;
    let (Some(&first), Some(body)) = (updates.first(), body) else { return Vec::new() };
    let block_of = |call: Id| file.statement_of(call).and_then(|statement| index.parent(statement));
    // The arms of an `if` are one update.
    let block = index.ancestors(first).find(|a| {
        [kinds().block, kinds().module].contains(&index.kind(*a)) && updates.iter().all(|u| index.is_within(*u, *a))
    });
    let Some(block) = block else { return Vec::new() };
    let in_loop = schedules(file, body).steps;
    let is_of_updates =
        |scheduler: &str| in_loop.iter().any(|(call, other)| *other == scheduler && is_of_update(*call));
    let beside = schedules(file, block).steps.into_iter();
    let beside = beside.filter(|(call, scheduler)| {
        block_of(*call) == Some(block) && !index.is_within(*call, body) && is_of_updates(scheduler)
    });
    beside.map(|(call, _)| call).collect()
}

/// The number of batches as written before a loader is created, and from where on it is known; or why it isn't.
fn known(file: FileInProject<'_, '_>, step: Id, count: Id) -> Found<(String, Known)> {
    if file.calls("DataLoader").is_empty() {
        return Err(why::loader_elsewhere(count));
    }
    number(file, step, count, end_of_imports(file, step)).map_or_else(|| Err(why::count_unknown(count)), Ok)
}

/// The loader of the loop around a counting test, where the step first reads it, if the number of batches is known there;
/// and that number as it is written there.
fn joined_loader(file: FileInProject<'_, '_>, count: Id, test: Id) -> Option<(String, JoinedLoader)> {
    let (k, f) = (kinds(), fields());
    let index = &file.view.index;
    let around = index.ancestors(test).find(|a| index.kind(*a) == k.for_statement)?;
    let function = file.function_of(around);
    let source = index.source(around)?;
    let kinds = [k.identifier, k.attribute, k.subscript];
    let inside = |within: Id| kinds.into_iter().flat_map(move |kind| index.of_kind_in(kind, within)).copied();
    let found: Vec<Id> = inside(source).filter(|id| file.has_role(*id, Role::Loader)).collect();
    let is_outermost = |id: &Id| !found.iter().any(|other| other != id && index.is_within(*id, *other));
    let mut loaders = found.iter().copied().filter(is_outermost);
    let loader = loaders.next().filter(|_| loaders.next().is_none())?;
    let text = index.text_of(loader);
    let is_plain = index.kind(loader) == k.identifier;
    let bound: Vec<Id> = if is_plain {
        file.index.bindings(text).iter().copied().filter(|b| file.function_of(*b) == function).collect()
    } else {
        Vec::new()
    };
    let is_own = !bound.is_empty() || function.is_some_and(|function| is_parameter(&file, function, text));
    let body = function.map_or(Some(ROOT), |function| index.body(function))?;
    let reads: Vec<Id> = inside(body)
        .filter(|id| index.is_text(*id, text) && index.item(*id).field != f.left && file.function_of(*id) == function)
        .collect();
    let (at, after) = match bound.as_slice() {
        [made] if !index.is_loop(*made) => (file.statement_of(*made)?, true),
        [] => {
            // The loop over the epochs.
            let is_loop = |a: &Id| index.is_loop(*a) && file.function_of(*a) == function;
            let outermost = index.ancestors(test).filter(is_loop).last()?;
            let first = |read: &Id| index.parts(index.parent(outermost)?).find(|s| index.is_within(*read, *s));
            (reads.iter().filter_map(first).min()?, false)
        }
        _ => return None,
    };
    // The loop is where it is joined, or follows in the same block.
    let block = index.parent(at)?;
    let is_reached = index.is_within(around, block) && at <= around;
    let place = if after { index.parts(block).find(|next| *next > at && !index.is_within(*next, at))? } else { at };
    let is_early = reads.iter().any(|read| *read < place && !index.is_within(*read, at));
    let value = file.written_at(count, place).filter(|_| is_reached && !is_early)?;
    let (name, reads) = match is_own && (function.is_some() || after) {
        true => (text.to_owned(), Vec::new()),
        false => (file.free_name(&["batches", "joined_batches"]), reads),
    };
    Some((value, JoinedLoader { loader: text.to_owned(), name, reads, at, after }))
}

/// Where a loop over batches ends before its loader does, by the number of those that it has read.
fn left_early(file: &PythonFile<'_>, around: Id) -> Vec<(Id, String)> {
    let (k, index) = (kinds(), &file.index);
    let Some(source) = index.source(around) else { return Vec::new() };
    let counted = (called_name(index, source) == Some("enumerate"))
        .then(|| index.arguments(source).positional().next())
        .flatten();
    let number = index.target(around).and_then(|target| index.parts(target).next()).filter(|_| counted.is_some());
    // `n += 1` in each turn of the loop.
    let counts = |added: &Id| {
        let is_number = index.source(*added).is_some_and(|value| index.kind(value) == k.integer);
        let mut within = index.ancestors(*added).take_while(|within| *within != around);
        is_number
            && within.all(|within| [k.expression_statement, k.block, k.with_statement].contains(&index.kind(within)))
    };
    let added = index.of_kind_in(k.augmented_assignment, around).iter().filter(|added| counts(added));
    let added = added.filter_map(|added| index.target(*added));
    let numbers: Vec<&str> = number.into_iter().chain(added).map(|id| index.text_of(id)).collect();
    let depends = |id: Id| {
        let mut tests = index.ancestors(id).take_while(|a| *a != around).filter_map(|a| index.condition(a));
        tests.any(|test| index.mentions(test, |name| numbers.contains(&name)))
    };
    let loader = index.text_of(counted.unwrap_or(source));
    let breaks = index.of_kind_in(k.break_statement, around).iter().copied();
    breaks
        .filter(|id| loop_around(file, *id) == Some(around) && depends(*id))
        .map(|id| (id, loader.to_owned()))
        .collect()
}

/// The test that decides at which batches a call is made: around it, or before it with a `continue`.
fn counter<'t>(file: &PythonFile<'t>, step: Id, call: Id) -> Option<(Counter, Id, Counted<'t>)> {
    let k = kinds();
    let index = &file.index;
    let goes_back = |at: Id| !file.calls_in("backward", at).is_empty();
    let test = |at: Id| (index.kind(at) == k.if_statement).then(|| counted(file, index.condition(at)?)).flatten();
    let inside = index.ancestors(call).take_while(|a| *a != step);
    // A test that is also around the backward pass selects batches and accumulates nothing.
    if let Some((at, found)) = inside.into_iter().filter(|a| !goes_back(*a)).find_map(|a| Some((a, test(a)?))) {
        return Some((Counter::Around, at, found));
    }
    let around = loop_around(file, call)?;
    skips(file, around)
        .into_iter()
        .filter(|at| *at < call && index.parent(*at).is_some_and(|block| index.is_within(call, block)))
        .filter(|at| file.calls_in("backward", around).first().is_some_and(|b| b < at))
        .find_map(|at| Some((Counter::Skip(at), at, test(at)?)))
}

/// Tests of a loop that only continue with its next iteration.
pub fn skips(file: &PythonFile<'_>, around: Id) -> Vec<Id> {
    let k = kinds();
    let index = &file.index;
    let only_continues = |at: &Id| {
        let body = index.consequence(*at);
        body.is_some_and(|b| {
            index.parts(b).count() == 1 && index.parts(b).all(|s| index.kind(s) == k.continue_statement)
        }) && loop_around(file, *at) == Some(around)
    };
    index.of_kind_in(k.if_statement, around).iter().copied().filter(only_continues).collect()
}

/// Other tests of the loop that are true once for each update: by the same name or with the same text, at another of the batches
/// that it takes, or around a scheduler's step.
fn same_tests(file: FileInProject<'_, '_>, test: Id, like: &Counted<'_>, skips: bool) -> Vec<Id> {
    let k = kinds();
    let index = &file.index;
    let Some(around) = loop_around(&file, test) else { return Vec::new() };
    let steps_schedule = |at: Id| {
        file.calls("step").iter().any(|c| {
            index.is_within(*c, at) && file.index.receiver(*c).is_some_and(|o| file.role(o) == Some(Role::Scheduler))
        })
    };
    let same = |at: &Id| {
        let found = index.condition(*at).and_then(|c| counted(&file, c));
        *at != test
            && index.otherwise(*at).is_none()
            && found.is_some_and(|found| {
                let is_same = found.named == like.named
                    && (found.named.is_some() || index.text_of(found.expression) == index.text_of(like.expression))
                    && (found.denied == like.denied) != skips;
                let of_schedule = found.named.is_none() && found.count == like.count && steps_schedule(*at);
                is_same || found.conditions.is_empty() && (of_schedule || found.is_once_in_a_group(&file, like))
            })
    };
    index.of_kind_in(k.if_statement, around).iter().copied().filter(same).collect()
}

impl Accumulation {
    /// A moved statement without the division by the number of batches; none if it only divides.
    pub(crate) fn undivided(&self, text: &str, attributes: &[(String, String)]) -> (Option<String>, bool) {
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

    /// The module's name for the number, if this attribute contains it.
    fn as_attribute(&self, name: &str, given: &str) -> Option<String> {
        let rest = self.count.strip_prefix(given)?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then(|| format!("self.{name}{rest}"))
    }

    /// Attributes that only the division needed.
    pub(crate) fn forget_number(&self, attributes: &mut Vec<(String, String)>, body: &[String]) {
        attributes.retain(|(name, given)| {
            self.as_attribute(name, given).is_none() || body.iter().any(|l| l.contains(&format!("self.{name}")))
        });
    }

    /// Whether a test is one of the counting tests.
    pub(crate) fn counts(&self, test: Id) -> bool {
        self.tests.contains(&test)
    }

    /// Counts of updates, `len(loader) // n`: the quotient and its dividend. None if a loader's batches are those of a
    /// whole step.
    pub fn counts_of_updates(&self, file: FileInProject<'_, '_>) -> Vec<(Id, Id)> {
        let k = kinds();
        let index = &file.view.index;
        if matches!(self.by, Counter::Parts(..)) {
            return Vec::new();
        }
        let text = |id: Id| index.text_of(id);
        let same = |id: Id| [&self.count, &self.value].iter().any(|n| **n == *text(id));
        // The loader whose batches are accumulated: the one in the loop around a test.
        let loops = self.tests.iter().flat_map(|t| index.ancestors(*t)).filter(|a| index.kind(*a) == k.for_statement);
        let sources: Vec<Id> = loops.filter_map(|l| index.source(l)).collect();
        let inside = |right: &Id| [k.identifier, k.attribute].map(|kind| index.of_kind_in(kind, *right)).concat();
        let read: Vec<&str> = sources.iter().copied().chain(sources.iter().flat_map(inside)).map(text).collect();
        let is_length = |id: Id| {
            index.kind(id) == k.call
                && called_name(index, id) == Some("len")
                && arguments(&file, id)
                    .first()
                    .is_some_and(|o| read.contains(&text(*o)) && file.role(*o) == Some(Role::Loader))
        };
        let counts = |quotient: Id| {
            let mut parts = index.parts(quotient);
            let (left, right) = (parts.next()?, parts.next()?);
            // `epochs * len(loader) // n` too; `(len(loader) + n - 1) // n` is not recognised.
            let of_length = is_length(left)
                || index.kind(left) == k.binary_operator && {
                    let sides: Vec<Id> = index.parts(left).collect();
                    let multiplies = sides.windows(2).all(|s| index.between(s[0], s[1]) == "*");
                    multiplies && sides.iter().any(|s| is_length(*s))
                };
            let divides = ["//", "/"].contains(&index.between(left, right));
            // Only where the loader's batches are joined by then.
            let is_joined = self
                .joined
                .as_ref()
                .is_none_or(|joined| quotient > joined.at && file.function_of(quotient) == file.function_of(joined.at));
            (divides && of_length && is_joined && same(right) && file.is_reached(quotient)).then_some((quotient, left))
        };
        index.of_kind(k.binary_operator).iter().copied().filter_map(counts).collect()
    }
}

/// Whether a following division divides the whole expression: it has no operator of lower precedence outside brackets.
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

#[cfg(test)]
mod tests {
    use super::{Counter, is_one_term};
    use crate::marked::{self, with_setup};

    /// How a step accumulates gradients: by what, over how many batches, and their number where it is known.
    #[track_caller]
    fn check(rest: &str, expected: &str) {
        marked::check(&with_setup(rest), expected, |at| {
            let step = at.step().expect("a step");
            let by = |by: &Counter| match by {
                Counter::Around => "test",
                Counter::Skip(_) => "skip",
                Counter::Turns(_) => "loop",
                Counter::Parts(..) => "parts",
            };
            match &step.accumulates {
                Ok(None) => "none".to_owned(),
                Ok(Some(found)) => format!("{} {} {}", by(&found.by), found.count, found.value),
                Err(obstacle) => obstacle.name.to_owned(),
            }
        });
    }

    #[test]
    fn gradients_of_several_batches_in_one_step() {
        let loops = "for i, (x, y) in enumerate(loader):\n    F.mse_loss(net(x), y).backward()\n";
        check(&format!("{loops}    optimizer.step()\n"), "none");
        check(&format!("{loops}    if (i + 1) % 4 == 0:\n        optimizer.step()\n"), "test 4 4");
        check(&format!("{loops}    last = (i + 1) % 4 == 0\n    if last:\n        optimizer.step()\n"), "test 4 4");
        check(&format!("{loops}    if (i + 1) % 4 != 0:\n        continue\n    optimizer.step()\n"), "skip 4 4");
        check(
            &format!("{loops}    if (i + 1) % 4 == 0 and ready:\n        optimizer.step()\n"),
            "accumulation_unclear",
        );
        let skips = "    if (i + 1) % 4 != 0 or late:\n        continue\n    optimizer.step()\n";
        check(&format!("{loops}{skips}"), "accumulation_unclear");
        let late = "    if (i + 1) % 4 == 0 or i < 100:\n        optimizer.step()\n";
        check(&format!("{loops}{late}"), "accumulation_unclear");
        let epochs = "    if e % 2 == 0 or (i + 1) % 4 == 0:\n        optimizer.step()\n";
        check(&format!("{loops}{epochs}"), "accumulation_unclear");
        check(&format!("{loops}    if (i + 1) % len(x) == 0:\n        optimizer.step()\n"), "accumulation_unclear");
        check(&format!("{loops}    n = f(x)\n    if i % n == 0:\n        optimizer.step()\n"), "count_unknown");
        let class = "class S:\n    n = 2\nfor e in range(2):\n    for i, (x, y) in enumerate(loader):\n        F.mse_loss(net(x), y).backward()\n";
        check(&format!("{class}        if (i + 1) % S.n == 0:\n            optimizer.step()\n"), "test S.n 2");
    }

    #[test]
    fn a_loader_of_another_file_is_joined_where_the_step_first_reads_it() {
        let check = |step: &str, call: &str, expected: &str| {
            let data =
                "#- data.py\nfrom torch.utils.data import DataLoader\ndef load():\n    return DataLoader(a, 8)\n";
            let train = format!("#- train.py\nfrom data import load\nfrom engine import fit\n{call}\n");
            let torch = "#- engine.py\nimport torch\nimport torch.nn.functional as F\n";
            marked::check(&format!("{data}{train}{torch}{step}"), expected, |at| {
                let step = at.step().expect("a step");
                let found = match &step.accumulates {
                    Ok(found) => found.as_ref().expect("accumulation"),
                    Err(obstacle) => return obstacle.name.to_owned(),
                };
                let joined = found.joined.as_ref().expect("a joined loader");
                let reads = at.lines(joined.reads.iter().copied());
                let place = at.lines([joined.at]);
                let place = place.lines().next().unwrap_or_default();
                format!("{} = {} by {} at {place}; {reads}", joined.name, joined.loader, found.value)
            });
        };
        let body = |source: &str, n: &str| {
            let head = format!("    for i, (x, y) in enumerate({source}):\n                                ^\n");
            let head = head.replace("                                ^\n", "    ^^^\n");
            format!(
                "{head}        F.mse_loss(net(x), y).backward()\n        if (i + 1) % {n} == 0:\n            optimizer.step()\n"
            )
        };
        let fit =
            |given: &str, source: &str, n: &str| format!("def fit(net, optimizer, {given}):\n{}", body(source, n));
        check(
            &fit("loader, n", "loader", "n"),
            "fit(net, opt, load(), 4)",
            "loader = loader by n at for i, (x, y) in enumerate(loader):; ",
        );
        check(
            &fit("loaders, args", "loaders.train", "args.n"),
            "loaders = SimpleNamespace(train=load(), val=load())\nfit(net, opt, loaders, args)",
            "batches = loaders.train by args.n at for i, (x, y) in enumerate(loaders.train):; loaders.train",
        );
        check(
            &fit("loaders, n", "loaders[0]", "n"),
            "fit(net, opt, (load(), load()), 4)",
            "batches = loaders[0] by n at for i, (x, y) in enumerate(loaders[0]):; loaders[0]",
        );
        check(
            &fit("loaders, n", "loaders['train']", "n"),
            "loaders = {}\nloaders['train'] = load()\nfit(net, opt, loaders, 4)",
            "batches = loaders['train'] by n at for i, (x, y) in enumerate(loaders['train']):; loaders['train']",
        );
        let logged = "log.log_every(loader, 10, 'train')";
        check(
            &fit("loader, args", logged, "n").replace("args):\n", "args):\n    n = args.n\n    log = Log()\n"),
            "fit(net, opt, load(), args)",
            "loader = loader by n at for i, (x, y) in enumerate(log.log_every(loader, 10, 'train')):; ",
        );
        let late =
            fit("loader, args", "loader", "n").replace("args):\n", "args):\n    print(len(loader))\n    n = args.n\n");
        let found = "loader = loader by args.n at print(len(loader)); ";
        check(&late, "fit(net, opt, load(), args)", found);
        check(&late.replace("args.n", "pick()"), "fit(net, opt, load(), args)", "loader_elsewhere");
    }

    #[test]
    fn updates_of_what_is_left_of_an_epoch() {
        let check = |loop_body: &str, behind: &str, expected: &str| {
            let batch = "    for i, (x, y) in enumerate(loader):\n        F.mse_loss(net(x), y).backward()\n";
            let program = format!("for e in range(2):\n{batch}{loop_body}{behind}");
            marked::check(&with_setup(&program), expected, |at| {
                let step = at.step().expect("a step");
                at.lines(step.accumulation().expect("accumulation").rest_updates.iter().copied())
            });
        };
        let updates = "        if (i + 1) % 4 == 0:\n            optimizer.step()\n";
        check(updates, "", "");
        check(updates, "    optimizer.step()\n", "optimizer.step()");
        let or = "        if (i + 1) % 4 == 0 or i + 1 == len(loader):\n            optimizer.step()\n";
        check(or, "", "i + 1 == len(loader)");
        check(&or.replace(" or ", " \\\n            or "), "", "i + 1 == len(loader)");
        let commented =
            or.replace("if ", "if (").replace(" or ", "  # and so on\n            or ").replace("):\n", ")):\n");
        check(&commented, "", "i + 1 == len(loader)");
        let skips = "        if (i + 1) % 4 and i + 1 < len(loader):\n            continue\n        optimizer.step()\n";
        check(skips, "", "i + 1 < len(loader)");
        let named =
            "        last = (i + 1) % 4 == 0 or i + 1 == len(loader)\n        if last:\n            optimizer.step()\n";
        check(named, "", "i + 1 == len(loader)");
        let is_last = format!("        end = i == len(loader) - 1\n{}", or.replace("i + 1 == len(loader)", "end"));
        check(&is_last, "", "end");
        check(updates, "    else:\n        optimizer.step()\n", "optimizer.step()");
    }

    #[test]
    fn steps_of_the_schedule_with_the_update_of_what_is_left() {
        let check = |in_loop: &str, behind: &str, expected: &str| {
            let batch = "    for i, (x, y) in enumerate(loader):\n        F.mse_loss(net(x), y).backward()\n";
            let made = "scaler = torch.amp.GradScaler()\nplan = torch.optim.lr_scheduler.StepLR(optimizer, 3)\n";
            let program = format!("{made}for e in range(2):\n{batch}{in_loop}{behind}");
            marked::check(&with_setup(&program), expected, |at| {
                let step = at.step().expect("a step");
                let found = &step.accumulation().expect("accumulation").rest_schedules;
                // Their lines, counted from the last one.
                let index = &at.file().view.index;
                let behind = |id| index.text[index.item(id).start..].matches('\n').count();
                found.iter().map(|id| behind(*id).to_string()).collect::<Vec<_>>().join(" ")
            });
        };
        let updates = "        if (i + 1) % 4 == 0:\n            optimizer.step()\n";
        let stepped = format!("{updates}            plan.step()\n");
        let plain = "    optimizer.step()\n    plan.step()\n";
        check(&stepped, plain, "1");
        check(&format!("{updates}        if (i + 1) % 4 == 0:\n            plan.step()\n"), plain, "1");
        let skips = "        if (i + 1) % 4:\n            continue\n        optimizer.step()\n        plan.step()\n";
        check(skips, plain, "1");
        // At every batch, or at those of some epochs.
        check(&format!("{updates}        plan.step()\n"), plain, "");
        check(&format!("        plan.step()\n{}", skips.replace("        plan.step()\n", "")), plain, "");
        check(&format!("{updates}        if e < 1:\n            plan.step()\n"), plain, "");
        check(updates, plain, "");
        let arms = "        if amp:\n            scaler.step(optimizer)\n        else:\n            optimizer.step()\n";
        let rest = format!("    if len(loader) % 4:\n{arms}        plan.step()\n");
        check(&stepped, &rest, "1");
        check(&stepped, &format!("    if len(loader) % 4:\n{arms}    plan.step()\n"), "");
        check(&stepped, "    else:\n        optimizer.step()\n        plan.step()\n", "1");
    }

    #[test]
    fn tests_that_are_true_at_the_same_batches() {
        let check = |body: &str, expected: &str| {
            let batch = "for i, (x, y) in enumerate(loader):\n    F.mse_loss(net(x), y).backward()\n";
            marked::check(&with_setup(&format!("{batch}{body}")), expected, |at| {
                let step = at.step().expect("a step");
                at.lines(step.accumulation().expect("accumulation").tests.iter().copied())
            });
        };
        let plain = "    if (i + 1) % 4 == 0:\n        optimizer.step()\n";
        let once = "if (i + 1) % 4 == 0:\n";
        check(&format!("    if i % 4 == 0:\n        f()\n{plain}"), &format!("{once}if i % 4 == 0:"));
        check(&format!("    if not i % 4:\n        f()\n{plain}"), &format!("{once}if not i % 4:"));
        for other in ["if i % 4:", "if i % 4 != 0:", "if i % 8 == 0:", "if e % 4 == 0:", "if i % 4 == 0 and x:"] {
            check(&format!("    {other}\n        f()\n{plain}"), once.trim_end());
        }
        let named = "    last = (i + 1) % 4 == 0\n    show = i % 100 == 0\n    if last:\n        optimizer.step()\n";
        check(&format!("{named}    if show:\n        f()\n    if not last:\n        g()\n"), "if last:");
        check(&format!("{named}    if last:\n        f()\n"), "if last:\nif last:");
        let plain = "    if not (i + 1) % 4:\n        optimizer.step()\n";
        check(&format!("{plain}    if (i + 1) % 4:\n        f()\n"), "if not (i + 1) % 4:");
        check(&format!("{plain}    if not (i + 1) % 4:\n        f()\n"), "if not (i + 1) % 4:\nif not (i + 1) % 4:");
        let skip = "    if (i + 1) % 4:\n        continue\n    optimizer.step()\n";
        check(&format!("    if (i + 1) % 4:\n        f()\n{skip}"), "");
    }

    #[test]
    fn a_test_that_selects_batches_accumulates_nothing() {
        let selects = "for i, (x, y) in enumerate(loader):\n    if i % 4 == 0:\n        ";
        check(&format!("{selects}F.mse_loss(net(x), y).backward()\n        optimizer.step()\n"), "none");
    }

    #[test]
    fn an_inner_loop_with_the_backward_pass() {
        let turns = "for i in range(9):\n    for _ in range(2):\n        x, y = next(it)\n        ";
        check(&format!("{turns}F.mse_loss(net(x), y).backward()\n    optimizer.step()\n"), "loop 2 2");
        let parts = "for x, y in loader:\n    for a, b in zip(x.chunk(2), y.chunk(2)):\n        ";
        check(&format!("{parts}F.mse_loss(net(a), b).backward()\n    optimizer.step()\n"), "parts 2 2");
        let epoch = "for x, y in loader:\n    F.mse_loss(net(x), y).backward()\noptimizer.step()\n";
        check(&format!("for e in range(2):\n    {}", epoch.replace('\n', "\n    ")), "update_after_epoch");
    }

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
