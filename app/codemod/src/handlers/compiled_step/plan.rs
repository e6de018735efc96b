//! What has to happen to one training step, found out as a whole before anything is changed.

use super::accumulation::{accumulation, micro_batches};
use super::slice::{assigned, backward_slice, leaves, member_of_self, reads, reads_name, reference};
use super::text::{Helpers, import};
use super::{Input, Refusal, Wish, is_reached, loop_of, refuse, wish};
use crate::change::{Change, dedent};
use crate::condition::{Situation, Type, nodes_of_type};
use crate::facts::roles::Role;
use crate::facts::{FileView, line_indent};
use crate::names::{called_name, dotted};
use crate::tree::{Id, ROOT, fields, kinds};
use std::collections::BTreeSet;

/// Everything about one training step.
pub(super) struct Plan<'a, 't> {
    input: &'a Input<'a, 't>,
    view: &'a FileView<'t>,
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

    fn edit(&mut self, at: Id, change: Change) {
        self.edits.push(wish(self.view, at, change));
    }
}

/// What moves into the compiled module, with the names it takes from outside.
#[derive(Default)]
struct Moved {
    body: Vec<String>,
    /// Attribute and the expression it is given.
    attributes: Vec<(String, String)>,
    /// Parameter and the expression it is given, `**` included.
    parameters: Vec<(String, String)>,
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
        return refuse(step, "gradients are part of what is computed here; the IPU keeps them to itself");
    }
    // A branch for automatic mixed precision goes first: the IPU computes in the model's own type.
    let amp = mixed_precision(view, step, input);
    let alive = |id: Id| is_reached(input, view, id) && !amp.dead.iter().any(|d| index.is_within(id, *d));
    let backward: Vec<Id> =
        view.calls("backward").iter().copied().filter(|c| index.is_within(*c, step) && alive(*c)).collect();
    let [backward] = backward.as_slice() else {
        return refuse(
            step,
            "the step calls `backward()` more than once. The IPU compiles one loss: sum the losses first",
        );
    };
    let backward = *backward;
    let Some(end) = view.statement_of(backward) else { return refuse(step, "`backward()` stands in no statement") };
    let (loss, loss_text) = loss_of(view, backward);
    let around = loop_of(view, backward);
    let body = around.unwrap_or(step);
    let all: Vec<Id> = leaves(view, body).into_iter().filter(|s| alive(*s)).collect();
    let before: Vec<Id> = all.iter().copied().filter(|s| *s < end).collect();
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
                        "the optimizer is given a closure, and the IPU runs forward, backward and update in one",
                    );
                }
                index.text_of(object)
            }
            Some(Role::Scaler) => argument.map_or("", |a| index.text_of(a)),
            _ => continue,
        };
        if optimizer.is_some_and(|o| o != text) {
            return refuse(call, "the step has two optimizers; the IPU compiles one");
        }
        optimizer = Some(text);
    }
    let Some(optimizer) = optimizer else {
        return refuse(
            step,
            "no `optimizer.step()` is found beside `backward()`, so what the IPU should compile is not known",
        );
    };
    let branch = input.project.modes.is_some();
    let situation = Situation { view, project: input.project, settings: input.settings, branch };
    let torch = nodes_of_type(&situation, &Type::LastTorchImport).first().copied();
    let Some(torch) = torch else { return refuse(step, "the file does not import torch") };
    let header = end_of_imports(view, torch, step);
    let accumulation = accumulation(input, view, step, around, optimizer, header)?;
    let mut divided = false;
    // Model call and slice.
    let wanted: Vec<&str> = reads(view, loss).into_iter().map(|id| index.text_of(id)).collect();
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
    let (moved_from, far) = match first {
        Some(first) => (first, None),
        None => match slice.iter().copied().find_map(|s| far_call(input, view, s, &is_model_call).map(|c| (s, c))) {
            Some((statement, far)) => (statement, Some(far)),
            None => {
                return refuse(
                    backward,
                    "the call of the model that leads to this loss is not in this function. Put model call and loss into \
                     one function, or into the model's `forward`, then port again",
                );
            }
        },
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
            return refuse(s, "the loss leaves the tensors here; the IPU compiles tensors only");
        }
    }
    // The call goes to the last moved statement, unless something in between reads what it gives.
    let outputs: BTreeSet<&str> =
        slice.iter().chain(far.as_ref().map(|_| &moved_from)).flat_map(|s| assigned(view, *s)).collect();
    let between: Vec<Id> =
        before.iter().copied().filter(|s| *s > moved_from && *s < last && !slice.contains(s)).collect();
    let reader = between.iter().copied().find(|s| reads(view, *s).iter().any(|r| outputs.contains(index.text_of(*r))));
    let mut at = last;
    if let Some(reader) = reader {
        let free: BTreeSet<&str> = slice.iter().flat_map(|s| reads(view, *s)).map(|r| index.text_of(r)).collect();
        if between.iter().any(|s| assigned(view, *s).iter().any(|n| free.contains(n))) {
            return refuse(
                reader,
                "this statement reads the model's output before the loss is known. Move it behind the loss",
            );
        }
        at = moved_from;
    }
    let mut moved = Moved::default();
    if let Some(far) = &far {
        let name = plain_name(&far.model);
        moved.attributes.push((name.clone(), far.model.clone()));
        moved.parameters.push((far.output.clone(), far.output.clone()));
        moved.body.push(format!("{} = self.{name}({})", far.output, far.output));
    }
    let mut known: BTreeSet<String> = far.iter().map(|m| m.output.clone()).collect();
    let locals: BTreeSet<String> =
        slice.iter().flat_map(|s| assigned(view, *s)).chain(["self"]).map(str::to_owned).collect();
    for &s in &slice {
        let text = moved_statement(input, view, function, body, s, (&known, &locals), &mut moved)?;
        let (text, cut) = accumulation.as_ref().map_or((Some(text.clone()), false), |a| a.undivided(&text));
        divided |= cut;
        moved.body.extend(text);
        known.extend(assigned(view, s).into_iter().map(str::to_owned));
    }
    let loss_name = if dotted(index, loss).is_some() { loss_text.clone() } else { "loss".to_owned() };
    if loss_name.contains('.') {
        return refuse(
            backward,
            "the loss is kept as an attribute. Keep it in a local name, and assign the attribute from that",
        );
    }
    if dotted(index, loss).is_none() {
        let text = moved_statement(input, view, function, body, loss, (&known, &locals), &mut moved)?;
        let (text, cut) = accumulation.as_ref().map_or((Some(text.clone()), false), |a| a.undivided(&text));
        divided |= cut;
        moved.body.push(format!("loss = {}", text.unwrap_or_default()));
    }
    if !moved.body.iter().any(|l| l.contains("self.")) || moved.attributes.is_empty() {
        return refuse(backward, "the model behind this loss is not found");
    }
    // What is read later comes back from the IPU.
    let mut results: Vec<String> = Vec::new();
    let stays: Vec<Id> = leaves(view, step)
        .into_iter()
        .filter(|s| alive(*s) && !slice.contains(s) && *s != moved_from && *s != end)
        .collect();
    for name in moved_names(view, &slice, far.as_ref()) {
        let users: Vec<Id> = stays.iter().copied().filter(|s| *s > moved_from && reads_name(view, *s, &name)).collect();
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
    for name in ["clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"] {
        if let Some(call) =
            view.calls(name).iter().copied().find(|c| index.is_within(*c, step) && is_reached(input, view, *c))
        {
            clip(&mut plan, call, step)?;
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
    let make = format!("training_step = ipu_training_step({parts})");
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
    let mut call = format!("{call}\n{loss_name} = {loss_name}.mean(){share}{means}");
    match around {
        Some(loop_) => {
            let micro = micro_batches(input, view, step, loop_, optimizer);
            let check = micro.map_or(String::new(), |n| {
                let (unit, said) =
                    (&view.layout.indent, "On the IPU, accumulate gradients with opts.Training.gradientAccumulation");
                format!("if {n} != 1:\n{unit}raise ValueError({q}{said}{q})\n")
            });
            plan.edit(loop_, Change::Insert { at: loop_, after: false, text: format!("{check}{make}") });
        }
        None => call = format!("{make}\n{call}"),
    }
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
    let whole = accumulation.as_ref().map(|a| a.test);
    let elsewhere = |id: Id| alive(id) && !whole.is_some_and(|t| index.is_within(id, t));
    remove_steps(&mut plan, step, end, &elsewhere);
    if let Some(far) = &far {
        hand_back_input(&mut plan, far, moved_from, &alive)?;
    }
    schedulers(&mut plan, step, body, optimizer, &elsewhere);
    if let Some(a) = &accumulation {
        let gone = |s: Id| ends_step(input, view, s);
        let after = |s: Id| steps_scheduler(input, view, s).then(|| format!("training_step.setOptimizer({optimizer})"));
        plan.edit(a.test, a.unwrapped(view, &gone, &after));
        if let Some(place) = a.known_after {
            plan.edit(place, Change::Insert { at: place, after: true, text: a.lines(opts, divided) });
        }
    }
    saves(&mut plan);
    let moved_calls = |c: Id| slice.iter().any(|s| index.is_within(c, *s));
    validation(&mut plan, step, &is_model_call, &moved_calls, &alive);
    let module = view.names.spelling(index, step, "torch.nn.Module").unwrap_or_else(|| "torch.nn.Module".to_owned());
    let attributes: Vec<String> = moved.attributes.iter().map(|a| a.0.clone()).collect();
    let parameters: Vec<String> = moved.parameters.iter().map(|p| p.0.clone()).collect();
    let helpers = Helpers {
        module: &module,
        attributes: &attributes,
        parameters: &parameters,
        body: &moved.body,
        results: &results,
        loss: &loss_name,
        opts,
        more: accumulation.as_ref().filter(|a| a.known_after.is_none()).map(|a| a.lines(opts, divided)),
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
fn loss_of(view: &FileView<'_>, backward: Id) -> (Id, String) {
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

/// The model's call in another function of the file, whose result that function hands on untouched.
struct Far {
    /// The caller's name for the output.
    output: String,
    /// Place of the output in what is returned.
    place: usize,
    model: String,
    name: String,
    /// Calls of the model there, each in a statement `name = model(input)`.
    calls: Vec<Id>,
}

fn far_call(input: &Input<'_, '_>, view: &FileView<'_>, statement: Id, is_model: &dyn Fn(Id) -> bool) -> Option<Far> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let assignment = index.of_kind_in(k.assignment, statement).first().copied()?;
    let call = index.field(assignment, f.right).filter(|r| index.kind(*r) == k.call)?;
    let name = called_name(index, call)?;
    let function = index.of_kind(k.function_definition).iter().copied().find(|d| view.name_of(*d) == name)?;
    let calls: Vec<Id> = index
        .of_kind_in(k.assignment, function)
        .iter()
        .filter_map(|a| index.field(*a, f.right))
        .filter(|r| index.kind(*r) == k.call && is_reached(input, view, *r))
        .filter(|r| {
            is_model(*r)
                || index.field(*r, f.function).is_some_and(|g| {
                    // A network that callers may hand in.
                    index.kind(g) == k.identifier && is_parameter(view, function, index.text_of(g))
                })
        })
        .collect();
    let own = calls.iter().copied().find(|c| is_model(*c))?;
    let model = index.text_of(index.field(own, f.function)?).to_owned();
    // All give the same name, which is handed on untouched.
    let local = index.parent(own).and_then(|a| index.field(a, f.left)).map(|l| index.text_of(l))?;
    let same = calls.iter().all(|c| {
        let one = index.field(*c, f.arguments).is_some_and(|a| {
            let parts: Vec<Id> = index.parts(a).collect();
            parts.len() == 1 && index.kind(parts[0]) != k.keyword_argument
        });
        one && index.parent(*c).and_then(|a| index.field(a, f.left)).is_some_and(|l| index.text_of(l) == local)
    });
    let returns: Vec<Id> = index.of_kind_in(k.return_statement, function).to_vec();
    let [only] = returns.as_slice() else { return None };
    let value = index.parts(*only).next()?;
    let values: Vec<Id> = if [k.expression_list, k.tuple].contains(&index.kind(value)) {
        index.parts(value).collect()
    } else {
        vec![value]
    };
    let place = values.iter().position(|v| index.text_of(*v) == local)?;
    let untouched = reads(view, function).iter().filter(|r| index.text_of(**r) == local).count() == 1;
    let left = index.field(assignment, f.left)?;
    let names: Vec<&str> = if index.kind(left) == k.pattern_list {
        index.parts(left).map(|p| index.text_of(p)).collect()
    } else {
        vec![index.text_of(left)]
    };
    (same && untouched && names.len() == values.len()).then(|| Far {
        output: names[place].to_owned(),
        place,
        model,
        name: name.to_owned(),
        calls,
    })
}

fn is_parameter(view: &FileView<'_>, function: Id, name: &str) -> bool {
    let index = &view.index;
    index.field(function, fields().parameters).is_some_and(|parameters| {
        index
            .parts(parameters)
            .any(|p| index.text_of(p) == name || index.children(p).next().is_some_and(|n| index.text_of(n) == name))
    })
}

/// The function hands back the model's input; every caller runs the model itself.
fn hand_back_input(plan: &mut Plan<'_, '_>, far: &Far, own: Id, alive: &dyn Fn(Id) -> bool) -> Result<(), Refusal> {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    for &call in &far.calls {
        let Some(argument) = index.field(call, f.arguments).and_then(|a| index.parts(a).next()) else { continue };
        let text = index.text_of(argument).to_owned();
        plan.edit(call, Change::Expression { node: call, range: index.range(call), text });
    }
    for &call in view.calls(&far.name) {
        let Some(statement) = view.statement_of(call) else { continue };
        if statement == own || !alive(statement) {
            continue;
        }
        let left = index.of_kind_in(k.assignment, statement).first().and_then(|a| index.field(*a, f.left));
        let name =
            left.and_then(|l| if index.kind(l) == k.pattern_list { index.parts(l).nth(far.place) } else { Some(l) });
        let Some(name) = name.filter(|n| index.kind(*n) == k.identifier) else {
            return refuse(call, "this caller uses the model's output at once. Assign it to a name first");
        };
        let name = index.text_of(name);
        let text = format!("{name} = ipu_inference({})({name})", far.model);
        plan.edit(statement, Change::Insert { at: statement, after: true, text });
    }
    Ok(())
}

/// Names that the moved statements assign, in order.
fn moved_names(view: &FileView<'_>, slice: &[Id], far: Option<&Far>) -> Vec<String> {
    let mut out: Vec<String> = far.iter().map(|f| f.output.clone()).collect();
    for name in slice.iter().flat_map(|s| assigned(view, *s)) {
        if !out.iter().any(|o| o == name) {
            out.push(name.to_owned());
        }
    }
    out
}

/// `self._net` and `args.weight` as a name of their own: `net`, `weight`.
fn plain_name(expression: &str) -> String {
    let words: Vec<&str> =
        expression.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()).collect();
    let last = words.iter().rev().find(|w| !matches!(**w, "to" | "cuda" | "device" | "self" | "non_blocking" | "True"));
    let name = last.map_or("value", |w| w.trim_start_matches('_'));
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) { "value".to_owned() } else { name.to_owned() }
}

/// A statement as it stands in the module: what comes from outside becomes an attribute or a parameter.
fn moved_statement(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    function: Option<Id>,
    body: Id,
    statement: Id,
    (known, locals): (&BTreeSet<String>, &BTreeSet<String>),
    moved: &mut Moved,
) -> Result<String, Refusal> {
    let k = kinds();
    let index = &view.index;
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for id in reads(view, statement) {
        let name = index.text_of(id);
        if known.contains(name) || edits.iter().any(|(r, _)| r.contains(&index.item(id).start)) {
            continue;
        }
        let is_self = name == "self";
        let node = if is_self { member_of_self(view, id) } else { Some(id) };
        let Some(mut node) = node else { return refuse(id, "`self` as a whole can't move into what the IPU compiles") };
        // `self.net.encoder` and `state.model`: the longest name that is a model or a criterion.
        let mut whole = node;
        while let Some(parent) = index.parent(whole).filter(|p| dotted(index, *p).is_some()) {
            whole = parent;
        }
        let mut chain = vec![whole];
        while *chain.last().unwrap_or(&node) != node {
            let Some(inner) = index.field(chain[chain.len() - 1], fields().object) else { break };
            chain.push(inner);
        }
        let part = chain.iter().copied().find(|c| {
            matches!(input.project.role(view, *c), Some(Role::Model | Role::Criterion)) && dotted(index, *c).is_some()
        });
        let of_body = |n: &str| {
            index.of_kind_in(k.identifier, body).iter().any(|i| {
                index.text_of(*i) == n
                    && !reads(view, body).contains(i)
                    && index
                        .parent(*i)
                        .is_some_and(|p| index.kind(p) != k.attribute && index.kind(p) != k.keyword_argument)
            }) || index.kind(body) == k.for_statement
                && index
                    .field(body, fields().left)
                    .is_some_and(|l| index.of_kind_in(k.identifier, l).iter().any(|i| index.text_of(*i) == n))
        };
        let taken_by_function = function.is_some_and(|g| view.binds(g, name));
        let enclosing =
            index.ancestors(statement).filter(|a| index.kind(*a) == k.function_definition).any(|g| view.binds(g, name));
        if let Some(part) = part.filter(|_| {
            is_self
                || taken_by_function
                || enclosing
                || view.binds_at_top(name, 0, true) && !view.names.by_import(name) && !view.defines(name)
        }) {
            node = part;
            keep(&mut moved.attributes, &mut edits, view, node, true, known);
            continue;
        }
        if is_self {
            let method = index
                .parent(whole)
                .is_some_and(|p| index.kind(p) == k.call && index.field(p, fields().function) == Some(whole));
            if method {
                return refuse(
                    whole,
                    "a method of the trainer takes part in the loss. Make it a function of tensors or a module",
                );
            }
            node = if of_body("self") { whole } else { reference(view, node) };
            keep(&mut moved.attributes, &mut edits, view, node, true, known);
            continue;
        }
        let data = of_body(name) || (taken_by_function && index.kind(body) == k.function_definition);
        if data && input.project.role(view, id) != Some(Role::Device) {
            let splat = index.parent(id).is_some_and(|p| index.text_of(p) == format!("**{name}"));
            if splat {
                let entry = (format!("**{name}"), format!("**{name}"));
                if !moved.parameters.contains(&entry) {
                    moved.parameters.push(entry);
                }
                continue;
            }
            node = reference(view, id);
            keep(&mut moved.parameters, &mut edits, view, node, false, locals);
        } else if taken_by_function || enclosing {
            node = reference(view, id);
            keep(&mut moved.attributes, &mut edits, view, node, true, known);
        }
    }
    edits.sort_by_key(|(r, _)| r.start);
    let range = index.range(statement);
    let mut out = String::new();
    let mut at = range.start;
    for (r, text) in edits {
        out.push_str(&index.text[at..r.start]);
        out.push_str(&text);
        at = r.end;
    }
    out.push_str(&index.text[at..range.end]);
    Ok(dedent(&out, line_indent(index.text, range.start)))
}

/// Gives an expression a name of its own in the module.
fn keep(
    list: &mut Vec<(String, String)>,
    edits: &mut Vec<(std::ops::Range<usize>, String)>,
    view: &FileView<'_>,
    node: Id,
    attribute: bool,
    locals: &BTreeSet<String>,
) {
    let text = view.index.text_of(node);
    let name = match list.iter().find(|(_, given)| given == text) {
        Some((name, _)) => name.clone(),
        None => {
            let plain = plain_name(text);
            // Names of the moved statements, and of `nn.Module` itself, are not free.
            let taken = |n: &str| {
                list.iter().any(|(other, _)| other == n)
                    || !attribute && n != text && locals.contains(n)
                    || attribute && matches!(n, "train" | "eval" | "training" | "type" | "half" | "float" | "forward")
            };
            let name = if taken(&plain) {
                (2..).map(|i| format!("{plain}{i}")).find(|n| !taken(n)).unwrap_or(plain)
            } else {
                plain
            };
            // What is called with `**` comes last.
            let place = list.iter().position(|(n, _)| n.starts_with("**")).unwrap_or(list.len());
            list.insert(place, (name.clone(), text.to_owned()));
            name
        }
    };
    edits.push((view.index.range(node), if attribute { format!("self.{name}") } else { name }));
}

/// Mixed precision in a step: branches that go, and statements that come out of their `with`.
#[derive(Default)]
struct MixedPrecision {
    dead: Vec<Id>,
    simplified: Vec<Id>,
    unwrapped: Vec<(Id, Id)>,
}

fn mixed_precision(view: &FileView<'_>, step: Id, input: &Input<'_, '_>) -> MixedPrecision {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut out = MixedPrecision::default();
    let scales = |id: Id| {
        let text = index.text_of(id);
        text.contains("autocast(") || text.contains(".scale(") || text.contains("scaler.step(")
    };
    for &test in index.of_kind_in(k.if_statement, step) {
        let otherwise = index
            .children(test)
            .filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c)))
            .collect::<Vec<_>>();
        let ([other], Some(body)) = (otherwise.as_slice(), index.field(test, f.consequence)) else { continue };
        let Some(else_body) = index.field(*other, f.body).filter(|_| index.kind(*other) == k.else_clause) else {
            continue;
        };
        let inside = out.dead.iter().any(|d| index.is_within(test, *d));
        if !inside && is_reached(input, view, body) && scales(body) && !scales(else_body) {
            out.dead.push(body);
            out.simplified.push(test);
            out.unwrapped.push((test, else_body));
        }
    }
    // In a script for this target alone, validation has no use for it either.
    let scope = if input.project.modes.is_none() { ROOT } else { step };
    for &with in index.of_kind_in(k.with_statement, scope) {
        let context = index.children(with).find(|c| index.kind(*c) == k.with_clause);
        let only = context.is_some_and(|c| index.parts(c).count() == 1 && index.text_of(c).contains("autocast"));
        let inside = out.unwrapped.iter().any(|(w, _)| index.is_within(with, *w));
        if let (true, false, true, Some(body)) =
            (only, inside, is_reached(input, view, with), index.field(with, f.body))
        {
            out.unwrapped.push((with, body));
        }
    }
    out
}

impl MixedPrecision {
    fn wishes(&self, view: &FileView<'_>) -> Vec<Wish> {
        let index = &view.index;
        self.unwrapped
            .iter()
            .map(|(whole, body)| {
                let start = index.item(*body).start;
                let text = dedent(&index.text_of(*body).replace("\r\n", "\n"), line_indent(index.text, start));
                wish(view, *whole, Change::Replace { first: *whole, last: *whole, text })
            })
            .collect()
    }
}

/// Before weights are saved they come back from the IPU.
fn saves(plan: &mut Plan<'_, '_>) {
    let f = fields();
    let view = plan.view;
    let index = &view.index;
    for &save in view.calls("save") {
        let torch = index.field(save, f.function).and_then(|g| view.names.qualify(index, g));
        if torch.as_deref() != Some("torch.save") || !is_reached(plan.input, view, save) {
            continue;
        }
        // The state may have been collected some lines above.
        let scope = view.function_of(save);
        let collected = view.calls("state_dict").iter().copied().find(|c| {
            view.function_of(*c) == scope
                && view.statement_of(*c).map(|s| index.parent(s)) == view.statement_of(save).map(|s| index.parent(s))
        });
        let first = collected.map_or(save, |c| c.min(save));
        if let Some(statement) = view.statement_of(first) {
            let text = "detach_from_ipu(ipu_training_steps.values())".to_owned();
            plan.edit(statement, Change::Insert { at: statement, after: false, text });
        }
    }
}

/// Clipping becomes an argument of the optimizer, when the optimizer is built in this file and can read the limit.
fn clip(plan: &mut Plan<'_, '_>, call: Id, step: Id) -> Result<(), Refusal> {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    let by_norm = called_name(index, call) == Some("clip_grad_norm_");
    let arguments: Vec<Id> = index.field(call, f.arguments).map_or_else(Vec::new, |a| index.parts(a).collect());
    let limit = arguments
        .get(1)
        .map(|a| if index.kind(*a) == k.keyword_argument { index.field(*a, f.value).unwrap_or(*a) } else { *a });
    let Some(limit) = limit.filter(|_| by_norm && arguments.len() == 2) else {
        return refuse(call, "the IPU clips by the 2-norm only, through `max_grad_norm` of the optimizer");
    };
    let built: Vec<Id> = ["Adam", "AdamW", "RMSprop", "SGD", "LAMB"]
        .iter()
        .flat_map(|n| view.calls(n).iter().copied())
        .filter(|c| {
            index
                .field(*c, f.function)
                .and_then(|g| view.names.qualify(index, g))
                .is_some_and(|q| q.starts_with("torch.optim."))
        })
        .collect();
    let head = index.text_of(limit).split(['.', '[']).next().unwrap_or("");
    let literal = index.kind(limit) == k.float || index.kind(limit) == k.integer;
    let readable = |at: Id| {
        literal
            || head == "self" && view.class_of(at) == view.class_of(call)
            || view.binds_at_top(head, index.item(at).start, view.function_of(at).is_some())
            || view.function_of(at).is_some() && view.function_of(at) == view.function_of(step)
            || index.kind(step) == k.function_definition && view.function_of(at) == Some(step)
    };
    if built.is_empty() || !built.iter().all(|b| readable(*b)) {
        return refuse(
            call,
            "the optimizer is built where this limit is not known. Give it there as `max_grad_norm` of `poptorch.optim`, take this line out, and port again",
        );
    }
    for at in built {
        if index.text_of(at).contains("max_grad_norm") {
            continue;
        }
        let Some(last) = index.field(at, f.arguments).and_then(|a| index.parts(a).last()) else { continue };
        let end = index.item(last).end;
        let text = format!(", max_grad_norm={}", index.text_of(limit));
        plan.edit(at, Change::Expression { node: at, range: end..end, text });
    }
    Ok(())
}

/// Whether a statement is a step of the scheduler.
fn steps_scheduler(input: &Input<'_, '_>, view: &FileView<'_>, statement: Id) -> bool {
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
fn ends_step(input: &Input<'_, '_>, view: &FileView<'_>, statement: Id) -> bool {
    let f = fields();
    let index = &view.index;
    ["zero_grad", "step", "update", "unscale_", "clip_grad_norm_"].iter().any(|name| {
        view.calls(name).iter().any(|call| {
            let object = index.field(*call, f.function).and_then(|g| index.field(g, f.object));
            let role = object.and_then(|o| input.project.role(view, o));
            let ends = match *name {
                "zero_grad" | "clip_grad_norm_" => true,
                "step" => matches!(role, Some(Role::Optimizer | Role::Scaler)),
                _ => role == Some(Role::Scaler),
            };
            ends && view.statement_of(*call) == Some(statement)
        })
    })
}

/// `zero_grad`, `backward`, `step` and what belongs to a scaler: the compiled step does all that.
fn remove_steps(plan: &mut Plan<'_, '_>, step: Id, end: Id, alive: &dyn Fn(Id) -> bool) {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    let mut gone: BTreeSet<Id> = BTreeSet::from([end]);
    let leaves = leaves(view, step);
    gone.extend(leaves.into_iter().filter(|s| alive(*s) && ends_step(plan.input, view, *s)));
    let mut whole: BTreeSet<Id> = BTreeSet::new();
    for &statement in &gone {
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
    for &at in &whole {
        if !whole.iter().any(|o| *o != at && index.is_within(at, *o)) {
            plan.edit(at, Change::Replace { first: at, last: at, text: String::new() });
        }
    }
}

/// A new learning rate has to be handed over.
fn schedulers(plan: &mut Plan<'_, '_>, step: Id, body: Id, optimizer: &str, alive: &dyn Fn(Id) -> bool) {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    for &call in view.calls("step") {
        let Some(object) = index.field(call, f.function).and_then(|g| index.field(g, f.object)) else { continue };
        if plan.input.project.role(view, object) != Some(Role::Scheduler) || !alive(call) {
            continue;
        }
        let Some(statement) = view.statement_of(call) else { continue };
        let near = index.is_within(call, step) && call > body;
        let text = if near {
            format!("training_step.setOptimizer({optimizer})")
        } else {
            format!("update_ipu_optimizer({}.optimizer)", index.text_of(object))
        };
        plan.edit(statement, Change::Insert { at: statement, after: true, text });
    }
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
        if let Some(statement) = around.or_else(|| view.statement_of(assignment)) {
            let text = format!("update_ipu_optimizer({owner})");
            plan.edit(statement, Change::Insert { at: statement, after: true, text });
        }
    }
}

/// The model runs on the IPU in validation, too.
fn validation(
    plan: &mut Plan<'_, '_>,
    step: Id,
    is_model: &dyn Fn(Id) -> bool,
    moved: &dyn Fn(Id) -> bool,
    alive: &dyn Fn(Id) -> bool,
) {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    for &call in index.of_kind(k.call) {
        let in_model = view.class_of(call).is_some_and(|c| plan.input.project.models.contains(view.name_of(c)));
        if !is_model(call) || moved(call) || in_model || !alive(call) {
            continue;
        }
        let here = index.is_within(call, step);
        let looped =
            loop_of(view, call).is_some_and(|l| !view.calls("backward").iter().any(|b| index.is_within(*b, l)));
        if !(view.steps.in_validation(view, call) || here && looped) {
            continue;
        }
        let Some(model) = index.field(call, f.function) else { continue };
        let text = format!("ipu_inference({})", index.text_of(model));
        plan.edit(call, Change::Expression { node: call, range: index.range(model), text });
    }
}
