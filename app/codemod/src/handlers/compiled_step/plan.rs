//! What has to happen to one training step, found out as a whole before anything is changed.

use super::accumulation::unwrapped;
use super::around::{clip, ends_step, remove_steps, require_package, saves, schedulers, steps_scheduler, validation};
use super::far::hand_back_input;
use super::known::Known;
use super::micro_batches::micro_batches;
use super::module::Module;
use super::phase::both_phases;
use super::step::Step;
use super::text::{Helpers, import};
use super::way::Way;
use super::{Input, Refusal, Wish, is_reached, refuse, wish};
use crate::change::{Change, statement_end};
use crate::facts::FileView;
use crate::tree::{Id, fields};

/// Everything about one training step.
pub(super) struct Plan<'a, 't> {
    pub(super) input: &'a Input<'a, 't>,
    pub(super) view: &'a FileView<'t>,
    /// Statements around or beside the step that have to be simpler first.
    simpler: Vec<Wish>,
    edits: Vec<Wish>,
}

impl Plan<'_, '_> {
    pub(super) fn preparations(&self) -> Vec<Wish> {
        self.simpler.iter().map(|w| Wish { at: w.at, changes: w.changes.clone(), imports: w.imports.clone() }).collect()
    }

    pub(super) fn wishes(self) -> Vec<Wish> {
        self.edits
    }

    pub(super) fn edit(&mut self, at: Id, change: Change) {
        self.edits.push(wish(self.view, at, change));
    }

    /// Whether the new code says this.
    pub(super) fn says(&self, words: &str) -> bool {
        self.edits.iter().flat_map(|wish| &wish.changes).any(|change| change.text().contains(words))
    }

    /// Whether an expression is changed already.
    pub(super) fn changes(&self, id: Id) -> bool {
        let expression = |change: &Change| matches!(change, Change::Expression { node, .. } if *node == id);
        self.edits.iter().flat_map(|wish| &wish.changes).any(expression)
    }
}

pub(super) fn plan<'a, 't>(
    input: &'a Input<'a, 't>,
    view: &'a FileView<'t>,
    step: Id,
) -> Result<Plan<'a, 't>, Refusal> {
    let step = Step::found(input, view, step)?;
    let way = Way::found(&step)?;
    let module = Module::of(&step, &way)?;
    let mut plan = Plan { input, view, simpler: Vec::new(), edits: Vec::new() };
    let limit = limit(&mut plan, &step)?;
    if !step.amp.unwrapped.is_empty() {
        // What is clipped in a branch that goes is clipped all the same.
        plan.simpler = std::mem::take(&mut plan.edits);
        plan.simpler.extend(step.amp.wishes(view));
    }
    checked_turns(&mut plan, &step);
    called(&mut plan, &step, &way, &module, limit);
    superfluous(&mut plan, &step, &way, &module)?;
    if step.branch {
        require_package(&mut plan);
    }
    let moved_calls = |c: Id| way.slice.iter().any(|s| view.index.is_within(c, *s));
    let is_model_call = |call: Id| step.is_model_call(call);
    let alive = |id: Id| step.is_alive(id);
    validation(&mut plan, step.whole, &is_model_call, &moved_calls, &alive, &module.moved.attributes);
    saves(&mut plan, step.whole);
    brought(&mut plan, &step, &module);
    whole(plan)
}

/// All of it or nothing: a step of which a part can't be written is no step.
fn whole<'a, 't>(plan: Plan<'a, 't>) -> Result<Plan<'a, 't>, Refusal> {
    let lost = |change: &&Change| change.has_no_place(plan.view) || change.swallows_comment(plan.view);
    let mut changes = plan.simpler.iter().chain(&plan.edits).flat_map(|wish| &wish.changes);
    match changes.find(lost).and_then(Change::node) {
        Some(at) => refuse(
            at,
            "its code shares its line with a header, or a comment stands inside a statement of it. Put either on a line of its \
             own, then port again",
        ),
        None => Ok(plan),
    }
}

/// The limit that gradients are clipped to, where the optimizer is to be told beside the step.
fn limit(plan: &mut Plan<'_, '_>, step: &Step<'_, '_>) -> Result<Option<String>, Refusal> {
    let view = step.view;
    let mut limit = None;
    for name in ["clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"] {
        let here = |c: &Id| view.index.is_within(*c, step.whole) && is_reached(step.input, view, *c);
        if let Some(call) = view.calls(name).iter().copied().find(here) {
            limit = clip(plan, call, (step.whole, step.body), step.optimizer)?;
            if limit.is_some() && step.amp.unwrapped.iter().any(|(whole, _)| view.index.is_within(call, *whole)) {
                return refuse(
                    call,
                    "the optimizer is built where this limit is not known. Give it there as `max_grad_norm` of `poptorch.optim`, \
                     take this line out, and port again",
                );
            }
        }
    }
    Ok(limit)
}

/// Beside other modes, a loop over micro-batches keeps its number, which the target takes from its options.
fn checked_turns(plan: &mut Plan<'_, '_>, step: &Step<'_, '_>) {
    let view = step.view;
    let q = view.layout.quote;
    if let Some(loop_) = step.around.filter(|_| step.branch)
        && let Some(turns) = micro_batches(step.input, view, step.whole, loop_, step.optimizer)
    {
        let turns = view.index.text_of(turns);
        let (unit, said) =
            (&view.layout.indent, "On the IPU, accumulate gradients with opts.Training.gradientAccumulation");
        let text = format!("if {turns} != 1:\n{unit}raise ValueError({q}{said}{q})");
        plan.edit(loop_, Change::Insert { at: loop_, after: false, text });
    }
}

/// The call of the compiled step in the place of what has moved.
fn called(plan: &mut Plan<'_, '_>, step: &Step<'_, '_>, way: &Way<'_>, module: &Module, limit: Option<String>) {
    let view = step.view;
    let Module { moved, loss, results, scalars, .. } = module;
    let names: Vec<String> = moved.attributes.iter().map(|a| a.1.clone()).collect();
    let parts = std::iter::once(step.optimizer.to_owned()).chain(names).collect::<Vec<_>>().join(", ");
    let limit = limit.map_or(String::new(), |l| format!("{l}\n"));
    let make = format!("{limit}training_step = ipu_training_step({parts})");
    let arguments = moved.parameters.iter().map(|p| p.1.clone()).collect::<Vec<_>>().join(", ");
    let targets: String = results.iter().map(|r| format!("{r}, ")).collect();
    let call = format!("{targets}{loss} = training_step({arguments})");
    let means: String = scalars.iter().map(|s| format!("\n{s} = {s}.mean()")).collect();
    // Where the program takes the division back for its log, the number it starts from stays.
    let undone = step.accumulation.as_ref().filter(|a| {
        module.divided
            && module.stays.iter().any(|s| {
                let text = view.index.text_of(*s);
                text.contains(&format!("* {}", a.count)) || text.contains(&format!("*{}", a.count))
            })
    });
    let share = undone.map_or(String::new(), |a| format!(" / {}", a.count));
    // Asked for at every turn, because validation may have taken the IPU in between.
    let call = format!("{make}\n{call}\n{loss} = {loss}.mean(){share}{means}");
    let is_model_call = |call: Id| step.is_model_call(call);
    let call = way.phase.map_or(call.clone(), |test| both_phases(view, test, &call, &way.slice, &is_model_call));
    let at = way.at;
    for &s in &way.slice {
        if s != at && s != step.end {
            plan.edit(s, Change::Replace { first: s, last: s, text: String::new() });
        }
    }
    if way.slice.is_empty() || (way.far.is_some() && at == way.from) {
        plan.edit(at, Change::Insert { at, after: true, text: call });
    } else {
        plan.edit(at, Change::Replace { first: at, last: at, text: call });
    }
}

/// What the compiled step does by itself goes, and what it has to be told is handed over.
fn superfluous(plan: &mut Plan<'_, '_>, step: &Step<'_, '_>, way: &Way<'_>, module: &Module) -> Result<(), Refusal> {
    let (input, view, optimizer) = (step.input, step.view, step.optimizer);
    let alive = |id: Id| step.is_alive(id);
    let is_model_call = |call: Id| step.is_model_call(call);
    // Beside other modes the test is written anew as a whole; alone, its condition holds and it goes in the next round.
    let whole = step.accumulation.as_ref().filter(|_| step.branch).and_then(|a| a.tests.first().copied());
    let elsewhere = |id: Id| alive(id) && !whole.is_some_and(|t| view.index.is_within(id, t));
    remove_steps(plan, step.whole, step.end, &elsewhere);
    if let Some(far) = &way.far {
        hand_back_input(plan, far, way.from, &alive)?;
    }
    if let Some(near) = &way.near {
        near.infer_elsewhere(plan, step.whole, &is_model_call, &alive);
    }
    schedulers(plan, (step.whole, step.body, way.phase.is_none()), optimizer, &elsewhere);
    if let Some(a) = &step.accumulation {
        if let Some(test) = whole {
            let gone = |s: Id| ends_step(input, view, s);
            let after =
                |s: Id| steps_scheduler(input, view, s).then(|| format!("training_step.setOptimizer({optimizer})"));
            plan.edit(test, unwrapped(view, test, &gone, &after));
        } else {
            a.at_every_turn(plan);
        }
        a.lengths(plan);
        let text = a.lines(options_name(view), module.divided);
        match a.known {
            Known::FromStart => {}
            Known::After(at) => plan.edit(at, Change::Insert { at, after: true, text }),
            Known::Before(at) => plan.edit(at, Change::Insert { at, after: false, text }),
        }
    }
    Ok(())
}

/// The definitions that the step needs, behind the imports.
fn brought(plan: &mut Plan<'_, '_>, step: &Step<'_, '_>, module: &Module) {
    let view = step.view;
    let index = &view.index;
    let Module { moved, loss, results, divided, .. } = module;
    let opts = options_name(view);
    let base =
        view.names.spelling(index, step.whole, "torch.nn.Module").unwrap_or_else(|| "torch.nn.Module".to_owned());
    let attributes: Vec<String> = moved.attributes.iter().map(|a| a.0.clone()).collect();
    let parameters: Vec<String> = moved.parameters.iter().map(|p| p.0.clone()).collect();
    let accumulation = step.accumulation.as_ref().filter(|a| matches!(a.known, Known::FromStart));
    let helpers = Helpers {
        module: &base,
        attributes: &attributes,
        parameters: &parameters,
        body: &moved.body,
        results,
        loss: &moved.local(loss),
        opts,
        frozen: moved.attributes.iter().any(|a| is_frozen(view, step.whole, &a.1)),
        more: accumulation.map(|a| a.lines(opts, *divided)),
        branch: step.branch,
        infers: plan.says("ipu_inference("),
        updates: plan.says("update_ipu_optimizer("),
        unit: &view.layout.indent,
        quote: view.layout.quote,
    };
    let line_after = |at: Id, text: String| {
        let end = statement_end(view, at);
        Change::Raw { range: end..end, text: format!("{}{text}", view.layout.newline) }
    };
    let (torch, header) = (step.torch, step.header);
    plan.edit(torch, line_after(torch, import(step.branch, &view.layout.indent)));
    let text = format!("\n\n{}", helpers.write().trim_end());
    plan.edit(header, line_after(header, text.replace('\n', view.layout.newline)));
}

/// What the target's options are called in the file.
fn options_name(view: &FileView<'_>) -> &'static str {
    if view.has_word("opts") { "ipu_opts" } else { "opts" }
}

/// Whether the function of the step puts a part into evaluation mode, itself or what it belongs to, and never out of it.
fn is_frozen(view: &FileView<'_>, step: Id, part: &str) -> bool {
    let index = &view.index;
    let calls = |name: &str| {
        view.calls(name).iter().filter(|c| index.is_within(**c, step)).any(|call| {
            let object = index.field(*call, fields().function).and_then(|g| index.field(g, fields().object));
            object.map(|o| index.text_of(o)).is_some_and(|owner| {
                part.strip_prefix(owner).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    };
    calls("eval") && !calls("train")
}
