//! Every batch of the loader is one of an update now: tests hold, what skips goes, and a loop over micro-batches has one turn.

use super::Input;
use super::messages as says;
use super::normalise::{always, one_turn};
use super::plan::Plan;
use crate::definitions::Values;
use python::edit::{Change, dedent, statement_end};
use python::lines::line_indent;
use python::tree::{Id, kinds};
use training::step::{Accumulation, Counter, Module, divides, ends_step, steps_scheduler};
use training::{FileView, TrainingStep};

/// The edits in a program for the target alone.
pub(super) fn at_every_turn(plan: &mut Plan<'_, '_>, accumulation: &Accumulation) {
    let file = plan.step.file;
    let index = &file.view.index;
    let whole = |node: Id, text: &str| Change::Expression { node, range: index.range(node), text: text.to_owned() };
    let conditions: Vec<Id> = accumulation.tests.iter().filter_map(|t| index.condition(*t)).collect();
    let (always, one) = (always(plan.input), one_turn(plan.input));
    for &condition in &conditions {
        plan.edit(condition, whole(condition, always));
    }
    match &accumulation.by {
        Counter::Around => {}
        &Counter::Skip(at) => plan.replace(at, ""),
        &Counter::Turns(turns) => plan.edit(turns, whole(turns, one)),
        Counter::Parts(cut, part) => {
            for &number in &cut.chunks.numbers {
                plan.edit(number, whole(number, one));
            }
            plan.edit(cut.batch, whole(cut.batch, part));
        }
    }
    let Some((assignment, holds)) = accumulation.named else { return };
    let (Some(left), Some(right)) = (index.target(assignment), index.source(assignment)) else {
        return;
    };
    let goes = |id: Id| {
        let skipped = matches!(accumulation.by, Counter::Skip(at) if index.is_within(id, at));
        skipped || id == left || conditions.iter().any(|c| index.is_within(id, *c))
    };
    let plain = index.kind(left) == kinds().identifier;
    let statement = file.statement_of(assignment).filter(|_| plain);
    match statement.filter(|_| file.identifiers(index.text_of(left)).iter().all(|id| goes(*id))) {
        Some(at) => plan.replace(at, ""),
        None => plan.edit(right, whole(right, if holds { "True" } else { "False" })),
    }
}

/// Whether the loss that the program logs was divided by the number of batches, so that the mean of a step has to be.
///
/// Where the losses of a step's batches are added up, their sum is that mean already, unless the whole is divided by the number of
/// batches in the end: the loader has fewer by then.
pub(super) fn logs_a_share(step: &TrainingStep<'_, '_>, module: &Module, accumulation: &Accumulation) -> bool {
    if !module.divided {
        return false;
    }
    let (k, file) = (kinds(), step.file);
    let index = &file.view.index;
    let (spaced, close) = (format!("* {}", accumulation.count), format!("*{}", accumulation.count));
    let (mut is_logged, mut sums) = (false, Vec::new());
    for &statement in &module.stays {
        if !index.of_kind_in(k.identifier, statement).iter().any(|i| index.text_of(*i) == module.loss) {
            continue;
        }
        let text = index.text_of(statement);
        if text.contains(&spaced) || text.contains(&close) {
            return true;
        }
        let sum = index.of_kind_in(k.augmented_assignment, statement).iter().find_map(|a| index.target(*a));
        match sum {
            Some(target) => sums.push(index.text_of(target)),
            None => is_logged = true,
        }
    }
    let over_batches = matches!(accumulation.by, Counter::Around | Counter::Skip(_));
    let is_mean = |sum: &&str| {
        index.of_kind(k.binary_operator).iter().any(|quotient| {
            let mut sides = index.parts(*quotient);
            let sides = sides.next().zip(sides.next());
            sides.is_some_and(|(total, number)| {
                let divides = index.between(total, number) == "/";
                divides && index.text_of(total) == *sum && index.text_of(number).starts_with("len(")
            })
        })
    };
    sums.is_empty() && is_logged || over_batches && sums.iter().any(is_mean)
}

/// `len(loader) // n` is `len(loader)` where the loader's batches are those of a whole step.
pub(super) fn lengths(plan: &mut Plan<'_, '_>, accumulation: &Accumulation) {
    let file = plan.step.file;
    for (quotient, left) in accumulation.counts_of_updates(file) {
        let range = file.index.item(left).end..file.index.item(quotient).end;
        plan.edit(quotient, Change::Expression { node: quotient, range, text: String::new() });
    }
}

/// The body of a test that counts without the test, without the updates, and with what follows a scheduler.
pub(super) fn unwrap(plan: &mut Plan<'_, '_>, test: Id) {
    let file = plan.step.file;
    let index = &file.view.index;
    let mut out: Vec<String> = Vec::new();
    for statement in index.consequence(test).into_iter().flat_map(|b| index.children(b)) {
        if ends_step(file, statement) {
            continue;
        }
        let start = index.item(statement).start;
        let text = &index.text[start..statement_end(&file, statement)];
        out.push(dedent(&text.replace("\r\n", "\n"), line_indent(index.text, start)));
        if steps_scheduler(file, statement) {
            out.push(plan.block("step_rate", &Values::default().text("optimizer", plan.step.optimizer)));
        }
    }
    plan.replace(test, &out.join("\n"));
}

/// Says of a loader's batches that were divided what must hold for a step to have the samples it had.
pub(super) fn note_division(input: &Input<'_, '_>, view: &FileView<'_>) {
    let index = &view.index;
    let of_loaders = view.calls("DataLoader").iter().flat_map(|call| index.of_kind_in(kinds().binary_operator, *call));
    for &quotient in of_loaders {
        let mut sides = index.parts(quotient);
        let (Some(batch), Some(number)) = (sides.next(), sides.next()) else { continue };
        let floors = index.between(batch, number) == "//";
        let text = index.text_of(quotient);
        let is_new = index.text.matches(text).count() > input.original.matches(text).count();
        let (samples, number) = (index.text_of(batch), index.text_of(number));
        if floors && is_new && divides(view, batch, number).is_none() {
            input.note(view, quotient, says::batch_divided(samples, number));
        }
    }
}
