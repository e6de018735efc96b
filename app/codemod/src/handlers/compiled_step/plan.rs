//! What has to happen to one training step, found out as a whole before anything is changed.

use super::super::asked::asked_for;
use super::accumulation::{Counter, accumulation, unwrapped};
use super::around::{
    clip, ends_step, fixed_test, remove_steps, require_package, saves, schedulers, steps_scheduler, validation,
};
use super::callee::callee;
use super::far::{far_call, hand_back_input};
use super::known::Known;
use super::micro_batches::micro_batches;
use super::moved::{Moved, moved_names, moved_statement, plain_name};
use super::origins::learns_before;
use super::phase::{both_phases, phase_test};
use super::precision::mixed_precision;
use super::slice::{assigned, backward_slice, leaves, reads, reads_name};
use super::text::{Helpers, import};
use super::units::units;
use super::{Input, Refusal, Wish, is_reached, loop_of, refuse, wish};
use crate::change::Change;
use crate::condition::{Situation, Type, nodes_of_type};
use crate::facts::FileView;
use crate::facts::roles::Role;
use crate::names::{called_name, dotted};
use crate::order::Set;
use crate::tree::{Id, ROOT, fields, kinds};

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
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut plan = Plan { input, view, simpler: Vec::new(), edits: Vec::new() };
    let function = (index.kind(step) == k.function_definition).then_some(step);
    if view.differentiates() {
        return refuse(
            step,
            "gradients are part of what is computed here, and the IPU keeps them to itself. Write a loss without them, or train this on \
             another target",
        );
    }
    obstacles(input, view)?;
    // A branch for automatic mixed precision goes first: the IPU computes in the model's own type.
    let amp = mixed_precision(view, step, input);
    let alive = |id: Id| is_reached(input, view, id) && !amp.dead.iter().any(|d| index.is_within(id, *d));
    let backward: Vec<Id> =
        view.calls("backward").iter().copied().filter(|c| index.is_within(*c, step) && alive(*c)).collect();
    if backward.is_empty() {
        return refuse(
            step,
            "whether this mode comes to `backward()` is decided in a way that is not followed. Write the step under the project's own \
             test for the mode, then port again",
        );
    }
    let [backward] = backward.as_slice() else {
        return refuse(
            step,
            "the step calls `backward()` more than once. The IPU compiles one loss: sum the losses first",
        );
    };
    let backward = *backward;
    let Some(end) = view.statement_of(backward) else { return refuse(step, "`backward()` stands in no statement") };
    if input.project.modes.as_ref().is_some_and(|m| m.guard_at(view, input.project, end).is_none()) {
        return refuse(
            end,
            "the compute mode can't be read in the training step. Hand it to this function, then port again",
        );
    }
    let (loss, loss_text) = loss_of(view, backward);
    let around = loop_of(view, backward);
    let body = around.unwrap_or(step);
    let all: Vec<Id> = leaves(view, body).into_iter().filter(|s| alive(*s)).collect();
    let before: Vec<Id> = all.iter().copied().filter(|s| *s < end).collect();
    let before: Vec<Id> = units(input, view, body, &before).into_iter().filter(|u| !index.is_within(end, *u)).collect();
    // Optimizer.
    let mut optimizer = None;
    for &call in view.calls("step").iter().filter(|c| index.is_within(**c, step)) {
        let Some(object) = index.field(call, f.function).and_then(|g| index.field(g, f.object)) else { continue };
        let argument = index.field(call, f.arguments).and_then(|a| index.parts(a).next());
        let text = match input.project.role(view, object) {
            Some(Role::Optimizer) => {
                if argument.is_some() {
                    return refuse(
                        call,
                        "the optimizer is given a closure, and the IPU runs forward, backward and update in one. Write the closure's \
                         statements into the step and call `step()` without it, then port again",
                    );
                }
                index.text_of(object)
            }
            Some(Role::Scaler) => argument.map_or("", |a| index.text_of(a)),
            _ => continue,
        };
        if optimizer.is_some_and(|o| o != text) {
            return refuse(
                call,
                "the step has two optimizers; the IPU compiles one. Give one optimizer both groups of parameters, or each a step of its own in a file of its own",
            );
        }
        optimizer = Some(text);
    }
    let Some(optimizer) = optimizer else {
        return refuse(
            step,
            "no `optimizer.step()` is found beside `backward()`, so what the IPU should compile is not known. Write it there, then port again",
        );
    };
    let branch = input.project.modes.is_some();
    let situation = Situation { view, project: input.project, settings: input.settings, branch };
    let torch = nodes_of_type(&situation, &Type::LastTorchImport).first().copied();
    let Some(torch) = torch else {
        return refuse(step, "the file does not import torch. Import it where the step is, then port again");
    };
    let header = end_of_imports(view, torch, step);
    let accumulation = accumulation(input, view, step, around, optimizer, header)?;
    let mut divided = false;
    // Model call and slice.
    let mut wanted: Vec<&str> = reads(view, loss).into_iter().map(|id| index.text_of(id)).collect();
    wanted.extend(dotted(index, loss));
    let slice = backward_slice(view, &before, &wanted);
    let is_model_call = |call: Id| {
        index.field(call, f.function).is_some_and(|g| {
            let lower = dotted(index, g).unwrap_or("loss").to_ascii_lowercase();
            // A loss can be a module, too.
            let last = lower.rsplit('.').next().unwrap_or("");
            let is_loss = last.contains("loss") || last.contains("criteri");
            !is_loss && input.project.role(view, g) == Some(Role::Model)
        })
    };
    let holds_model = |s: Id| index.of_kind_in(k.call, s).iter().copied().find(|c| is_model_call(*c));
    let first = slice.iter().copied().find(|s| holds_model(*s).is_some());
    let found = |s: &Id| {
        let far = far_call(input, view, *s, &is_model_call);
        let near = if far.is_none() { callee(input, view, *s, &is_model_call) } else { None };
        (far.is_some() || near.is_some()).then_some((*s, far, near))
    };
    let (moved_from, far, near) = match first.map(|f| (f, None, None)).or_else(|| slice.iter().find_map(found)) {
        Some(found) => found,
        None => {
            let why = if index.kind(loss) == k.call {
                "the loss has no name. Write `loss = …` in a line of its own before `loss.backward()`, then port again"
            } else {
                "the call of the model that leads to this loss is not in this function. Put model call and loss into \
                 one function, or into the model's `forward`, then port again"
            };
            return refuse(backward, why);
        }
    };
    let slice: Vec<Id> = slice.into_iter().filter(|s| *s > moved_from || (*s == moved_from && far.is_none())).collect();
    let last = slice.last().copied().unwrap_or(moved_from);
    for &s in &slice {
        let conditional = index.ancestors(s).take_while(|a| *a != body).find(|a| {
            [k.for_statement, k.while_statement, k.try_statement, k.except_clause].contains(&index.kind(*a))
                || (index.kind(*a) == k.if_statement
                    && !amp.simplified.contains(a)
                    && !index.field(*a, f.condition).is_some_and(|c| {
                        index.text_of(*a).contains(index.text_of(backward))
                            || input.project.modes.as_ref().is_some_and(|m| m.tested(index, c).is_some())
                            || index.children(*a).any(|e| {
                                [k.elif_clause, k.else_clause].contains(&index.kind(e))
                                    && index.field(e, f.condition).is_none()
                                    && input.project.modes.is_some()
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
    // What learns only sometimes would learn always: the compiled step does not ask.
    let decided = |id: Id| {
        index.ancestors(id).take_while(|a| *a != body && *a != step).find(|a| {
            index.kind(*a) == k.if_statement
                && !amp.simplified.contains(a)
                && accumulation.as_ref().is_none_or(|c| !c.counts(*a))
                && !index.is_within(moved_from, *a)
                && input
                    .project
                    .modes
                    .as_ref()
                    .is_none_or(|m| index.field(*a, f.condition).is_none_or(|c| m.tested(index, c).is_none()))
        })
    };
    let updates = all.iter().copied().filter(|s| {
        *s == end
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
    let phase =
        phase_test(view, &tests).filter(|_| !branch && far.is_none() && near.is_none() && accumulation.is_none());
    if let Some(test) = tests.iter().copied().flatten().next().filter(|_| phase.is_none()) {
        return refuse(
            test,
            "this test decides whether the weights learn, and the compiled step always updates them. Give training a loop \
             of its own, without the test",
        );
    }
    let skipped = around.into_iter().flat_map(|l| index.of_kind_in(k.continue_statement, l)).copied().find(|id| {
        let counts = |by: &Counter| matches!(by, Counter::Skip(at) if index.is_within(*id, *at));
        *id > moved_from
            && updates.last().is_some_and(|last| id < last)
            && alive(*id)
            && loop_of(view, *id) == around
            && !accumulation.as_ref().is_some_and(|a| counts(&a.by))
    });
    if let Some(skipped) = skipped {
        return refuse(
            skipped,
            "this decides whether the weights learn, when the compiled step has updated them already. Decide it from the batch, above \
             the model's call, or leave it out, then port again",
        );
    }
    // The call goes to the last moved statement, unless something in between reads what it gives.
    let outputs: Set<&str> =
        slice.iter().chain(far.as_ref().map(|_| &moved_from)).flat_map(|s| assigned(view, *s)).collect();
    let between: Vec<Id> =
        before.iter().copied().filter(|s| *s > moved_from && *s < last && !slice.contains(s)).collect();
    let reader = between.iter().copied().find(|s| reads(view, *s).iter().any(|r| outputs.contains(index.text_of(*r))));
    let mut at = last;
    if let Some(reader) = reader {
        let free: Set<&str> = slice.iter().flat_map(|s| reads(view, *s)).map(|r| index.text_of(r)).collect();
        if between.iter().any(|s| assigned(view, *s).iter().any(|n| free.contains(n))) {
            return refuse(
                reader,
                "this statement reads the model's output before the loss is known. Move it behind the loss",
            );
        }
        at = moved_from;
    }
    let loss_name = if dotted(index, loss).is_some() { loss_text.clone() } else { "loss".to_owned() };
    let mut moved = Moved::default();
    if loss_name.contains('.') {
        moved.alias = Some((loss_name.clone(), plain_name(&loss_name)));
    }
    if let Some(far) = &far {
        let name = plain_name(&far.model);
        moved.attributes.push((name.clone(), far.model.clone()));
        moved.parameters.push((far.output.clone(), far.output.clone()));
        moved.body.push(format!("{} = self.{name}({})", far.output, far.output));
    }
    let mut known: Set<String> = far.iter().map(|m| m.output.clone()).collect();
    let locals: Set<String> =
        slice.iter().flat_map(|s| assigned(view, *s)).chain(["self"]).map(str::to_owned).collect();
    for &s in &slice {
        if let Some(near) = near.as_ref().filter(|_| s == moved_from) {
            near.move_into(input, view, &mut known, &mut moved)?;
            continue;
        }
        let text = moved_statement(input, view, function, body, s, (&known, &locals), &mut moved)?;
        let (text, cut) =
            accumulation.as_ref().map_or((Some(text.clone()), false), |a| a.undivided(&text, &moved.attributes));
        divided |= cut;
        moved.body.extend(text);
        known.extend(assigned(view, s).into_iter().map(str::to_owned));
    }
    if dotted(index, loss).is_none() {
        let text = moved_statement(input, view, function, body, loss, (&known, &locals), &mut moved)?;
        let (text, cut) =
            accumulation.as_ref().map_or((Some(text.clone()), false), |a| a.undivided(&text, &moved.attributes));
        divided |= cut;
        moved.body.push(format!("loss = {}", text.unwrap_or_default()));
    }
    if let Some(a) = &accumulation {
        a.forget_number(&mut moved.attributes, &moved.body);
    }
    if !moved.body.iter().any(|l| l.contains("self.")) || moved.attributes.is_empty() {
        return refuse(
            backward,
            "the model behind this loss is not found. Call it in the step by the name that its parameters are taken from, then port again",
        );
    }
    if moved.parameters.is_empty() {
        return refuse(
            backward,
            "no tensor of the batch goes into the step: what the model is given is fixed. Pass it to the function that trains",
        );
    }
    if let Some(call) = learns_before(view, input.project, step, moved_from, &moved.parameters) {
        let text = index.text_of(call);
        let what = text.lines().next().unwrap_or(text);
        let reason = format!(
            "`{what}` works on what goes into the compiled step, and what learns in it would not learn there. Write it in one \
             line of calls with the model and the loss, or under `torch.no_grad()` if it is not to learn, then port again"
        );
        return Err(Refusal { at: call, reason });
    }
    // What is read later comes back from the IPU.
    let mut results: Vec<String> = Vec::new();
    let stays: Vec<Id> = leaves(view, step)
        .into_iter()
        .filter(|s| alive(*s) && !slice.iter().any(|u| index.is_within(*s, *u)) && *s != moved_from && *s != end)
        .collect();
    for name in moved_names(view, &slice, far.as_ref()) {
        let users: Vec<Id> = stays
            .iter()
            .copied()
            .filter(|s| {
                *s > moved_from && reads_name(view, *s, &name) && !is_assigned_anew(view, (step, end), *s, &name)
            })
            .collect();
        let in_headers = index
            .of_kind_in(k.identifier, step)
            .iter()
            .any(|i| *i > end && index.text_of(*i) == name && !stays.iter().any(|s| index.is_within(*i, *s)));
        if name == loss_name || (users.is_empty() && !in_headers) {
            continue;
        }
        let opaque = users.iter().copied().find(|u| {
            reads(view, *u).into_iter().filter(|r| index.text_of(*r) == name).any(|r| {
                index.parent(r).is_some_and(|p| {
                    index.kind(p) == k.attribute
                        && index.field(p, f.attribute).is_some_and(|a| {
                            matches!(index.text_of(a), "logits" | "loss" | "last_hidden_state" | "pooler_output")
                        })
                })
            })
        });
        if let Some(user) = opaque {
            return refuse(
                user,
                "the model's output is an object, and only tensors come back from the IPU. Take the tensor out of it before the loss",
            );
        }
        results.push(name);
    }
    let scalars: Vec<String> = results
        .iter()
        .filter(|n| stays.iter().any(|s| index.text_of(*s).contains(&format!("{n}.item()"))))
        .cloned()
        .collect();
    // Clipping.
    let mut limit = None;
    for name in ["clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"] {
        if let Some(call) =
            view.calls(name).iter().copied().find(|c| index.is_within(*c, step) && is_reached(input, view, *c))
        {
            limit = clip(&mut plan, call, (step, body), optimizer)?;
            if limit.is_some() && amp.unwrapped.iter().any(|(whole, _)| index.is_within(call, *whole)) {
                return refuse(
                    call,
                    "the optimizer is built where this limit is not known. Give it there as `max_grad_norm` of `poptorch.optim`, \
                     take this line out, and port again",
                );
            }
        }
    }
    if !amp.unwrapped.is_empty() {
        // What is clipped in a branch that goes is clipped all the same.
        plan.simpler = std::mem::take(&mut plan.edits);
        plan.simpler.extend(amp.wishes(view));
    }
    // Edits.
    let q = view.layout.quote;
    let names: Vec<String> = moved.attributes.iter().map(|a| a.1.clone()).collect();
    let parts = std::iter::once(optimizer.to_owned()).chain(names).collect::<Vec<_>>().join(", ");
    let limit = limit.map_or(String::new(), |l| format!("{l}\n"));
    let make = format!("{limit}training_step = ipu_training_step({parts})");
    let arguments = moved.parameters.iter().map(|p| p.1.clone()).collect::<Vec<_>>().join(", ");
    let targets: String = results.iter().map(|r| format!("{r}, ")).collect();
    let call = format!("{targets}{loss_name} = training_step({arguments})");
    let means: String = scalars.iter().map(|s| format!("\n{s} = {s}.mean()")).collect();
    // Where the program takes the division back for its log, the number it starts from stays.
    let undone = accumulation.as_ref().filter(|a| {
        divided
            && stays.iter().any(|s| {
                let text = index.text_of(*s);
                text.contains(&format!("* {}", a.count)) || text.contains(&format!("*{}", a.count))
            })
    });
    let share = undone.map_or(String::new(), |a| format!(" / {}", a.count));
    let call = format!("{call}\n{loss_name} = {loss_name}.mean(){share}{means}");
    if let Some(loop_) = around.filter(|_| branch)
        && let Some(turns) = micro_batches(input, view, step, loop_, optimizer)
    {
        let turns = index.text_of(turns);
        let (unit, said) =
            (&view.layout.indent, "On the IPU, accumulate gradients with opts.Training.gradientAccumulation");
        let text = format!("if {turns} != 1:\n{unit}raise ValueError({q}{said}{q})");
        plan.edit(loop_, Change::Insert { at: loop_, after: false, text });
    }
    // Asked for at every turn, because validation may have taken the IPU in between.
    let call = format!("{make}\n{call}");
    let call = phase.map_or(call.clone(), |test| both_phases(view, test, &call, &slice, &is_model_call));
    for &s in &slice {
        if s != at && s != end {
            plan.edit(s, Change::Replace { first: s, last: s, text: String::new() });
        }
    }
    if slice.is_empty() || (far.is_some() && at == moved_from) {
        plan.edit(at, Change::Insert { at, after: true, text: call });
    } else {
        plan.edit(at, Change::Replace { first: at, last: at, text: call });
    }
    let opts = if view.has_word("opts") { "ipu_opts" } else { "opts" };
    // Beside other modes the test is written anew as a whole; alone, its condition holds and it goes in the next round.
    let whole = accumulation.as_ref().filter(|_| branch).and_then(|a| a.tests.first().copied());
    let elsewhere = |id: Id| alive(id) && !whole.is_some_and(|t| index.is_within(id, t));
    remove_steps(&mut plan, step, end, &elsewhere);
    if let Some(far) = &far {
        hand_back_input(&mut plan, far, moved_from, &alive)?;
    }
    if let Some(near) = &near {
        near.infer_elsewhere(&mut plan, step, &is_model_call, &alive);
    }
    schedulers(&mut plan, (step, body, phase.is_none()), optimizer, &elsewhere);
    if let Some(a) = &accumulation {
        if let Some(test) = whole {
            let gone = |s: Id| ends_step(input, view, s);
            let after =
                |s: Id| steps_scheduler(input, view, s).then(|| format!("training_step.setOptimizer({optimizer})"));
            plan.edit(test, unwrapped(view, test, &gone, &after));
        } else {
            a.at_every_turn(&mut plan);
        }
        a.lengths(&mut plan);
        let text = a.lines(opts, divided);
        match a.known {
            Known::FromStart => {}
            Known::After(at) => plan.edit(at, Change::Insert { at, after: true, text }),
            Known::Before(at) => plan.edit(at, Change::Insert { at, after: false, text }),
        }
    }
    saves(&mut plan);
    if branch {
        require_package(&mut plan);
    }
    let moved_calls = |c: Id| slice.iter().any(|s| index.is_within(c, *s));
    validation(&mut plan, step, &is_model_call, &moved_calls, &alive, &moved.attributes);
    let module = view.names.spelling(index, step, "torch.nn.Module").unwrap_or_else(|| "torch.nn.Module".to_owned());
    let attributes: Vec<String> = moved.attributes.iter().map(|a| a.0.clone()).collect();
    let parameters: Vec<String> = moved.parameters.iter().map(|p| p.0.clone()).collect();
    let helpers = Helpers {
        module: &module,
        attributes: &attributes,
        parameters: &parameters,
        body: &moved.body,
        results: &results,
        loss: &moved.local(&loss_name),
        opts,
        frozen: moved.attributes.iter().any(|a| is_frozen(view, step, &a.1)),
        more: accumulation.as_ref().filter(|a| matches!(a.known, Known::FromStart)).map(|a| a.lines(opts, divided)),
        branch,
        unit: &view.layout.indent,
        quote: q,
    };
    let line_after = |at: Id, text: String| {
        let end = crate::change::statement_end(view, at);
        Change::Raw { range: end..end, text: format!("{}{text}", view.layout.newline) }
    };
    plan.edit(torch, line_after(torch, import(branch, &view.layout.indent)));
    let text = format!("\n\n{}", helpers.write().trim_end());
    plan.edit(header, line_after(header, text.replace('\n', view.layout.newline)));
    Ok(plan)
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

/// What a compiled step can't do and no rewriting mends.
fn obstacles(input: &Input<'_, '_>, view: &FileView<'_>) -> Result<(), Refusal> {
    let f = fields();
    let index = &view.index;
    const SUPPORTED: [&str; 5] = ["SGD", "Adam", "AdamW", "RMSprop", "Optimizer"];
    for &call in index.of_kind(kinds().call) {
        let Some(name) = index.field(call, f.function).and_then(|g| view.names.qualify(index, g)) else { continue };
        if !is_reached(input, view, call) {
            continue;
        }
        let optimizer =
            name.strip_prefix("torch.optim.").filter(|n| !n.contains('.') && n.starts_with(char::is_uppercase));
        let foreign = foreign_optimizer(&name);
        if let Some(kind) = optimizer.filter(|n| !SUPPORTED.contains(n)).or(foreign) {
            return refuse(
                call,
                &format!("the IPU has no {kind}. Take SGD, Adam, AdamW, RMSprop or LAMB, then port again"),
            );
        }
        let several = matches!(
            name.as_str(),
            "torch.nn.parallel.DistributedDataParallel" | "torch.distributed.init_process_group"
        );
        // What is asked for first is off when one process is started.
        let always = !asked_for(view, call);
        if several
            && always
            && input.project.modes.is_none()
            && !input.settings.target.modules.iter().any(|m| m == "popdist")
        {
            return refuse(
                call,
                "this script spreads the model over several devices or processes. Take that out and let the options replicate, or port it to PopDist",
            );
        }
    }
    Ok(())
}

/// Whether a name is given another value between the backward pass and a statement that reads it.
fn is_assigned_anew(view: &FileView<'_>, (step, end): (Id, Id), reader: Id, name: &str) -> bool {
    let k = kinds();
    let index = &view.index;
    leaves(view, step).into_iter().any(|s| {
        // What stands in a `with` happens.
        let mut at = s;
        while let Some(with) =
            index.parent(at).and_then(|b| index.parent(b)).filter(|w| index.kind(*w) == k.with_statement)
        {
            at = with;
        }
        let before = s > end && s < reader && assigned(view, s).contains(&name);
        before && index.parent(at).is_some_and(|block| index.is_within(reader, block)) && !reads_name(view, s, name)
    })
}

/// An optimizer of another package that PopTorch has no counterpart of (guides/ipu.md#optimizer has those it has).
fn foreign_optimizer(name: &str) -> Option<&str> {
    const KNOWN: [&str; 6] = [
        "timm.optim.Lamb",
        "torch_optimizer.Lamb",
        "apex.optimizers.FusedLAMB",
        "apex.optimizers.FusedAdam",
        "apex.optimizers.FusedSGD",
        "transformers.AdamW",
    ];
    const PACKAGES: [&str; 7] = [
        "timm.optim",
        "torch_optimizer",
        "apex.optimizers",
        "transformers.optimization",
        "bitsandbytes.optim",
        "lion_pytorch",
        "pytorch_optimizer",
    ];
    let (package, kind) = name.rsplit_once('.')?;
    let class = kind.starts_with(|c: char| c.is_ascii_uppercase()) && !kind.contains("Schedule");
    (class && PACKAGES.contains(&package) && !KNOWN.contains(&name)).then_some(kind)
}

/// The last import at the top, before anything that needs the options.
fn end_of_imports(view: &FileView<'_>, torch: Id, step: Id) -> Id {
    let k = kinds();
    let index = &view.index;
    let imports = |s: Id| {
        let kind = index.kind(s);
        [k.import_statement, k.import_from_statement].contains(&kind)
            || kind == k.try_statement
                && !(index.of_kind_in(k.import_statement, s).is_empty()
                    && index.of_kind_in(k.import_from_statement, s).is_empty())
    };
    index
        .parts(ROOT)
        .take_while(|s| {
            let loads = view.calls("DataLoader").iter().any(|c| index.is_within(*c, *s));
            *s <= torch || !(loads || index.is_within(step, *s))
        })
        .filter(|s| *s >= torch && imports(*s))
        .last()
        .unwrap_or(torch)
}

/// The expression that `backward()` is called on, without a scaler around it.
pub(super) fn loss_of(view: &FileView<'_>, backward: Id) -> (Id, String) {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let object = index.field(backward, f.function).and_then(|g| index.field(g, f.object)).unwrap_or(backward);
    let scaled = (index.kind(object) == k.call && called_name(index, object) == Some("scale"))
        .then(|| index.field(object, f.arguments).and_then(|a| index.parts(a).next()))
        .flatten()
        .unwrap_or(object);
    let mut inner = scaled;
    while index.kind(inner) == k.parenthesized_expression {
        inner = index.parts(inner).next().unwrap_or(inner);
    }
    (inner, index.text_of(inner).to_owned())
}
