//! What stands around the compiled step: the optimizer's own calls, schedulers, clipping, checkpoints, validation.

use super::super::fetched::{comes_first, handed, is_late, outermost_without, runs_without_gradients};
use super::plan::Plan;
use super::slice::leaves;
use super::units::is_constant;
use super::{Input, Refusal, is_reached, loop_of, refuse};
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::roles::Role;
use crate::names::called_name;
use crate::order::Set;
use crate::tree::{Id, fields, kinds};

/// Where an optimizer is built for the IPU, the package has to be there.
pub(super) fn require_package(plan: &mut Plan<'_, '_>) {
    let f = fields();
    let view = plan.view;
    let index = &view.index;
    let mut done: Set<Id> = Set::new();
    for name in ["SGD", "Adam", "AdamW", "RMSprop"] {
        for &call in view.calls(name) {
            let torch = index.field(call, f.function).and_then(|g| view.names.qualify(index, g));
            let Some(function) = view.function_of(call) else { continue };
            if !torch.is_some_and(|q| q.starts_with("torch.optim.")) || !is_reached(plan.input, view, call) {
                continue;
            }
            let Some(body) = index.field(function, f.body) else { continue };
            let Some(statement) = index.parts(body).find(|s| index.is_within(call, *s)) else { continue };
            if done.insert(statement) {
                let text = "require_poptorch()".to_owned();
                plan.edit(statement, Change::Insert { at: statement, after: false, text });
            }
        }
    }
}

/// Before weights are saved, or kept as the best so far, they come back from the IPU.
pub(super) fn saves(plan: &mut Plan<'_, '_>, step: Id) {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    let block = |id: Id| view.statement_of(id).and_then(|s| index.parent(s));
    let mut places: Set<Id> = Set::new();
    let mut blocks: Set<Option<Id>> = Set::new();
    for &save in view.calls("save") {
        let torch = index.field(save, f.function).and_then(|g| view.names.qualify(index, g));
        if torch.as_deref() != Some("torch.save") || !is_reached(plan.input, view, save) {
            continue;
        }
        // The state may have been collected some lines above.
        let collected = view.calls("state_dict").iter().copied().find(|c| block(*c) == block(save));
        let first = collected.map_or(save, |c| c.min(save));
        blocks.insert(block(first));
        places.extend(view.statement_of(first));
    }
    let of_model = |call: Id| {
        let owner = index.field(call, f.function).and_then(|g| index.field(g, f.object));
        owner.is_some_and(|o| plan.input.project.role(view, o) == Some(Role::Model))
            && is_reached(plan.input, view, call)
    };
    // What is on the IPU would come over the weights that are read from a file.
    let loads = view.calls("load_state_dict").iter().filter(|c| of_model(**c) && is_late(view, **c, step, 3));
    let loads: Set<Id> = loads.filter_map(|c| view.statement_of(*c)).collect();
    for &call in view.calls("state_dict") {
        let looped = index.ancestors(call).any(|a| [k.for_statement, k.while_statement].contains(&index.kind(a)));
        if of_model(call) && (looped || is_late(view, call, step, 3)) && !blocks.contains(&block(call)) {
            places.extend(view.statement_of(call));
        }
    }
    places.extend(loads.iter().copied());
    for at in places {
        let mut text = "detach_from_ipu(ipu_training_steps.values())".to_owned();
        if loads.contains(&at) && plan.says("ipu_inference(") {
            text.push_str("\ndetach_from_ipu(ipu_inference_models.values())");
        }
        plan.edit(at, Change::Insert { at, after: false, text });
    }
}

/// Clipping becomes an argument of the optimizer where that is built in this file and can read the limit. Elsewhere it is
/// the attribute of that name, which PopTorch reads when it compiles; the statement that sets it is given back.
pub(super) fn clip(
    plan: &mut Plan<'_, '_>,
    call: Id,
    (step, body): (Id, Id),
    optimizer: &str,
) -> Result<Option<String>, Refusal> {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    let by_norm = matches!(called_name(index, call), Some("clip_grad_norm_" | "clip_grad_norm"));
    let arguments: Vec<Id> = index.field(call, f.arguments).map_or_else(Vec::new, |a| index.parts(a).collect());
    let limit = arguments
        .get(1)
        .map(|a| if index.kind(*a) == k.keyword_argument { index.field(*a, f.value).unwrap_or(*a) } else { *a });
    let Some(limit) = limit.filter(|_| by_norm && arguments.len() == 2) else {
        return refuse(
            call,
            "the IPU clips by the 2-norm only, through `max_grad_norm` of the optimizer. Write `clip_grad_norm_(parameters, limit)`, then port again",
        );
    };
    let of_torch = |name: &str| -> Vec<Id> {
        let is = |c: &Id| {
            index
                .field(*c, f.function)
                .and_then(|g| view.names.qualify(index, g))
                .is_some_and(|q| q.starts_with("torch.optim."))
        };
        view.calls(name).iter().copied().filter(is).collect()
    };
    if let Some(&other) = of_torch("RMSprop").first() {
        return refuse(
            other,
            "PopTorch has no clipping for RMSprop. Take Adam, AdamW or SGD, or leave the clipping out, then port again",
        );
    }
    let built: Vec<Id> = ["Adam", "AdamW", "SGD"].iter().flat_map(|n| of_torch(n)).collect();
    // `if args.clip > 0:` around it.
    let asked = fixed_test(plan.input, view, body, call).and_then(|t| index.field(t, f.condition));
    let names: Vec<&str> = std::iter::once(limit)
        .chain(asked)
        .map(|e| {
            index.text_of(e).split(|c: char| !(c.is_alphanumeric() || c == '_')).find(|w| !w.is_empty()).unwrap_or("")
        })
        .collect();
    let readable = |at: Id, head: &str| {
        head.starts_with(|c: char| c.is_ascii_digit())
            || head == "self" && view.class_of(at) == view.class_of(call)
            || view.binds_at_top(head, index.item(at).start, view.function_of(at).is_some())
            || view.function_of(at).is_some() && view.function_of(at) == view.function_of(step)
            || index.kind(step) == k.function_definition && view.function_of(at) == Some(step)
    };
    let limit = index.text_of(limit);
    if built.is_empty() || !built.iter().all(|b| names.iter().all(|n| readable(*b, n))) {
        let set = format!("{optimizer}.max_grad_norm = {limit}");
        let unit = &view.layout.indent;
        return Ok(Some(asked.map_or(set.clone(), |t| format!("if {}:\n{unit}{set}", index.text_of(t)))));
    }
    let limit = asked.map_or(limit.to_owned(), |t| format!("{limit} if {} else None", index.text_of(t)));
    for at in built {
        if index.text_of(at).contains("max_grad_norm") {
            continue;
        }
        let given: Vec<Id> = index.field(at, f.arguments).map_or_else(Vec::new, |a| index.parts(a).collect());
        let Some(last) = given.last() else { continue };
        let end = index.item(*last).end;
        // What is not given is compiled in, and a scheduler changes the rate.
        let rate = if given.len() == 1 && called_name(index, at) != Some("SGD") { ", lr=1e-3" } else { "" };
        plan.edit(at, Change::Expression { node: at, range: end..end, text: format!("{rate}, max_grad_norm={limit}") });
    }
    Ok(None)
}

/// The test around a call, without an `else`, that goes the same way at every step.
pub(super) fn fixed_test(input: &Input<'_, '_>, view: &FileView<'_>, body: Id, call: Id) -> Option<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let test = index.ancestors(call).take_while(|a| *a != body).find(|a| index.kind(*a) == k.if_statement)?;
    let condition = index.field(test, f.condition)?;
    (index.field(test, f.alternative).is_none() && is_constant(input, view, body, condition)).then_some(test)
}

/// Whether a statement is a step of the scheduler.
pub(super) fn steps_scheduler(input: &Input<'_, '_>, view: &FileView<'_>, statement: Id) -> bool {
    let f = fields();
    let index = &view.index;
    view.calls("step").iter().any(|c| {
        view.statement_of(*c) == Some(statement)
            && index
                .field(*c, f.function)
                .and_then(|g| index.field(g, f.object))
                .is_some_and(|o| input.project.role(view, o) == Some(Role::Scheduler))
    })
}

/// Whether a statement is one that the compiled step makes superfluous.
pub(super) fn ends_step(input: &Input<'_, '_>, view: &FileView<'_>, statement: Id) -> bool {
    let f = fields();
    let index = &view.index;
    ["zero_grad", "step", "update", "unscale_", "clip_grad_norm_", "clip_grad_norm"].iter().any(|name| {
        view.calls(name).iter().any(|call| {
            let object = index.field(*call, f.function).and_then(|g| index.field(g, f.object));
            let role = object.and_then(|o| input.project.role(view, o));
            let ends = match *name {
                "zero_grad" | "clip_grad_norm_" | "clip_grad_norm" => true,
                "step" => matches!(role, Some(Role::Optimizer | Role::Scaler)),
                _ => role == Some(Role::Scaler),
            };
            ends && view.statement_of(*call) == Some(statement)
        })
    })
}

/// `zero_grad`, `backward`, `step` and what belongs to a scaler: the compiled step does all that.
pub(super) fn remove_steps(plan: &mut Plan<'_, '_>, step: Id, end: Id, alive: &dyn Fn(Id) -> bool) {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    let mut gone: Set<Id> = Set::from_iter([end]);
    let leaves = leaves(view, step);
    gone.extend(leaves.into_iter().filter(|s| alive(*s) && ends_step(plan.input, view, *s)));
    let mut whole: Set<Id> = Set::new();
    for &statement in gone.iter() {
        let mut at = statement;
        // A test around nothing else goes with it.
        while let Some(block) = index.parent(at)
            && index.parts(block).all(|s| gone.contains(&s) || whole.contains(&s))
            && let Some(owner) = index.parent(block).filter(|o| index.kind(*o) == k.if_statement)
            && index.field(owner, f.alternative).is_none()
            && plan.input.project.modes.is_none()
        {
            at = owner;
            whole.insert(at);
        }
        whole.insert(at);
    }
    for &at in whole.iter() {
        if !whole.iter().any(|o| *o != at && index.is_within(at, *o)) {
            plan.edit(at, Change::Replace { first: at, last: at, text: String::new() });
        }
    }
}

/// A new learning rate has to be handed over.
pub(super) fn schedulers(
    plan: &mut Plan<'_, '_>,
    (step, body, steps_always): (Id, Id, bool),
    optimizer: &str,
    alive: &dyn Fn(Id) -> bool,
) {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    for &call in view.calls("step") {
        let Some(object) = index.field(call, f.function).and_then(|g| index.field(g, f.object)) else { continue };
        if plan.input.project.role(view, object) != Some(Role::Scheduler) || !alive(call) {
            continue;
        }
        let Some(statement) = view.statement_of(call) else { continue };
        let near = steps_always && index.is_within(call, step) && call > body;
        let text = if near {
            format!("training_step.setOptimizer({optimizer})")
        } else {
            format!("update_ipu_optimizer({}.optimizer)", index.text_of(object))
        };
        plan.edit(statement, Change::Insert { at: statement, after: true, text });
    }
    let mut told: Set<Id> = Set::new();
    for &assignment in index.of_kind(k.assignment).iter().chain(index.of_kind(k.augmented_assignment)) {
        let Some(left) = index.field(assignment, f.left).filter(|l| index.kind(*l) == k.subscript) else { continue };
        let text = index.text_of(left);
        if !(text.ends_with("[\"lr\"]") || text.ends_with("['lr']")) {
            continue;
        }
        let around = index.ancestors(assignment).find(|a| {
            index.kind(*a) == k.for_statement
                && index.field(*a, f.right).is_some_and(|r| index.text_of(r).ends_with(".param_groups"))
        });
        let groups = around.and_then(|a| index.field(a, f.right)).map(|r| index.text_of(r)).unwrap_or(text);
        let Some((owner, _)) = groups.split_once(".param_groups") else { continue };
        if let Some(statement) = around.or_else(|| view.statement_of(assignment)).filter(|s| told.insert(*s)) {
            let text = format!("update_ipu_optimizer({owner})");
            plan.edit(statement, Change::Insert { at: statement, after: true, text });
        }
    }
}

/// The model runs on the IPU in validation, too.
pub(super) fn validation(
    plan: &mut Plan<'_, '_>,
    step: Id,
    is_model: &dyn Fn(Id) -> bool,
    moved: &dyn Fn(Id) -> bool,
    alive: &dyn Fn(Id) -> bool,
    parts: &[(String, String)],
) {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    // `self.net` here may be `net` there.
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let learns = |call: Id| {
        let name = index.field(call, f.function).map(|g| last(index.text_of(g)));
        name.is_some_and(|name| parts.iter().any(|(_, part)| part.split('.').any(|word| word == name)))
    };
    let mut fetches: Set<Id> = Set::new();
    for &call in index.of_kind(k.call) {
        let in_model = view.class_of(call).is_some_and(|c| plan.input.project.models.contains(view.name_of(c)));
        if !is_model(call) || moved(call) || in_model || !alive(call) {
            continue;
        }
        let here = index.is_within(call, step);
        let around = loop_of(view, call).filter(|l| !view.calls("backward").iter().any(|b| index.is_within(*b, *l)));
        let counts = around.is_some_and(|l| {
            let source = index.field(l, f.right);
            source.is_some_and(|r| index.kind(r) == k.call && called_name(index, r) == Some("range"))
        });
        let evaluates = around.is_some() && !counts && runs_without_gradients(view, call);
        if !(view.steps.in_validation(view, call) || here && around.is_some() || evaluates) {
            // The callee of the step infers already.
            let infers = plan.changes(call);
            if learns(call) && !infers && !comes_first(view, call, step) {
                fetches.extend(outermost_without(view, call, step));
            }
            continue;
        }
        let Some(model) = index.field(call, f.function) else { continue };
        let text = format!("ipu_inference({})", index.text_of(model));
        plan.edit(call, Change::Expression { node: call, range: index.range(model), text });
    }
    // What the host runs needs the weights that the IPU has.
    for call in handed(plan.input, view, step).filter(|c| !moved(*c) && alive(*c)) {
        fetches.extend(outermost_without(view, call, step));
    }
    for at in fetches {
        let text = "detach_from_ipu(ipu_training_steps.values())".to_owned();
        plan.edit(at, Change::Insert { at, after: false, text });
    }
}
