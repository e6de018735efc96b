//! The module that is compiled: what it computes, what it is given, and what comes back from it.

use super::changing::changing;
use super::moved::{Moved, moved_names, moved_statement, plain_name};
use super::origins::learns_before;
use super::slice::{assigned, leaves, reads, reads_name};
use super::step::Step;
use super::way::Way;
use super::{Refusal, refuse};
use crate::facts::FileView;
use crate::order::Set;
use crate::tree::{Id, fields, kinds};

/// The module of a step.
pub(super) struct Module {
    pub(super) moved: Moved,
    /// The program's name for the loss.
    pub(super) loss: String,
    /// Whether a division by the number of accumulated batches was left out.
    pub(super) divided: bool,
    /// Statements of the step that stay on the host.
    pub(super) stays: Vec<Id>,
    /// Names that the host reads later, and those among them that it takes for one number.
    pub(super) results: Vec<String>,
    pub(super) scalars: Vec<String>,
}

impl Module {
    /// Moves the statements of the way, or says why they can't be moved.
    pub(super) fn of(step: &Step<'_, '_>, way: &Way<'_>) -> Result<Self, Refusal> {
        let loss = step.name_of_loss().unwrap_or("loss").to_owned();
        let (moved, divided) = moved(step, way, &loss)?;
        let stays: Vec<Id> = leaves(step.view, step.whole)
            .into_iter()
            .filter(|s| {
                step.is_alive(*s)
                    && !way.slice.iter().any(|u| step.view.index.is_within(*s, *u))
                    && *s != way.from
                    && *s != step.end
            })
            .collect();
        let results = results(step, way, &loss, &stays)?;
        let scalars: Vec<String> = results
            .iter()
            .filter(|n| stays.iter().any(|s| step.view.index.text_of(*s).contains(&format!("{n}.item()"))))
            .cloned()
            .collect();
        Ok(Self { moved, loss, divided, stays, results, scalars })
    }
}

/// What moves, and whether a division by the number of accumulated batches was left out.
fn moved(step: &Step<'_, '_>, way: &Way<'_>, loss: &str) -> Result<(Moved, bool), Refusal> {
    let (input, view) = (step.input, step.view);
    let index = &view.index;
    let slice = &way.slice;
    let function = (index.kind(step.whole) == kinds().function_definition).then_some(step.whole);
    let accumulation = step.accumulation.as_ref();
    let mut divided = false;
    let mut moved = Moved::default();
    if loss.contains('.') {
        moved.alias = Some((loss.to_owned(), plain_name(loss)));
    }
    if let Some(far) = &way.far {
        let name = plain_name(&far.model);
        moved.attributes.push((name.clone(), far.model.clone()));
        moved.parameters.push((far.output.clone(), far.output.clone()));
        moved.body.push(format!("{} = self.{name}({})", far.output, far.output));
    }
    let mut known: Set<String> = way.far.iter().map(|m| m.output.clone()).collect();
    let locals: Set<String> =
        slice.iter().flat_map(|s| assigned(view, *s)).chain(["self"]).map(str::to_owned).collect();
    for &s in slice {
        if let Some(near) = way.near.as_ref().filter(|_| s == way.from) {
            near.move_into(input, view, &mut known, &mut moved)?;
            continue;
        }
        let text = moved_statement(input, view, function, step.body, s, (&known, &locals), &mut moved)?;
        let (text, cut) = accumulation.map_or((Some(text.clone()), false), |a| a.undivided(&text, &moved.attributes));
        divided |= cut;
        moved.body.extend(text);
        known.extend(assigned(view, s).into_iter().map(str::to_owned));
    }
    if step.name_of_loss().is_none() {
        let text = moved_statement(input, view, function, step.body, step.loss, (&known, &locals), &mut moved)?;
        let (text, cut) = accumulation.map_or((Some(text.clone()), false), |a| a.undivided(&text, &moved.attributes));
        divided |= cut;
        moved.body.push(format!("loss = {}", text.unwrap_or_default()));
    }
    if let Some(a) = accumulation {
        a.forget_number(&mut moved.attributes, &moved.body);
    }
    if !moved.body.iter().any(|l| l.contains("self.")) || moved.attributes.is_empty() {
        return refuse(
            step.backward,
            "the model behind this loss is not found. Call it in the step by the name that its parameters are taken from, then port again",
        );
    }
    if moved.parameters.is_empty() {
        return refuse(
            step.backward,
            "no tensor of the batch goes into the step: what the model is given is fixed. Pass it to the function that trains",
        );
    }
    if let Some(call) = learns_before(view, input.project, step.whole, way.from, &moved.parameters) {
        let text = index.text_of(call);
        let what = text.lines().next().unwrap_or(text);
        let reason = format!(
            "`{what}` works on what goes into the compiled step, and what learns in it would not learn there. Write it in one \
             line of calls with the model and the loss, or under `torch.no_grad()` if it is not to learn, then port again"
        );
        return Err(Refusal { at: call, reason });
    }
    if let Some(id) = changing(step, slice) {
        let reason = format!(
            "`{}` changes while the program trains, and the compiled step would keep its first value. Make it a tensor with one \
             number for each sample in this loop, above the model's call (`torch.full((len(batch),), number)`), compute the loss \
             with that, then port again",
            index.text_of(id)
        );
        return Err(Refusal { at: id, reason });
    }
    Ok((moved, divided))
}

/// What is read later comes back.
fn results(step: &Step<'_, '_>, way: &Way<'_>, loss: &str, stays: &[Id]) -> Result<Vec<String>, Refusal> {
    let (k, f) = (kinds(), fields());
    let view = step.view;
    let index = &view.index;
    let mut results: Vec<String> = Vec::new();
    for name in moved_names(view, &way.slice, way.far.as_ref()) {
        let users: Vec<Id> = stays
            .iter()
            .copied()
            .filter(|s| {
                *s > way.from
                    && reads_name(view, *s, &name)
                    && !is_assigned_anew(view, (step.whole, step.end), *s, &name)
            })
            .collect();
        let in_headers = index
            .of_kind_in(k.identifier, step.whole)
            .iter()
            .any(|i| *i > step.end && index.text_of(*i) == name && !stays.iter().any(|s| index.is_within(*i, *s)));
        if name == loss || (users.is_empty() && !in_headers) {
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
        let gives = |s: &&Id| assigned(view, **s).contains(&name.as_str());
        let under_test = |s: Id| index.kind(s) == k.if_statement && index.field(s, f.alternative).is_none();
        let mut given = way.slice.iter().filter(gives).copied();
        if let Some(test) = given.next().filter(|s| under_test(*s) && given.all(under_test)) {
            let reason = format!(
                "`{name}` gets a value only under this test, and the compiled step gives it back at every turn. Give it one above \
                 the test, then port again"
            );
            return Err(Refusal { at: test, reason });
        }
        results.push(name);
    }
    Ok(results)
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
