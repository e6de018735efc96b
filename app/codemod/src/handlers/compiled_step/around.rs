//! The code around the compiled step: the optimizer's own calls, schedulers, clipping, checkpoints, validation.

use super::messages as says;
use super::plan::Plan;
use crate::definitions::Values;
use python::edit::Change;
use python::tree::{Id, kinds};
use sorting::SortedSet;
use training::step::{
    Clipping, Found, Norm, arguments, evaluates, in_model, is_model_call, logged_norm, optimizers_made, saves,
    schedules, update_statements,
};

/// If an optimizer is created for the target, the package has to be imported there.
pub(super) fn require_package(plan: &mut Plan<'_, '_>) {
    let file = plan.step.file;
    let index = &file.view.index;
    let mut done: SortedSet<Id> = SortedSet::new();
    for class in plan.input.settings.definitions.names("optimizers") {
        for made in optimizers_made(&file).iter().filter(|m| m.qualified == class.name && file.is_reached(m.call)) {
            let body = file.function_of(made.call).and_then(|d| index.body(d));
            let statement = body.and_then(|b| index.parts(b).find(|s| index.is_within(made.call, *s)));
            if let Some(statement) = statement.filter(|s| done.insert(*s)) {
                let text = plan.block("require_software", &Values::default());
                plan.insert(statement, false, &text);
            }
        }
    }
}

/// Before the host replaces trained weights, the target is detached: otherwise it would continue with its own.
pub(super) fn release_for_loads(plan: &mut Plan<'_, '_>, infers: bool) {
    let text = plan.block("release", &Values::default().flag("from_inference", infers));
    let wholes = plan.wholes.iter().copied();
    let loaded: SortedSet<Id> = wholes.flat_map(|whole| saves(plan.step.file, whole).loaded).collect();
    plan.releases |= !loaded.is_empty();
    for at in loaded {
        plan.insert(at, false, &text);
    }
}

/// Clipping becomes an argument of the optimizer if that is created in this file and can read the limit. Otherwise it is
/// the attribute of that name, which is read when the step is compiled; the statement that sets it is returned.
pub(super) fn clip(plan: &mut Plan<'_, '_>, clipping: &Clipping) -> Found<Option<String>> {
    let file = plan.step.file;
    let index = &file.view.index;
    let Some(limit) = clipping.limit.filter(|_| clipping.norm == Norm::Two) else {
        return Err(says::other_clipping().at(clipping.call));
    };
    let made = optimizers_made(&file);
    let clips = |name: &str| plan.input.lists("clipping_optimizers", name);
    if let Some(other) = made.iter().find(|m| plan.input.lists("optimizers", &m.qualified) && !clips(&m.qualified)) {
        return Err(says::clipping_missing(other.class()).at(other.call));
    }
    let kinds = [kinds().identifier, kinds().attribute];
    let mut named = kinds.into_iter().flat_map(|kind| index.of_kind_in(kind, plan.step.whole).iter().copied());
    let optimizer = named.find(|id| index.is_text(*id, plan.step.optimizer));
    // Another file may create it.
    let elsewhere = optimizer.map_or(Vec::new(), |id| file.makers(id)).into_iter().flatten();
    let lacks = |name: &String| plan.input.lists("optimizers", name) && !clips(name);
    if let Some(other) = elsewhere.into_iter().find(lacks) {
        return Err(says::clipping_missing(other.rsplit('.').next().unwrap_or(&other)).at(clipping.call));
    }
    let built: Vec<Id> = made.iter().filter(|m| clips(&m.qualified)).map(|m| m.call).collect();
    let condition = clipping.condition(&file);
    let values = |limit: &str, test: Option<&str>| {
        Values::default().flag("tested", test.is_some()).text("test", test.unwrap_or_default()).text("limit", limit)
    };
    let argument = |made: &Id| {
        let at = file.statement_of(*made)?;
        let test = match condition {
            Some(test) => Some(file.written_at(test, at)?),
            None => None,
        };
        Some(plan.block("limit_argument", &values(&file.written_at(limit, at)?, test.as_deref())))
    };
    let texts: Option<Vec<String>> = built.iter().map(argument).collect();
    // Optimizers of other steps keep their gradients as they are.
    let Some(texts) = texts.filter(|_| plan.is_alone() && !built.is_empty()) else {
        if plan.step.precision.unwrapped.iter().any(|(whole, _)| index.is_within(clipping.call, *whole)) {
            return Err(says::limit_unknown().at(clipping.call));
        }
        let values = values(index.text_of(limit), condition.map(|test| index.text_of(test)));
        return Ok(Some(plan.block("step_limit", &values.text("optimizer", plan.step.optimizer))));
    };
    for (at, argument) in built.into_iter().zip(texts) {
        let keyword = argument.split('=').next().unwrap_or(&argument).trim();
        let given = arguments(&file, at);
        let is_given = index.arguments(at).keyword(keyword).is_some();
        let Some(last) = given.last().filter(|_| !is_given) else { continue };
        let end = index.item(*last).end;
        plan.edit(at, Change::Expression { node: at, range: end..end, text: format!(", {argument}") });
    }
    Ok(None)
}

/// `zero_grad`, `backward`, `step` and a scaler's calls: the compiled step does all that. A norm that is logged gets no value.
pub(super) fn remove_updates(plan: &mut Plan<'_, '_>, is_alive: &dyn Fn(Id) -> bool) {
    let file = plan.step.file;
    let index = &file.view.index;
    for at in update_statements(file, plan.step.whole, plan.step.end, is_alive) {
        let full = file.names.spelling(index, at, "torch.full");
        match logged_norm(file, at).zip(full) {
            Some((node, full)) => {
                let text = plan.block("unknown_norm", &Values::default().text("full", full));
                plan.edit(at, Change::Expression { node, range: index.range(node), text });
            }
            None => plan.replace(at, ""),
        }
    }
}

/// A new learning rate has to be passed on; `from` is the first compiled statement, `step` the call of the compiled step, if
/// every iteration reaches it.
pub(super) fn hand_over_rates(plan: &mut Plan<'_, '_>, from: Id, step: Option<Id>, is_alive: &dyn Fn(Id) -> bool) {
    let (file, whole, optimizer) = (plan.step.file, plan.step.whole, plan.step.optimizer);
    let in_loop = |call: Id| step.is_some_and(|step| call > step) && file.index.is_within(call, whole);
    let schedules = schedules(file, plan.responsible_for());
    let by_scheduler = schedules.steps.iter().map(|(call, scheduler)| (*call, format!("{scheduler}.optimizer")));
    // A `step()` of something unknown is followed if it is next to the step; passing on an unchanged rate is harmless.
    let is_beside = |call: Id| file.index.is_within(call, whole) || !file.calls("step").contains(&call);
    let others = schedules.others.iter().filter(|call| is_beside(**call)).map(|call| (*call, optimizer.to_owned()));
    let mut is_told = false;
    for (call, of) in by_scheduler.chain(others).filter(|(call, _)| plan.sees_to(*call)).collect::<Vec<_>>() {
        let Some(statement) = file.statement_of(call).filter(|_| is_alive(call)) else { continue };
        is_told |= file.index.is_within(call, whole);
        let text = if in_loop(call) {
            plan.block("step_rate", &Values::default().text("optimizer", optimizer))
        } else {
            plan.other_rate(&of)
        };
        plan.insert(statement, true, &text);
    }
    for (statement, owner) in schedules.assigned.into_iter().filter(|(at, _)| plan.sees_to(*at)).collect::<Vec<_>>() {
        let text = plan.other_rate(owner);
        plan.insert(statement, true, &text);
    }
    // Another file changes it between two calls of this one's function: it is passed on before the next batch.
    if !is_told && file.project.changes_rates_elsewhere(file.view) {
        let text = plan.other_rate(optimizer);
        plan.insert(plan.step.around.unwrap_or(from), false, &text);
    }
}

/// The model runs on the target in validation, too.
pub(super) fn infer(plan: &mut Plan<'_, '_>, is_moved: &dyn Fn(Id) -> bool) {
    let (file, whole) = (plan.step.file, plan.step.whole);
    for &call in file.index.of_kind_in(kinds().call, plan.responsible_for()) {
        let is_model = plan.sees_to(call) && is_model_call(file, call) && !in_model(file, call);
        if is_model && !is_moved(call) && plan.step.is_alive(call) && evaluates(file, whole, call) {
            plan.infer(call);
        }
    }
}
