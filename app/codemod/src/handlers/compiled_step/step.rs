//! One training step as it stands: the loss that is differentiated, the loop and the statements around it, the optimizer.

use super::super::named_loss::loss_of;
use super::accumulation::{Accumulation, accumulation};
use super::obstacles::obstacles;
use super::precision::{MixedPrecision, mixed_precision};
use super::slice::leaves;
use super::units::units;
use super::{Input, Refusal, is_reached, loop_of, refuse};
use crate::condition::{Situation, Type, nodes_of_type};
use crate::facts::FileView;
use crate::facts::roles::Role;
use crate::names::dotted;
use crate::tree::{Id, ROOT, fields, kinds};

/// What a training step consists of.
pub(super) struct Step<'a, 't> {
    pub(super) input: &'a Input<'a, 't>,
    pub(super) view: &'a FileView<'t>,
    /// The function, or the loop at the top of the file, that trains.
    pub(super) whole: Id,
    /// `backward()`, and the statement that it ends the computation with.
    pub(super) backward: Id,
    pub(super) end: Id,
    pub(super) loss: Id,
    /// Mixed precision goes first: the target computes in the model's own type.
    pub(super) amp: MixedPrecision,
    /// The loop around `backward()`, and what is done at every turn: that loop, or the whole.
    pub(super) around: Option<Id>,
    pub(super) body: Id,
    /// The body's statements that the target comes to, and of those before the end the ones that are decided as one.
    pub(super) statements: Vec<Id>,
    pub(super) before: Vec<Id>,
    pub(super) optimizer: &'t str,
    pub(super) accumulation: Option<Accumulation>,
    /// Where the file imports torch, and where its imports end.
    pub(super) torch: Id,
    pub(super) header: Id,
    /// Whether the step goes beside those of other modes.
    pub(super) branch: bool,
}

impl<'a, 't> Step<'a, 't> {
    /// Finds the parts of a step, or why the target can't compile it.
    pub(super) fn found(input: &'a Input<'a, 't>, view: &'a FileView<'t>, step: Id) -> Result<Self, Refusal> {
        let index = &view.index;
        if let Some(at) = view.differentiates() {
            return refuse(
                at,
                "gradients are part of what is computed here, and the IPU keeps them to itself. Write a loss without them, or train this \
                 on another target",
            );
        }
        obstacles(input, view)?;
        let amp = mixed_precision(view, step, input);
        let alive = |id: Id| is_alive(input, view, &amp, id);
        let backward: Vec<Id> =
            view.calls("backward").iter().copied().filter(|c| index.is_within(*c, step) && alive(*c)).collect();
        if backward.is_empty() {
            return refuse(
                step,
                "whether this mode comes to `backward()` is decided in a way that is not followed. Write the step under the project's own \
                 test for the mode, then port again",
            );
        }
        let &[backward] = backward.as_slice() else {
            let updates = view.calls("step").iter().filter(|c| index.is_within(**c, step) && alive(**c)).filter(|c| {
                let of = index.field(**c, fields().function).and_then(|g| index.field(g, fields().object));
                of.is_some_and(|o| matches!(input.project.role(view, o), Some(Role::Optimizer | Role::Scaler)))
            });
            let reason = match updates.count() {
                0 | 1 => {
                    "the step calls `backward()` more than once. The IPU compiles one loss: sum the losses, or keep one side of the test, then port again"
                }
                _ => {
                    "the step has two updates, and one loss with one optimizer is compiled. Do not add the losses up, which would train \
                     each model for both: write a step for each optimizer, its own module wrapped by `poptorch.trainingModel`, with what the \
                     other model made as a detached input and `detachFromDevice()` between them"
                }
            };
            return refuse(step, reason);
        };
        let Some(end) = view.statement_of(backward) else { return refuse(step, "`backward()` stands in no statement") };
        if input.project.modes.as_ref().is_some_and(|m| m.guard_at(view, input.project, end).is_none()) {
            return refuse(
                end,
                "the compute mode can't be read in the training step. Hand it to this function, then port again",
            );
        }
        let loss = loss_of(view, backward);
        let around = loop_of(view, backward);
        let body = around.unwrap_or(step);
        let statements: Vec<Id> = leaves(view, body).into_iter().filter(|s| alive(*s)).collect();
        let before: Vec<Id> = statements.iter().copied().filter(|s| *s < end).collect();
        let before: Vec<Id> =
            units(input, view, body, &before).into_iter().filter(|u| !index.is_within(end, *u)).collect();
        let optimizer = optimizer(input, view, step)?;
        let branch = input.project.modes.is_some();
        let situation = Situation { view, project: input.project, settings: input.settings, branch };
        let torch = nodes_of_type(&situation, &Type::LastTorchImport).first().copied();
        let torch = torch.filter(|t| index.parent(*t) == Some(ROOT));
        let Some(torch) = torch else {
            return refuse(step, "torch is not imported at the top of this file. Import it there, then port again");
        };
        let header = end_of_imports(view, torch, step);
        let accumulation = accumulation(input, view, step, around, optimizer, header)?;
        let whole = step;
        Ok(Self {
            input,
            view,
            whole,
            backward,
            end,
            loss,
            amp,
            around,
            body,
            statements,
            before,
            optimizer,
            accumulation,
            torch,
            header,
            branch,
        })
    }

    /// Whether the target comes to a place, now that mixed precision is gone.
    pub(super) fn is_alive(&self, id: Id) -> bool {
        is_alive(self.input, self.view, &self.amp, id)
    }

    /// Whether a call is one of the model. A loss can be a module, too.
    pub(super) fn is_model_call(&self, call: Id) -> bool {
        let index = &self.view.index;
        index.field(call, fields().function).is_some_and(|g| {
            let lower = dotted(index, g).unwrap_or("loss").to_ascii_lowercase();
            let last = lower.rsplit('.').next().unwrap_or("");
            let is_loss = last.contains("loss") || last.contains("criteri");
            !is_loss && self.input.project.role(self.view, g) == Some(Role::Model)
        })
    }

    /// The name that the loss has in the program; none where it is computed and differentiated in one expression.
    pub(super) fn name_of_loss(&self) -> Option<&'t str> {
        dotted(&self.view.index, self.loss).map(|_| self.view.index.text_of(self.loss))
    }
}

fn is_alive(input: &Input<'_, '_>, view: &FileView<'_>, amp: &MixedPrecision, id: Id) -> bool {
    is_reached(input, view, id) && !amp.dead.iter().any(|d| view.index.is_within(id, *d))
}

/// The one optimizer that the step updates the weights with, as the program writes it.
fn optimizer<'t>(input: &Input<'_, '_>, view: &FileView<'t>, step: Id) -> Result<&'t str, Refusal> {
    let f = fields();
    let index = &view.index;
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
    optimizer.map_or_else(
        || {
            refuse(
                step,
                "no `optimizer.step()` is found beside `backward()`, so what the IPU should compile is not known. Write it there, then port again",
            )
        },
        Ok,
    )
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
