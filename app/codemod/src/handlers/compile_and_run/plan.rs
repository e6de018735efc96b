//! The facts about a script that are needed before its step is rewritten, and all obstacles.

use super::super::Input;
use super::messages::{self as says, INSTANCE, OPTIMIZERS, PROCESSES};
use super::optimizer::{self, Optimizer};
use crate::condition::{Situation, Type, nodes_of_type};
use crate::definitions::Values;
use guide::OptionKind;
use python::tree::{Id, ROOT, Tree};
use sorting::SortedSet;
use training::program_start::command_line;
use training::step::{
    OptimizerMade, chosen_by_name, is_chosen, is_optional, optimizers_made, optimizers_of, qualified, unlike_others,
};
use training::turn::Turn;
use training::{FileInProject, FileView, Obstacle};

/// A step whose model, optimizer and iterations were all followed.
pub(super) struct Plan<'a, 't> {
    pub(super) input: &'a Input<'a, 't>,
    pub(super) turn: Turn<'a, 't>,
    /// The optimizers that the target can reach.
    pub(super) optimizers: Vec<Optimizer<'t>>,
    /// Statements that create optimizers which the target lacks, among others that it has.
    pub(super) missing: Vec<(Id, String)>,
    /// The statements that clip gradients.
    pub(super) clipping: Vec<Id>,
    /// For an optimizer that the program creates in another file: the statement before which the step's function takes it
    /// over, the loop that trains, and the limit of gradients.
    pub(super) handed_in: Option<(Id, Id, Option<String>)>,
    /// The limit of gradients for an optimizer whose class is only known at run time.
    pub(super) limit: Option<String>,
    /// Arguments of the model that are the same in every step, by name, as they are written where the optimizer is created.
    pub(super) constants: Vec<(String, String)>,
}

impl<'a, 't> Plan<'a, 't> {
    /// Whether the program runs on other machines, too.
    pub(super) fn other_modes(&self) -> bool {
        self.input.project.has_compute_modes()
    }

    /// Whether the class of the optimizer is only known at run time.
    pub(super) fn is_looked_up(&self) -> bool {
        self.optimizers.iter().any(|optimizer| optimizer.class.is_empty())
    }

    /// Whether one run performs the whole step.
    pub(super) fn in_one_run(&self) -> bool {
        !self.other_modes() && self.turn.gives_loss_first()
    }

    pub(super) fn read(
        input: &'a Input<'a, 't>,
        file: FileInProject<'a, 't>,
        whole: Id,
    ) -> Result<Self, Vec<Obstacle>> {
        let other_modes = input.project.has_compute_modes();
        let mut obstacles = Vec::new();
        if input.project.is_lightning(file.view, whole) {
            return Err(vec![says::lightning_step().at(whole)]);
        }
        let instance = input.block(file.view, INSTANCE, &Values::default()).unwrap_or_default();
        if file.has_word(&instance) {
            obstacles.push(says::name_taken(instance).at(whole));
        }
        // The runtime above the program's functions uses the target's software, which is imported beside torch.
        let situation = Situation::of_file(file, input.settings);
        let torch = nodes_of_type(&situation, &Type::LastTorchImport).first().copied();
        if torch.is_some_and(|torch| file.view.index.parent(torch) != Some(ROOT)) {
            obstacles.push(says::no_torch_import().at(whole));
        }
        if !other_modes {
            let is_run = |call: &Id| file.is_reached_with(whole, *call) && !is_optional(&file, *call);
            let starts = file.index.calls().map(|c| c.id()).filter(is_run);
            let mut processes =
                starts.filter(|c| qualified(&file, *c).is_some_and(|name| input.lists(PROCESSES, &name)));
            obstacles.extend(processes.next().map(|call| says::several_processes().at(call)));
        }
        let turn = Turn::read(file, whole).map_err(|found| obstacles.extend(found)).ok();
        let clipped = turn.as_ref().map_or(Ok(None), |turn| turn.step.norm_clipped()).unwrap_or_else(|call| {
            obstacles.push(says::other_clipping().at(call));
            None
        });
        let clipping = clipped.map(|(statement, _)| statement).into_iter().collect();
        let made = optimizers_of(file, whole);
        let limit = |at: Id| clipped.map(|(_, clipping)| clipping.limit_at(file, at));
        let unlimited = made.iter().find(|m| limit(m.call) == Some(None));
        obstacles.extend(unlimited.map(|m| says::limit_unknown().at(m.call)));
        let (mut optimizers, mut missing) = (Vec::new(), Vec::new());
        let handed_in = turn.as_ref().and_then(Turn::handed_in).filter(|_| !other_modes && made.is_empty());
        let programs = handed_in.and_then(|_| of_programs(input, file));
        let handed_in = handed_in.filter(|_| programs.is_some()).map(|(at, around)| (at, around, limit(at).flatten()));
        let by_name = chosen_by_name(file, whole).filter(|_| made.is_empty() && programs.is_none() && !other_modes);
        match programs {
            Some(found) => {
                obstacles.extend(found.into_iter().map(|obstacle| Obstacle { at: whole, ..obstacle }));
                let unlimited = clipped.is_some() && handed_in.as_ref().is_some_and(|(_, _, limit)| limit.is_none());
                obstacles.extend(unlimited.then(|| says::limit_unknown().at(whole)));
            }
            None if by_name.is_some() => {}
            None if !other_modes => {
                // Several optimizers of one step have a message of their own.
                let several = obstacles.iter().any(|o| matches!(o.name, "several_updates" | "several_optimizers"));
                let others = unlike_others(file, &made, whole);
                obstacles.extend(others.into_iter().filter(|o| !several || o.name != "several_optimizers_made"));
            }
            None => {}
        }
        let is_known = |made: &OptimizerMade<'_>| input.lists(OPTIMIZERS, &made.qualified);
        let may_lack = other_modes || made.iter().any(is_known);
        for made in &made {
            let lacks = may_lack && !is_known(made) && is_chosen(&file, made.call);
            match file.statement_of(made.call).filter(|_| lacks) {
                Some(statement) => missing.push((statement, made.class().to_owned())),
                None => match optimizer::read(input, file, made, limit(made.call).flatten().as_deref()) {
                    Ok(optimizer) => optimizers.push(optimizer),
                    Err(found) => obstacles.extend(found),
                },
            }
        }
        let unlimited = by_name.as_ref().is_some_and(|made| limit(made.call) == Some(None));
        obstacles.extend(unlimited.then(|| says::limit_unknown().at(whole)));
        let taken_over = by_name.as_ref().map(|made| optimizer::looked_up(file, made));
        match taken_over {
            Some(Ok(optimizer)) => optimizers.push(optimizer),
            Some(Err(found)) => obstacles.extend(found),
            None => {}
        }
        let differs = |o: &&Optimizer<'_>| optimizers.first().is_some_and(|first| o.model != first.model);
        obstacles.extend(optimizers.iter().find(differs).map(|o| Obstacle::several_optimizers_made(o.call)));
        obstacles.extend(turn.iter().flat_map(|turn| optimizers.iter().filter_map(|o| trains_a_part(turn, o))));
        obstacles.extend(starts_elsewhere(input, file, &optimizers, whole));
        if other_modes {
            let differs = |o: &&Optimizer<'_>| optimizers.first().is_some_and(|first| o.name != first.name);
            obstacles.extend(optimizers.iter().find(differs).map(|o| Obstacle::several_optimizers_made(o.call)));
            if made.is_empty() || (optimizers.is_empty() && obstacles.is_empty()) {
                obstacles.push(Obstacle::no_optimizer(whole));
            }
        }
        let at = handed_in.as_ref().map(|(at, ..)| *at).or_else(|| optimizers.first().map(|o| o.call));
        let limit = by_name.as_ref().and_then(|made| limit(made.call).flatten());
        let mut constants = Vec::new();
        for (name, value) in turn.iter().flat_map(|turn| &turn.constants) {
            match at.and_then(|at| file.written_at(*value, file.statement_of(at)?)) {
                Some(text) => constants.push((name.clone(), text)),
                None if at.is_some() => {
                    obstacles.push(says::constant_unknown(file.view.index.text_of(*value)).at(*value));
                }
                None => {}
            }
        }
        obstacles.extend(turn.as_ref().and_then(|turn| shapes_differ(input, turn)));
        match turn.filter(|_| obstacles.is_empty()) {
            Some(turn) => Ok(Self { input, turn, optimizers, missing, clipping, handed_in, constants, limit }),
            None => Err(obstacles),
        }
    }
}

/// Shapes that the user set for another number of inputs.
fn shapes_differ(input: &Input<'_, '_>, turn: &Turn<'_, '_>) -> Option<Obstacle> {
    let given = shapes(input).len();
    let names: Vec<&str> = turn.inputs.iter().map(|input| input.name.as_str()).collect();
    let differs = given > 0 && given != names.len();
    differs.then(|| says::shapes_differ(names.join(", ")).at(turn.step.whole))
}

/// Shapes that the user set (`--option input_shape=3x224x224,scalar`), as the elements of a tuple.
pub(super) fn shapes(input: &Input<'_, '_>) -> Vec<String> {
    let given = input.settings.values.get("input_shape").filter(|given| *given != OptionKind::ASK);
    let sizes = |shape: &str| if shape == "scalar" { String::new() } else { format!("{},", shape.replace('x', ", ")) };
    given.map_or_else(Vec::new, |given| given.split(',').map(sizes).collect())
}

/// An optimizer of a part of the model that the step runs, `model.head.parameters()`: what is compiled would be the part.
fn trains_a_part(turn: &Turn<'_, '_>, made: &Optimizer<'_>) -> Option<Obstacle> {
    let index = &turn.step.file.view.index;
    let called = index.callee(turn.forward).map(|model| index.text_of(model)).filter(|called| *called != made.model)?;
    let (whole, part) = made.model.rsplit_once('.')?;
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    (part != "module" && last(whole) == last(called)).then(|| says::parameter_groups().at(made.call))
}

/// What prevents taking over the optimizers of the programs that import a file, none if no program that can read the target's part of the
/// command line creates one.
fn of_programs(input: &Input<'_, '_>, file: FileInProject<'_, '_>) -> Option<Vec<Obstacle>> {
    let starts = input.files.starts(file.view.path);
    let programs: SortedSet<usize> = starts.iter().map(|start| start.file).collect();
    let (mut made, mut obstacles) = (0, Vec::new());
    let mut read = |view: &FileView<'_>| {
        for optimizer in optimizers_made(view) {
            made += 1;
            let program = FileInProject { view, project: input.project };
            obstacles.extend(optimizer::read(input, program, &optimizer, None).err().into_iter().flatten());
        }
    };
    for number in programs {
        let (path, text) = input.files[number];
        match &input.views[number] {
            Some(view) => read(view),
            None => read(&FileView::read(path, &Tree::parse(text))),
        }
    }
    let is_read = made > 0 && !input.project.parses_on_load && starts.iter().all(|start| start.module.is_some());
    is_read.then_some(obstacles)
}

/// A program whose start is not among the files, or that parses its command line on import of another file: the target's part has to
/// be removed before.
fn starts_elsewhere(
    input: &Input<'_, '_>,
    file: FileInProject<'_, '_>,
    optimizers: &[Optimizer<'_>],
    whole: Id,
) -> Option<Obstacle> {
    let other_modes = input.project.has_compute_modes();
    let call = optimizers.first().map(|o| o.call).filter(|_| !other_modes);
    if !other_modes && call.is_none_or(|call| reads_here(file, call)) {
        return None;
    }
    let none = input.files.starts(file.view.path).is_empty() || (!other_modes && input.project.parses_on_load);
    none.then(|| says::starts_elsewhere().at(call.unwrap_or(whole)))
}

/// Whether the program of the file that creates an optimizer is the file itself.
pub(super) fn reads_here(file: FileInProject<'_, '_>, optimizer: Id) -> bool {
    file.function_of(optimizer).is_none() || command_line(file.view, optimizer).is_some()
}
