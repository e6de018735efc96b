//! The way from the model's call to the loss: the statements on it, and what keeps it from being the same at every step.

use super::accumulation::Counter;
use super::around::{ends_step, fixed_test};
use super::callee::{Callee, callee};
use super::far::{Far, far_call};
use super::phase::phase_test;
use super::slice::{assigned, backward_slice, reads};
use super::step::Step;
use super::{Refusal, loop_of, refuse};
use crate::names::dotted;
use crate::order::Set;
use crate::tree::{Id, fields, kinds};

/// The statements that are compiled.
pub(super) struct Way<'t> {
    /// The statement that calls the model, or the function that does.
    pub(super) from: Id,
    pub(super) far: Option<Far>,
    pub(super) near: Option<Callee>,
    /// All that move, in the order of the text.
    pub(super) slice: Vec<Id>,
    /// The statement whose place the compiled step takes.
    pub(super) at: Id,
    /// The test for the phase of training, where one loop does validation, too.
    pub(super) phase: Option<&'t str>,
}

impl<'t> Way<'t> {
    /// Finds the way, or why it can't be compiled.
    pub(super) fn found(step: &Step<'_, 't>) -> Result<Self, Refusal> {
        let (input, view) = (step.input, step.view);
        let index = &view.index;
        let mut wanted: Vec<&str> = reads(view, step.loss).into_iter().map(|id| index.text_of(id)).collect();
        wanted.extend(dotted(index, step.loss));
        let slice = backward_slice(view, &step.before, &wanted);
        let is_model_call = |call: Id| step.is_model_call(call);
        let holds_model = |s: Id| index.of_kind_in(kinds().call, s).iter().copied().find(|c| is_model_call(*c));
        let first = slice.iter().copied().find(|s| holds_model(*s).is_some());
        let found = |s: &Id| {
            let far = far_call(input, view, *s, &is_model_call);
            let near = if far.is_none() { callee(input, view, *s, &is_model_call) } else { None };
            (far.is_some() || near.is_some()).then_some((*s, far, near))
        };
        let Some((from, far, near)) = first.map(|f| (f, None, None)).or_else(|| slice.iter().find_map(found)) else {
            let why = if index.kind(step.loss) == kinds().call {
                "the loss has no name. Write `loss = …` in a line of its own before `loss.backward()`, then port again"
            } else {
                "the call of the model that leads to this loss is not in this function. Put model call and loss into \
                 one function, or into the model's `forward`, then port again"
            };
            return refuse(step.backward, why);
        };
        let slice: Vec<Id> = slice.into_iter().filter(|s| *s > from || (*s == from && far.is_none())).collect();
        stays_on_tensors(step, &slice)?;
        let called_here = far.is_none() && near.is_none();
        let phase = learns_always(step, from, called_here)?;
        let at = place(step, from, &slice, far.is_some())?;
        Ok(Self { from, far, near, slice, at, phase })
    }
}

/// Refuses a way that forks, and one that leaves the tensors.
fn stays_on_tensors(step: &Step<'_, '_>, slice: &[Id]) -> Result<(), Refusal> {
    let (k, f) = (kinds(), fields());
    let index = &step.view.index;
    let modes = step.input.project.modes.as_ref();
    for &s in slice {
        let conditional = index.ancestors(s).take_while(|a| *a != step.body).find(|a| {
            [k.for_statement, k.while_statement, k.try_statement, k.except_clause].contains(&index.kind(*a))
                || (index.kind(*a) == k.if_statement
                    && !step.amp.simplified.contains(a)
                    && !index.field(*a, f.condition).is_some_and(|c| {
                        index.text_of(*a).contains(index.text_of(step.backward))
                            || modes.is_some_and(|m| m.tested(index, c).is_some())
                            || index.children(*a).any(|e| {
                                [k.elif_clause, k.else_clause].contains(&index.kind(e))
                                    && index.field(e, f.condition).is_none()
                                    && modes.is_some()
                            })
                    }))
        });
        if let Some(at) = conditional {
            return refuse(
                at,
                "the way from the model to the loss depends on a test or a loop, and the IPU compiles one way. Decide it before the step, or write it with tensors",
            );
        }
        if index.text_of(s).contains(".item()") || index.text_of(s).contains(".numpy()") {
            return refuse(
                s,
                "the loss leaves the tensors here; the IPU compiles tensors only. Compute with tensors up to the loss, then port again",
            );
        }
    }
    Ok(())
}

/// The test for the phase of training, if there is one. What else decides whether the weights learn is refused: what learns
/// only sometimes would learn always, as the compiled step does not ask.
fn learns_always<'t>(step: &Step<'_, 't>, from: Id, called_here: bool) -> Result<Option<&'t str>, Refusal> {
    let (k, f) = (kinds(), fields());
    let (input, view, body) = (step.input, step.view, step.body);
    let index = &view.index;
    let modes = input.project.modes.as_ref();
    let accumulation = step.accumulation.as_ref();
    let decided = |id: Id| {
        index.ancestors(id).take_while(|a| *a != body && *a != step.whole).find(|a| {
            index.kind(*a) == k.if_statement
                && !step.amp.simplified.contains(a)
                && accumulation.is_none_or(|c| !c.counts(*a))
                && !index.is_within(from, *a)
                && modes.is_none_or(|m| index.field(*a, f.condition).is_none_or(|c| m.tested(index, c).is_none()))
        })
    };
    let updates = step.statements.iter().copied().filter(|s| {
        *s == step.end
            || index.text_of(*s).contains("clip_grad_")
            || ends_step(input, view, *s) && !index.text_of(*s).contains("zero_grad")
    });
    let updates: Vec<Id> = updates.collect();
    let clips = |s: Id| index.text_of(s).contains("clip_grad_") || index.text_of(s).contains(".unscale_(");
    let tests: Vec<Option<Id>> = updates
        .iter()
        .filter(|u| !(clips(**u) && decided(**u).is_some() && decided(**u) == fixed_test(input, view, body, **u)))
        .map(|u| decided(*u))
        .collect();
    let phase = phase_test(view, &tests).filter(|_| !step.branch && called_here && accumulation.is_none());
    if let Some(test) = tests.iter().copied().flatten().next().filter(|_| phase.is_none()) {
        return refuse(
            test,
            "this test decides whether the weights learn, and the compiled step always updates them. Give training a loop \
             of its own, without the test",
        );
    }
    let skipped = step.around.into_iter().flat_map(|l| index.of_kind_in(k.continue_statement, l)).copied().find(|id| {
        let counts = |by: &Counter| matches!(by, Counter::Skip(at) if index.is_within(*id, *at));
        *id > from
            && updates.last().is_some_and(|last| id < last)
            && step.is_alive(*id)
            && loop_of(view, *id) == step.around
            && !accumulation.is_some_and(|a| counts(&a.by))
    });
    match skipped {
        Some(skipped) => refuse(
            skipped,
            "this decides whether the weights learn, when the compiled step has updated them already. Decide it from the batch, above \
             the model's call, or leave it out, then port again",
        ),
        None => Ok(phase),
    }
}

/// The compiled step takes the place of the last statement that moves, unless something in between reads what it gives.
fn place(step: &Step<'_, '_>, from: Id, slice: &[Id], is_far: bool) -> Result<Id, Refusal> {
    let view = step.view;
    let index = &view.index;
    let last = slice.last().copied().unwrap_or(from);
    let called = is_far.then_some(&from);
    let outputs: Set<&str> = slice.iter().chain(called).flat_map(|s| assigned(view, *s)).collect();
    let between: Vec<Id> =
        step.before.iter().copied().filter(|s| *s > from && *s < last && !slice.contains(s)).collect();
    let reader = between.iter().copied().find(|s| reads(view, *s).iter().any(|r| outputs.contains(index.text_of(*r))));
    let Some(reader) = reader else { return Ok(last) };
    let free: Set<&str> = slice.iter().flat_map(|s| reads(view, *s)).map(|r| index.text_of(r)).collect();
    if between.iter().any(|s| assigned(view, *s).iter().any(|n| free.contains(n))) {
        return refuse(
            reader,
            "this statement reads the model's output before the loss is known. Move it behind the loss",
        );
    }
    Ok(from)
}
