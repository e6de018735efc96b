//! One training step of a program: the model's call, the loss, the backward pass, the update, and the code around them.
//!
//! [`TrainingStep::read`] finds the parts; how a target ports them is not decided here. A target that compiles a step
//! as a whole needs more: [`TrainingStep::slice`] returns the statements from the model's call to the loss, and
//! [`Module::of`] makes one module of them. Everything that can't be followed on the way is an [`Obstacle`], and all of
//! them are collected.

mod accumulation;
mod bindings;
mod callee;
mod callers;
mod calls;
mod changing;
mod class_names;
mod clipping;
mod count;
mod dataflow;
mod differentiated;
mod evaluation;
mod extraction;
mod fixed;
mod forward;
mod forward_function;
mod gradients;
mod handed;
mod host;
mod logged_loss;
mod logged_norm;
mod loss;
mod micro_batches;
mod module;
mod numbers;
pub(crate) mod obstacle;
mod optimizers;
mod optional;
mod origins;
mod phase;
mod precision;
mod saves;
mod scaler_calls;
mod schedule;
mod slice;
mod tensors;
mod that_train;
mod update;
mod weights;
mod without_gradients;

pub use accumulation::{Accumulation, Counter, JoinedLoader, skips};
pub use bindings::value_once;
pub use callee::LossFunction;
pub(crate) use callers::given;
pub use calls::{arguments, is_statement, loop_around, qualified};
pub(crate) use calls::{is_parameter, spread};
pub use class_names::class_names;
pub use clipping::{Clipping, Norm};
pub use count::Known;
pub use dataflow::{assigned, leaves, reads, reads_name};
pub use differentiated::is_differentiated;
pub use evaluation::evaluates;
pub use extraction::Extraction;
pub use forward::{in_model, is_model_call, model_calls};
pub(crate) use forward::{method_call, of_package};
pub use forward_function::ForwardFunction;
pub use handed::{HandedLoss, handed_losses};
pub use host::{comes_first, host_uses, is_late, outermost_without};
pub use logged_loss::logs_a_share;
pub use logged_norm::logged_norm;
pub use loss::{loss_of, unnamed_loss};
pub use micro_batches::{divides, is_left_early};
pub use module::Module;
pub(crate) use numbers::is_counter;
pub(crate) use obstacle as why;
pub use obstacle::{Found, OF_OPTIMIZERS, OF_SLICES, OF_STEPS, OF_TURNS, Obstacle, Reason};
pub use optimizers::{
    OptimizerMade, all_weights, choice, chosen_by_name, of_several_models, optimizers_made, optimizers_named,
    optimizers_of, unlike_others,
};
pub use optional::{is_chosen, is_optional};
pub(crate) use phase::phase_test;
pub use precision::{MixedPrecision, limits_alone};
pub use saves::{Saves, saves};
pub(crate) use scaler_calls::calls_scaler;
pub use schedule::{Schedules, schedules, steps_scheduler};
pub use slice::Slice;
pub(crate) use tensors::field_of_object;
pub use that_train::steps_that_train;
pub(crate) use update::optimizers_of_updates;
pub use update::{Update, ends_step, update_statements, updates};
pub use weights::weights_changed;

use crate::project::FileInProject;
use crate::view::FileView;
use fixed::units;
use python::names::dotted;
use python::notebook::is_cell_magic;
use python::tree::{Id, ROOT, kinds};

/// The parts of a training step.
pub struct TrainingStep<'a, 't> {
    /// The file that it is in.
    pub file: FileInProject<'a, 't>,
    /// The function, or the loop at the top of the file, that trains.
    pub whole: Id,
    /// The call of `backward()`.
    pub backward: Id,
    /// The statement of that call, which ends the computation of the loss.
    pub end: Id,
    /// The expression that is differentiated, without a scaler around it.
    pub loss: Id,
    /// The loop around `backward()`.
    pub around: Option<Id>,
    /// The code that is repeated: that loop, or the whole.
    pub body: Id,
    /// The body's statements that the target reaches.
    pub statements: Vec<Id>,
    /// Those before the end; a test or a loop whose outcome is known before there is any data counts as one statement.
    pub before: Vec<Id>,
    /// Updates of the weights, in the order of the text: by an optimizer, or by a scaler that receives one.
    pub updates: Vec<Update<'t>>,
    /// The optimizer of the first update, as the program writes it.
    pub optimizer: &'t str,
    /// What remains of it in the model's own type.
    pub precision: MixedPrecision,
    /// Calls that clip gradients.
    pub clipping: Vec<Clipping>,
    /// How gradients are accumulated over several batches, or why that can't be followed.
    pub accumulates: Found<Option<Accumulation>>,
    /// Obstacles to following one of these parts. A step with obstacles is not rewritten.
    pub obstacles: Vec<Obstacle>,
}

impl<'a, 't> TrainingStep<'a, 't> {
    /// Reads the parts of the step in `whole`; only the obstacles unless there is exactly one backward pass with one
    /// optimizer.
    pub fn read(file: FileInProject<'a, 't>, whole: Id) -> Result<Self, Vec<Obstacle>> {
        let index = &file.view.index;
        let mut obstacles: Vec<Obstacle> = Vec::new();
        let differentiates = file.differentiates().or_else(|| differentiates_elsewhere(file, whole));
        obstacles.extend(differentiates.map(why::gradients_in_loss));
        if let Some(elsewhere) = made_elsewhere(file, whole) {
            obstacles.push(elsewhere);
            return Err(obstacles);
        }
        let precision = MixedPrecision::read(file, whole);
        let updates = updates(file, whole);
        obstacles.extend(updates.iter().filter(|u| u.closure).map(|u| why::closure(u.call)));
        let optimizer = updates.first().map(|u| u.optimizer);
        let backward = only_backward(file, whole, &precision, &updates);
        if backward.is_ok() {
            let other = updates.iter().find(|u| Some(u.optimizer) != optimizer);
            obstacles.extend(other.map(|u| why::several_optimizers(u.call)));
            if updates.is_empty() {
                obstacles.push(why::no_update(whole));
            }
        }
        let (backward, end, optimizer) = match (backward, optimizer) {
            (Ok((backward, end)), Some(optimizer)) => (backward, end, optimizer),
            (backward, _) => {
                obstacles.extend(backward.err());
                return Err(obstacles);
            }
        };
        if file.project.modes.as_ref().is_some_and(|m| m.guard_at(file.view, &file.project.classes, end).is_none()) {
            obstacles.push(why::mode_unreadable(end));
        }
        let around = loop_around(&file, backward);
        let body = around.unwrap_or(whole);
        let alive = |id: Id| file.is_reached(id) && !precision.drops(&file, id);
        let statements: Vec<Id> = leaves(&file, body).into_iter().filter(|s| alive(*s)).collect();
        let before: Vec<Id> = statements.iter().copied().filter(|s| *s < end).collect();
        let before: Vec<Id> =
            units(file, optimizer, body, &before).into_iter().filter(|u| !index.is_within(end, *u)).collect();
        let accumulates = accumulation::read(file, whole, around, optimizer);
        let mut clipping = clipping::read(file, optimizer, whole, body);
        // After the update it has no effect on gradients that are cleared before the next backward pass.
        let clears = !file.calls_in("zero_grad", body).is_empty();
        let last = updates.iter().map(|update| update.call).max();
        clipping.retain(|c| !(clears && last.is_some_and(|last| last < c.call)));
        // Clipped before there are gradients: its effect on the next iteration is unknown here.
        let first = file.calls_in("backward", whole).first().copied();
        let early = clipping.iter().find(|c| {
            file.function_of(c.call) == file.function_of(backward) && first.is_some_and(|first| c.call < first)
        });
        obstacles.extend(early.map(|c| why::clipped_before_backward(c.call)));
        let loss = loss_of(&file, backward);
        let mut step = Self {
            file,
            whole,
            backward,
            end,
            loss,
            around,
            body,
            statements,
            before,
            updates,
            optimizer,
            precision,
            clipping,
            accumulates,
            obstacles,
        };
        let gradient = gradients::gradient_read(&step).map(why::gradient_read);
        step.obstacles.extend(gradient);
        Ok(step)
    }

    /// Whether the target reaches a place, once mixed precision is removed.
    pub fn is_alive(&self, id: Id) -> bool {
        self.file.is_reached_with(self.whole, id) && !self.precision.drops(&self.file, id)
    }

    /// How gradients are accumulated over several batches, if they are and it can be followed.
    pub fn accumulation(&self) -> Option<&Accumulation> {
        self.accumulates.as_ref().ok().and_then(Option::as_ref)
    }

    /// The program's name for the loss; none if it is computed and differentiated in one expression.
    pub fn name_of_loss(&self) -> Option<&'t str> {
        dotted(&self.file.view.index, self.loss).map(|_| self.file.view.index.text_of(self.loss))
    }

    /// The number of iterations of a counted loop around the backward pass, if the update follows the loop.
    pub fn micro_batches(&self) -> Option<Id> {
        self.around.and_then(|around| micro_batches::micro_batches(self.file, self.whole, around, self.optimizer))
    }

    /// The statements from the model's call to the loss, or all obstacles to compiling them.
    pub fn slice(&self) -> Result<Slice<'t>, Vec<Obstacle>> {
        Slice::of(self)
    }
}

/// The one backward pass that the target reaches, and its statement.
fn only_backward(
    file: FileInProject<'_, '_>,
    whole: Id,
    precision: &MixedPrecision,
    updates: &[Update<'_>],
) -> Found<(Id, Id)> {
    let alive = |id: Id| file.is_reached(id) && !precision.drops(&file, id);
    let within = |id: &Id| file.index.is_within(*id, whole) && alive(*id);
    let calls: Vec<Id> = file.calls("backward").iter().copied().filter(within).collect();
    match calls.as_slice() {
        [] => Err(why::backward_not_reached(whole)),
        &[call] => match file.statement_of(call) {
            Some(statement) => Ok((call, statement)),
            None => Err(why::backward_in_no_statement(whole)),
        },
        _ if updates.iter().filter(|u| alive(u.call)).count() > 1 => {
            Err(why::several_updates(whole, optimizers_of_updates(updates)))
        }
        _ => Err(why::several_backward(whole)),
    }
}

/// A step that other code performs: a function that receives the loss, or an object that does.
pub fn made_elsewhere(file: FileInProject<'_, '_>, whole: Id) -> Option<Obstacle> {
    let k = kinds();
    let index = &file.index;
    file.calls_in("backward", whole).iter().copied().find_map(|call| {
        let given = arguments(&file, call).first().copied();
        let by = file.index.receiver(call)?;
        let names_loss = |id: Id| index.text_of(id).to_ascii_lowercase().contains("loss");
        if given.is_some_and(|g| index.kind(g) != k.keyword_argument && names_loss(g)) && !names_loss(by) {
            return Some(why::backward_by_helper(call, index.text_of(by)));
        }
        let handed = index.kind(whole) == k.function_definition
            && calls::is_parameter(&file, whole, index.text_of(loss_of(&file, call)));
        handed.then(|| why::loss_handed_in(call))
    })
}

/// A call in the step of a function that another file defines and that computes gradients as a part of its result.
fn differentiates_elsewhere(file: FileInProject<'_, '_>, whole: Id) -> Option<Id> {
    let index = &file.view.index;
    index.of_kind_in(kinds().call, whole).iter().copied().find(|call| {
        let callee = index
            .callee(*call)
            .filter(|callee| index.kind(*callee) == kinds().identifier || file.names.qualify(index, *callee).is_some());
        let name = callee.map_or("", |callee| index.text_of(callee)).rsplit('.').next().unwrap_or_default();
        file.project.differentiating.contains(name) && !file.defines(name) && file.is_reached(*call)
    })
}

/// The last of the imports at the top of a file, before anything that trains or loads data.
pub fn end_of_imports(file: FileInProject<'_, '_>, whole: Id) -> Option<Id> {
    let k = kinds();
    let index = &file.index;
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
            let loads = !file.calls_in("DataLoader", *s).is_empty();
            !(loads || index.is_within(whole, *s))
        })
        .filter(|s| imports(*s))
        .last()
}

/// The first statement of the module that is neither a string nor an import.
pub fn first_code(view: &FileView<'_>) -> Option<Id> {
    let k = kinds();
    let index = &view.index;
    index.parts(ROOT).find(|s| {
        let kind = index.kind(*s);
        let text = kind == k.expression_statement && index.parts(*s).all(|p| index.kind(p) == k.string);
        let import = [k.import_statement, k.import_from_statement, k.future_import_statement].contains(&kind);
        let imports =
            || [k.import_statement, k.import_from_statement].iter().any(|i| !index.of_kind_in(*i, *s).is_empty());
        let in_try = kind == k.try_statement && imports();
        !(text || import || in_try || is_cell_magic(index, *s))
    })
}

#[cfg(test)]
mod tests;
