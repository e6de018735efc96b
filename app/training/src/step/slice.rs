//! The statements from the model's call to the loss, and the reasons why they are not the same at every step.

use super::TrainingStep;
use super::accumulation::Counter;
use super::callee::{LossFunction, loss_function};
use super::calls::loop_around;
use super::clipping::fixed_test;
use super::dataflow::{assigned, backward_slice, reads, reads_name};
use super::forward::{is_model_call, method_call, models_handed};
use super::forward_function::{ForwardFunction, forward_function};
use super::obstacle::{self as why, Found, Obstacle};
use super::phase::phase_test;
use super::schedule::schedules;
use super::update::ends_step;
use crate::words::{CLIPPING_FUNCTIONS, GROUP_KEYS};
use python::PythonFile;
use python::names::{called_name, dotted};
use python::origins::Place;
use python::strings::plain_string;
use python::tree::{Id, fields, kinds};
use sorting::SortedSet;

/// The statements that a target compiles as one unit.
pub struct Slice<'t> {
    /// The statement that calls the model, or the function that does.
    pub from: Id,
    /// That function, if the loss is computed in the step.
    pub forward_function: Option<ForwardFunction>,
    /// That function, if it computes the loss as well.
    pub loss_function: Option<LossFunction>,
    /// All statements of it, in the order of the text.
    pub statements: Vec<Id>,
    /// The statement that is replaced by a call of the whole.
    pub at: Id,
    /// The test for the training phase, if one loop also validates.
    pub phase: Option<&'t str>,
}

impl<'t> Slice<'t> {
    /// Finds the slice, or all obstacles to it.
    pub(crate) fn of(step: &TrainingStep<'_, 't>) -> Result<Self, Vec<Obstacle>> {
        let file = step.file;
        let index = &file.view.index;
        let mut wanted: Vec<&str> = reads(&file, step.loss).into_iter().map(|id| index.text_of(id)).collect();
        wanted.extend(dotted(index, step.loss));
        let slice = backward_slice(&file, &step.before, &wanted);
        let calls_model = |s: Id| index.of_kind_in(kinds().call, s).iter().any(|c| is_model_call(file, *c));
        let by_function = |s: &Id| {
            let forward = forward_function(file, *s);
            let loss = if forward.is_none() { loss_function(file, *s) } else { None };
            (forward.is_some() || loss.is_some()).then_some((*s, forward, loss))
        };
        let direct = slice.iter().copied().find(|s| calls_model(*s)).map(|s| (s, None, None));
        let by_helper = || {
            let hands_model =
                |s: &Id| index.of_kind_in(kinds().call, *s).iter().any(|c| !models_handed(file, *c).is_empty());
            slice.iter().copied().find(hands_model).map(|s| (s, None, None))
        };
        let by_method = || slice.iter().copied().find(|s| method_call(file, *s).is_some()).map(|s| (s, None, None));
        let Some((from, forward_function, loss_function)) =
            direct.or_else(|| slice.iter().find_map(by_function)).or_else(by_helper).or_else(by_method)
        else {
            let is_call = index.kind(step.loss) == kinds().call;
            let why = if is_call { why::loss_without_name } else { why::model_call_elsewhere };
            return Err(vec![why(step.backward)]);
        };
        let in_step = |s: &Id| *s > from || (*s == from && forward_function.is_none());
        let statements: Vec<Id> = slice.into_iter().filter(in_step).collect();
        let mut obstacles = leaves_tensors(step, &statements);
        if index.arguments(step.backward).get(0, "gradient").is_some() {
            obstacles.push(why::gradient_given(step.backward));
        }
        // The compiled step replaces the loss, and would update with the previous rate.
        let between = |call: &Id| *call > from && step.updates.first().is_some_and(|update| *call < update.call);
        let mut steps = schedules(file, step.body).steps.into_iter().map(|(call, _)| call);
        let scheduled = steps.find(|call| step.is_alive(*call) && between(call));
        obstacles.extend(scheduled.or_else(|| groups_changed(step, between)).map(why::scheduled_before_update));
        let called_here = forward_function.is_none() && loss_function.is_none();
        let phase = learns_always(step, from, called_here, &mut obstacles);
        match place(step, from, &statements, forward_function.is_some()) {
            Ok(at) if obstacles.is_empty() => Ok(Self { from, forward_function, loss_function, statements, at, phase }),
            place => {
                obstacles.extend(place.err());
                Err(obstacles)
            }
        }
    }

    /// Whether a node is part of it.
    pub fn contains(&self, step: &TrainingStep<'_, '_>, id: Id) -> bool {
        step.file.index.is_within_any(id, &self.statements)
    }

    /// Names that it assigns, in order.
    pub(crate) fn names(&self, step: &TrainingStep<'_, '_>) -> Vec<String> {
        let mut out: Vec<String> = self.forward_function.iter().map(|f| f.output.clone()).collect();
        for name in self.statements.iter().flat_map(|s| assigned(&step.file, *s)) {
            if !out.iter().any(|o| o == name) {
                out.push(name.to_owned());
            }
        }
        out
    }
}

/// What changes a value of the optimizer's groups, among the nodes that `counts`: `group["lr"] = 0.1`, or a call of a function that
/// does so.
fn groups_changed(step: &TrainingStep<'_, '_>, counts: impl Fn(&Id) -> bool) -> Option<Id> {
    let origins = &step.file.project.origins;
    let number = origins.number(&step.file.view.file)?;
    let runs = |id: &Id| counts(id) && step.is_alive(*id);
    let assigned = |place: Place| assigned_keys(origins.files()[place.file], place.id);
    let within = |statement: &Id| {
        let calls = step.file.view.index.of_kind_in(kinds().call, *statement).iter().copied();
        let mut calling = calls.filter(|call| {
            let definitions = origins.definitions(Place { file: number, id: *call });
            definitions.iter().any(|definition| assigned(*definition).is_some())
        });
        assigned(Place { file: number, id: *statement }).or_else(|| calling.next())
    };
    step.statements.iter().filter_map(within).find(runs)
}

/// The first assignment within a node to a value of an optimizer's group: `group["lr"] *= 0.9`.
fn assigned_keys(file: &PythonFile<'_>, within: Id) -> Option<Id> {
    let (k, index) = (kinds(), &file.index);
    let is_key = |target: Id| {
        let key = index.field(target, fields().subscript).filter(|_| index.kind(target) == k.subscript);
        key.and_then(|key| plain_string(index, key)).is_some_and(|key| GROUP_KEYS.contains(&key))
    };
    let all = [k.assignment, k.augmented_assignment].into_iter().flat_map(|kind| index.of_kind_in(kind, within));
    all.copied().filter(|assignment| index.target(*assignment).is_some_and(is_key)).min()
}

/// Where the slice branches, and where it uses something other than tensors.
fn leaves_tensors(step: &TrainingStep<'_, '_>, slice: &[Id]) -> Vec<Obstacle> {
    let k = kinds();
    let index = &step.file.view.index;
    let modes = step.file.project.modes.as_ref();
    let is_decided = |test: Id, condition: Id| {
        let is_else = |e: Id| [k.elif_clause, k.else_clause].contains(&index.kind(e)) && index.condition(e).is_none();
        index.is_within(step.backward, test)
            || modes.is_some_and(|m| {
                m.tested(index, condition).is_some() || m.switch().is_none() && index.children(test).any(is_else)
            })
    };
    let forks = |a: Id| {
        step.file.index.is_loop(a)
            || [k.try_statement, k.except_clause].contains(&index.kind(a))
            || index.kind(a) == k.if_statement
                && !step.precision.tests.contains(&a)
                && !index.condition(a).is_some_and(|c| is_decided(a, c))
    };
    let to_number = |s: Id| {
        let mut calls = index.of_kind_in(k.call, s).iter();
        calls
            .any(|c| step.file.index.receiver(*c).is_some() && matches!(called_name(index, *c), Some("item" | "numpy")))
    };
    let mut obstacles: Vec<Obstacle> = Vec::new();
    for &s in slice {
        let fork = index.ancestors(s).take_while(|a| *a != step.body).find(|a| forks(*a));
        let found =
            fork.map(why::control_flow_before_loss).or_else(|| to_number(s).then(|| why::number_before_loss(s)));
        obstacles.extend(found.filter(|found| !obstacles.contains(found)));
    }
    obstacles
}

/// The test for the training phase, if there is one. Any other test that decides whether the weights are trained is an
/// obstacle: a step without the test would always train.
fn learns_always<'t>(
    step: &TrainingStep<'_, 't>,
    from: Id,
    called_here: bool,
    obstacles: &mut Vec<Obstacle>,
) -> Option<&'t str> {
    let k = kinds();
    let (file, body) = (step.file, step.body);
    let index = &file.view.index;
    let modes = file.project.modes.as_ref();
    let accumulation = step.accumulation();
    // A counting test that can't be followed is already an obstacle.
    let unclear = step.accumulates.as_ref().err().map(|obstacle| obstacle.at);
    let decided = |id: Id| {
        index.ancestors(id).take_while(|a| *a != body && *a != step.whole).find(|a| {
            index.kind(*a) == k.if_statement
                && !step.precision.tests.contains(a)
                && accumulation.is_none_or(|c| !c.counts(*a))
                && unclear != Some(*a)
                && !index.is_within(from, *a)
                && modes.is_none_or(|m| index.condition(*a).is_none_or(|c| m.tested(index, c).is_none()))
        })
    };
    let holds = |s: Id, names: &[&str]| {
        index.of_kind_in(k.call, s).iter().any(|c| called_name(index, *c).is_some_and(|n| names.contains(&n)))
    };
    let updates = step.statements.iter().copied().filter(|s| {
        *s == step.end || holds(*s, CLIPPING_FUNCTIONS) || ends_step(file, *s) && !holds(*s, &["zero_grad"])
    });
    let updates: Vec<Id> = updates.collect();
    let clips = |s: Id| holds(s, CLIPPING_FUNCTIONS) || holds(s, &["unscale_"]);
    let tests: Vec<Option<Id>> = updates
        .iter()
        // Unscaling an unscaled loss has no effect.
        .filter(|u| !holds(**u, &["unscale_"]))
        .filter(|u| {
            !(clips(**u) && decided(**u).is_some() && decided(**u) == fixed_test(file, step.optimizer, body, **u))
        })
        .map(|u| decided(*u))
        .collect();
    let phase = phase_test(&file, step.optimizer, &tests);
    let phase = phase.filter(|_| !file.project.has_compute_modes() && called_here && accumulation.is_none());
    if phase.is_none() {
        let tests: SortedSet<Id> = tests.into_iter().flatten().collect();
        obstacles.extend(tests.into_iter().map(why::conditional_update));
    }
    let skips = step.around.into_iter().flat_map(|l| index.of_kind_in(k.continue_statement, l)).copied();
    let skipped = skips.filter(|id| {
        let counts = |by: &Counter| matches!(by, Counter::Skip(at) if index.is_within(*id, *at));
        *id > from
            && updates.last().is_some_and(|last| id < last)
            && step.is_alive(*id)
            && loop_around(&file, *id) == step.around
            && !accumulation.is_some_and(|a| counts(&a.by))
            && !unclear.is_some_and(|at| index.is_within(*id, at))
    });
    obstacles.extend(skipped.map(why::skipped_update));
    phase
}

/// The statement that is replaced by a call of the whole: the last, unless something in between reads a result of the
/// slice.
fn place(step: &TrainingStep<'_, '_>, from: Id, slice: &[Id], by_function: bool) -> Found<Id> {
    let file = step.file;
    let index = &file.view.index;
    let last = slice.last().copied().unwrap_or(from);
    let called = by_function.then_some(&from);
    let outputs: SortedSet<&str> = slice.iter().chain(called).flat_map(|s| assigned(&file, *s)).collect();
    let between: Vec<Id> =
        step.before.iter().copied().filter(|s| *s > from && *s < last && !slice.contains(s)).collect();
    let reader = between.iter().copied().find(|s| reads(&file, *s).iter().any(|r| outputs.contains(index.text_of(*r))));
    let Some(reader) = reader else { return Ok(last) };
    // Moved statements read the names that these assign, if they were below them.
    let read_below = |s: Id, name: &str| slice.iter().any(|below| *below > s && reads_name(&file, *below, name));
    if between.iter().any(|s| assigned(&file, *s).iter().any(|name| read_below(*s, name))) {
        return Err(why::output_read_before_loss(reader));
    }
    Ok(from)
}
