//! Every loader batch is now an update: counting tests are true, skipping is removed, micro-batch loops have one iteration.

use super::Input;
use super::messages as says;
use super::normalise::{always, one_turn};
use super::plan::Plan;
use crate::definitions::Values;
use python::edit::{Change, statement_end, unindented};
use python::tree::{Id, kinds};
use training::FileView;
use training::step::{Accumulation, Counter, divides, ends_step, steps_scheduler};

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
    let Some((left, right)) = index.target(assignment).zip(index.source(assignment)) else { return };
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

/// `len(loader) // n` is `len(loader)` if the loader's batches are those of a whole step.
pub(super) fn lengths(plan: &mut Plan<'_, '_>, accumulation: &Accumulation) {
    let file = plan.step.file;
    let is_literal = accumulation.count.chars().all(|c| c.is_ascii_digit());
    for (quotient, left) in accumulation.counts_of_updates(file) {
        if is_literal {
            let (old, new) = (file.index.text_of(quotient), file.index.text_of(left));
            plan.input.note_loss(file.view, quotient, says::updates_counted(old, new));
        }
        let range = file.index.item(left).end..file.index.item(quotient).end;
        plan.edit(quotient, Change::Expression { node: quotient, range, text: String::new() });
    }
}

/// The body of a counting test without the test, without the updates, and with the statements that follow a scheduler.
pub(super) fn unwrap(plan: &mut Plan<'_, '_>, test: Id) {
    let file = plan.step.file;
    let index = &file.view.index;
    let mut out: Vec<String> = Vec::new();
    for statement in index.consequence(test).into_iter().flat_map(|b| index.children(b)) {
        if ends_step(file, statement) {
            continue;
        }
        let start = index.item(statement).start;
        out.push(unindented(index.text, start..statement_end(&file, statement)));
        if steps_scheduler(file, statement) {
            out.push(plan.block("step_rate", &Values::default().text("optimizer", plan.step.optimizer)));
        }
    }
    plan.replace(test, &out.join("\n"));
}

/// Reports the condition under which a loader with divided batches gives a step the same samples as before.
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
