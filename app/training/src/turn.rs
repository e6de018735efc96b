//! One iteration of a training loop, for a target that runs forward pass and update in separate calls and leaves the
//! loss to the host: the model's call, its inputs, the update, and the obstacles to alternating them.
//!
//! In a project with compute modes, the target's code is next to that of the others. Some facts that can be found in a
//! plain script are then only known at run time, so fewer are required.

mod around;
mod data;
mod handed_in;
mod inputs;
mod loss_output;
mod touched;

pub use data::data_above;
pub use inputs::{ModelInput, values};
pub use loss_output::LossOutput;

use crate::FileInProject;
use crate::counting::counted;
use crate::program_start::main_block;
use crate::roles::Role;
use crate::step::{
    self, Obstacle, TrainingStep, in_model, is_statement, loop_around, method_call, model_calls, phase_test, why,
};
use crate::words::PART_METHODS;
use python::tree::{Id, kinds};

/// One iteration, as far as it could be followed.
pub struct Turn<'a, 't> {
    /// The step.
    pub step: TrainingStep<'a, 't>,
    /// `optimizer.step()`, or the scaler's.
    pub update: Id,
    /// The model's call that leads to the loss.
    pub forward: Id,
    /// Other calls of the model that the target reaches: validation.
    pub others: Vec<Id>,
    /// The model's inputs.
    pub inputs: Vec<ModelInput>,
    /// Arguments of its call that are the same in every step, with the names of their parameters.
    pub constants: Vec<(String, Id)>,
    /// The loss, if the model returns it.
    pub loss: Option<LossOutput<'t>>,
    /// The test for the training phase, if the loop also validates.
    pub phase: Option<&'t str>,
}

impl<'a, 't> Turn<'a, 't> {
    /// Reads the step in `whole`; all obstacles if there are any.
    pub fn read(file: FileInProject<'a, 't>, whole: Id) -> Result<Self, Vec<Obstacle>> {
        let step = TrainingStep::read(file, whole)?;
        let index = &file.view.index;
        let mut obstacles = step.obstacles.clone();
        let updates: Vec<Id> = step.updates.iter().map(|u| u.call).filter(|c| step.is_alive(*c)).collect();
        let others = updates.iter().skip(1).filter(|call| !step.obstacles.iter().any(|o| o.at == **call));
        obstacles.extend(others.map(|call| why::several_updates(*call, step::optimizers_of_updates(&step.updates))));
        if !file.index.arguments(step.backward).is_empty() {
            obstacles.push(why::backward_arguments(step.backward));
        }
        let calls = calls(file, &step);
        let forward = forward(file, &step, &calls);
        let update = match updates.first().copied() {
            Some(update) if !is_statement(&file, update) => Err(why::update_result_used(update)),
            Some(update) => Ok(update),
            None => Err(why::no_update(whole)),
        };
        obstacles.extend(touched::touched(&step));
        if let Ok(forward) = forward {
            obstacles.extend(inputs::output_objects(&step, forward));
        }
        let inputs = forward.clone().map(|forward| inputs::inputs(&step, forward));
        if let Ok((_, unfit)) = &inputs {
            obstacles.extend(unfit.iter().cloned());
        }
        let (forward, update, inputs) = match (forward, update, inputs) {
            (Ok(forward), Ok(update), Ok((inputs, _))) => (forward, update, inputs),
            (forward, update, _) => {
                obstacles.extend(forward.err().into_iter().chain(update.err()));
                return Err(obstacles);
            }
        };
        // Before the optimizer is created, the model is under construction and is still the program's own.
        let made = step::optimizers_of(file, whole).first().map(|m| m.call);
        let builds = |call: Id| {
            let in_front = |made: Id| call < made && file.function_of(call) == file.function_of(made);
            !file.project.has_compute_modes() && made.is_some_and(in_front)
        };
        let others: Vec<Id> = calls.into_iter().filter(|c| *c != forward && !builds(*c)).collect();
        let constants = inputs::split(&step, forward, forward).constants;
        let loss = loss_output::loss_output(&step, forward, update);
        let phase = phase(&step, forward, update).filter(|_| loss.is_none() && !file.project.has_compute_modes());
        // A loop that also validates has one call for both.
        obstacles.extend(phase.and_then(|_| constants.first()).map(|(_, value)| why::input_no_tensor(*value)));
        if !file.project.has_compute_modes() {
            obstacles.extend(out_of_turn(&step, forward, update, phase));
            obstacles.extend(others.iter().filter_map(|call| unlike(&step, *call, forward)));
            obstacles.extend(part_called(file, forward, builds));
        } else {
            let differs = |call: &&Id| index.arguments(**call).len() != inputs.len();
            obstacles.extend(others.iter().find(differs).map(|call| why::other_arguments(*call)));
        }
        if obstacles.is_empty() {
            Ok(Self { step, update, forward, others, inputs, constants, loss, phase })
        } else {
            Err(obstacles)
        }
    }

    /// Whether another call of the model names its arguments in an order of its own, or passes more than tensors.
    pub fn is_named(&self, call: Id) -> bool {
        let given = inputs::split(&self.step, call, self.forward);
        !given.constants.is_empty() || !inputs::in_order(&self.step, &given.tensors, self.forward)
    }

    /// The model's tensors as its call writes them, without names.
    pub fn tensors(&self) -> Vec<Id> {
        let index = &self.step.file.view.index;
        let given = inputs::split(&self.step, self.forward, self.forward).tensors;
        given.into_iter().map(|a| index.keyword_name(a).and_then(|_| index.value(a)).unwrap_or(a)).collect()
    }

    /// Whether the model returns its loss first, and nothing happens to the optimizer between its call and the update.
    pub fn gives_loss_first(&self) -> bool {
        self.loss.as_ref().is_some_and(|l| l.is_first)
    }
}

/// Calls of the model that the target reaches; in a project with compute modes also those of a parameter with the
/// default None that receives the model.
fn calls(file: FileInProject<'_, '_>, step: &TrainingStep<'_, '_>) -> Vec<Id> {
    let index = &file.view.index;
    let demo = demonstration(file, step.whole);
    let is_shown = |call: Id| demo.is_some_and(|main| index.is_within(call, main));
    let mut out: Vec<Id> = model_calls(file).filter(|c| step.is_alive(*c) && !is_shown(*c)).collect();
    if file.project.has_compute_modes() {
        let functions: Vec<Id> = out.iter().filter_map(|c| file.function_of(*c)).collect();
        let given = index.calls().filter(|call| {
            let name = call.callee().filter(|g| index.kind(*g) == kinds().identifier).map(|g| index.text_of(g));
            let function =
                file.function_of(call.id()).filter(|f| functions.contains(f)).and_then(|f| index.function(f));
            let defaults =
                |name| function.is_some_and(|f| f.parameters().any(|p| p.name == name && p.default.is_some()));
            name.is_some_and(defaults) && file.is_reached(call.id())
        });
        let given: Vec<Id> = given.map(|c| c.id()).filter(|c| !out.contains(c)).collect();
        out.extend(given);
        sorting::plain(&mut out);
    }
    out
}

/// The main block of a file that another one imports, if it does not train: the program never reaches it.
fn demonstration(file: FileInProject<'_, '_>, whole: Id) -> Option<Id> {
    let main = main_block(file.view).filter(|_| file.project.is_imported(file.view))?;
    let class = file.class_of(whole).map(|class| file.name_of(class));
    let trains = |name: &str| name == file.name_of(whole) || class == Some(name);
    (!file.index.is_within(whole, main) && !file.index.mentions(main, trains)).then_some(main)
}

/// The model's call that leads to the loss: in the step, next to `backward()` if a validation follows it; with compute
/// modes also in a function that the step calls.
fn forward(file: FileInProject<'_, '_>, step: &TrainingStep<'_, '_>, calls: &[Id]) -> Result<Id, Obstacle> {
    let index = &file.view.index;
    let own: Vec<Id> = calls.iter().copied().filter(|c| index.is_within(*c, step.whole)).collect();
    if file.project.has_compute_modes() {
        let called = |call: Id| {
            let function = file.function_of(call);
            function.is_some_and(|f| !file.calls_in(file.name_of(f), step.whole).is_empty())
        };
        let found = own.first().copied().or_else(|| calls.iter().copied().find(|c| called(*c)));
        return found.ok_or_else(|| why::no_model_call(step.whole));
    }
    let beside: Vec<Id> = match own.as_slice() {
        [_] => own,
        _ => own
            .into_iter()
            .filter(|c| loop_within(file, *c, step.whole) == loop_within(file, step.backward, step.whole))
            .collect(),
    };
    match beside.as_slice() {
        [call] => Ok(*call),
        [_, second, ..] => Err(why::several_model_calls(*second)),
        [] => Err(method_call(file, step.whole)
            .map_or_else(|| why::no_model_call(step.whole), |(call, name)| why::method_called(call, name))),
    }
}

/// The innermost loop around a node inside the step.
fn loop_within(file: FileInProject<'_, '_>, id: Id, whole: Id) -> Option<Id> {
    loop_around(&file, id).filter(|l| file.index.is_within(*l, whole))
}

/// The test around backward pass and update that makes the loop one for training and validation.
fn phase<'t>(step: &TrainingStep<'_, 't>, forward: Id, update: Id) -> Option<&'t str> {
    let index = &step.file.view.index;
    let test = |id: Id| {
        let inside = index.ancestors(id).take_while(|a| Some(*a) != step.around && *a > step.whole);
        inside.filter(|a| index.if_statement(*a).is_some() && !step.precision.tests.contains(a)).last()
    };
    test(forward).is_none().then(|| phase_test(&step.file, step.optimizer, &[step.backward, update].map(test)))?
}

/// Obstacles to alternating forward pass, backward pass and update: there must be one of each, in this order, in one
/// loop and under no test but the one for the phase.
fn out_of_turn(step: &TrainingStep<'_, '_>, forward: Id, update: Id, phase: Option<&str>) -> Vec<Obstacle> {
    let (k, file) = (kinds(), step.file);
    let index = &file.view.index;
    let around = loop_within(file, step.backward, step.whole);
    let parts = [forward, step.backward, update];
    let mut out: Vec<Obstacle> = Vec::new();
    let apart = parts.iter().filter(|p| loop_within(file, **p, step.whole) != around);
    out.extend(apart.map(|part| why::gathered(*part)));
    let mut tests: Vec<Id> = Vec::new();
    for part in parts {
        let above = index.ancestors(part).take_while(|a| Some(*a) != around && *a > step.whole);
        let tested =
            above.filter(|a| [k.if_statement, k.try_statement, k.conditional_expression].contains(&index.kind(*a)));
        let is_phase = |test: &Id| phase.is_some() && index.condition(*test).map(|c| index.text_of(c)) == phase;
        // A test of the target's own decides nothing on the target.
        let is_own = |test: &Id| {
            let asked = file.project.modes.as_ref().zip(index.condition(*test));
            asked.is_some_and(|(modes, condition)| modes.tested(index, condition).is_some())
        };
        tests.extend(tested.filter(|test| !step.precision.tests.contains(test) && !is_phase(test) && !is_own(test)));
    }
    let skips = around.into_iter().flat_map(|l| index.of_kind_in(k.continue_statement, l)).copied();
    let skips = skips.filter(|id| *id > forward && *id < update && loop_around(&file, *id) == around);
    tests.extend(skips.map(|id| index.ancestors(id).find(|a| index.kind(*a) == k.if_statement).unwrap_or(id)));
    sorting::plain(&mut tests);
    tests.dedup();
    let counts = |test: Id| index.condition(test).is_some_and(|c| counted(&file, c).is_some());
    out.extend(tests.iter().map(|t| if counts(*t) { why::gathered(*t) } else { why::part_under_test(*t) }));
    if !(forward < step.backward && step.backward < update) {
        out.push(why::other_order(update));
    }
    out
}

/// A call of a model other than the one that is trained.
fn unlike(step: &TrainingStep<'_, '_>, call: Id, forward: Id) -> Option<Obstacle> {
    let file = step.file;
    let index = &file.view.index;
    let callee = |c: Id| index.callee(c).map_or("", |g| index.text_of(g));
    let name = callee(call);
    let is_taken = file.function_of(call).is_some_and(|f| file.binds(f, name));
    let made_first = step::optimizers_made(&file);
    let is_trained = made_first.iter().any(|o| {
        let parameters = index.arguments(o.call).ids().next().and_then(|a| index.receiver(a));
        parameters.is_some_and(|m| index.is_text(m, name))
    });
    let is_another = name != callee(forward) && !is_trained && !is_taken;
    is_another.then(|| why::other_model(call))
}

/// A layer of the trained model, or a method of it that runs its layers, called outside the model: only the model as a
/// whole is compiled.
fn part_called(file: FileInProject<'_, '_>, forward: Id, builds: impl Fn(Id) -> bool) -> Option<Obstacle> {
    let k = kinds();
    let index = &file.view.index;
    let model = index.callee(forward).map(|callee| index.text_of(callee)).filter(|model| *model != "self")?;
    let definition = |name: &str| {
        let mut methods = index.of_kind(k.function_definition).iter().copied();
        methods.find(|d| file.name_of(*d) == name && in_model(file, *d))
    };
    let runs_layers = |method: Id| {
        index.of_kind_in(k.call, method).iter().any(|c| {
            let callee = index.callee(*c).filter(|callee| index.kind(*callee) == k.attribute);
            callee.and_then(|callee| index.parts(callee).next()).is_some_and(|own| index.text_of(own) == "self")
                && !index.arguments(*c).is_empty()
        })
    };
    let is_layer = |name: &str| {
        let own = format!("self.{name}");
        let mut layers = index.assignments_to(&own).filter(|a| in_model(file, a.id()));
        layers.any(|a| a.value().is_some_and(|layer| file.role(layer) == Some(Role::Model)))
    };
    index.calls().find_map(|call| {
        let (id, callee) = (call.id(), call.callee()?);
        let rest = index.text_of(callee).strip_prefix(model).filter(|rest| rest.starts_with(['.', '[']))?;
        call.arguments().positional().next().filter(|_| file.is_reached_with(forward, id) && !builds(id))?;
        let runs = match call.name() {
            Some(name) => definition(name).map_or_else(|| PART_METHODS.contains(&name) || is_layer(name), runs_layers),
            None => index.kind(callee) == k.subscript,
        };
        runs.then(|| why::part_of_model(id, rest.strip_prefix('.').unwrap_or(rest)))
    })
}

#[cfg(test)]
mod tests;
