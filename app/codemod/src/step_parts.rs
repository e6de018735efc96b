//! `diff rule step`: `{{step.update}}` and the like in a rule are the parts of a training step.
//!
//! On a line to match, a part is a metavariable whose candidates are the nodes of that part in the steps that can be
//! followed. On a `+` line it is the text of the part that the rule matched, or one of the facts about the step around
//! the match.

use python::tree::{Id, ROOT};
use training::roles::Role;
use training::step::{TrainingStep, model_calls, schedules};
use training::turn::values;
use training::{FileInProject, FileView, Obstacle, ProjectFacts};

/// The parts of the step as a verb found them, for the patches in its section.
pub(crate) trait StepParts {
    /// The nodes of a part.
    fn nodes(&self, part: Part) -> Vec<Id>;

    /// Facts for a `+` line in addition to a matched node: `step.model`.
    fn fact(&self, node: Id, name: &str) -> Option<String>;

    /// Whether the model returns its loss first, and nothing happens to the optimizer between its call and the update.
    fn gives_loss_first(&self) -> bool;
}

/// A part of a training step that a rule can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The calls of the model.
    Forward,
    /// The call of the model in a loop that trains or evaluates.
    Either,
    /// The expression that is differentiated.
    Loss,
    /// The call of `backward()`.
    Backward,
    /// The calls that update the weights.
    Update,
    /// The calls that clear the gradients.
    Clear,
    /// The calls that clip the gradients.
    Clip,
    /// Those whose result the program logs.
    Norm,
    /// The steps of schedulers.
    Schedule,
    /// Calls of the model other than the step's own.
    Evaluate,
    /// The loss that the model returns, as the statement that receives it.
    Given,
    /// A loss wrapped in a gradient scaler.
    Scaled,
    /// A gradient scaler's bookkeeping.
    Scaler,
    /// Statements that read the weights, or replace them.
    Save,
    /// The statement that creates the optimizer.
    Optimizer,
    /// The statement before which the program has not parsed its command line.
    Start,
}

impl Part {
    /// Whether it is only found by a verb that ports the step.
    pub(crate) fn is_of_verbs(self) -> bool {
        use Part::{Either, Evaluate, Given, Norm, Optimizer, Save, Scaled, Scaler, Start};
        matches!(self, Either | Evaluate | Given | Norm | Scaled | Scaler | Save | Optimizer | Start)
    }
}

const PARTS: [(&str, Part); 16] = [
    ("forward", Part::Forward),
    ("either", Part::Either),
    ("loss", Part::Loss),
    ("backward", Part::Backward),
    ("update", Part::Update),
    ("clear", Part::Clear),
    ("clip", Part::Clip),
    ("norm", Part::Norm),
    ("schedule", Part::Schedule),
    ("evaluate", Part::Evaluate),
    ("given", Part::Given),
    ("scaled", Part::Scaled),
    ("scaler", Part::Scaler),
    ("save", Part::Save),
    ("make", Part::Optimizer),
    ("start", Part::Start),
];

/// Facts that a `+` line may use although nothing matched them: the model, its arguments, the optimizer, the loss
/// and the test for the training phase, as the program writes them.
const FACTS: [&str; 5] = ["step.model", "step.inputs", "step.optimizer", "step.loss", "step.phase"];

/// Metavariables with their parts.
pub(crate) type Bound = Vec<(String, Part)>;

/// A patch over parts, with metavariables in their place, and the parts of these.
pub(crate) fn as_metavariables(patch: &str) -> Result<(String, Bound), (usize, String)> {
    let known = || PARTS.map(|(name, _)| format!("{{{{step.{name}}}}}")).join(", ");
    let mut bound = Bound::new();
    let mut lines: Vec<String> = Vec::new();
    for (number, line) in patch.lines().enumerate() {
        let mut out = String::new();
        let mut rest = line;
        while let Some((before, name)) = rest.split_once("{{step.") {
            let (name, after) = name.split_once("}}").ok_or_else(|| (number, "`{{` is not closed".to_owned()))?;
            out.push_str(before);
            rest = after;
            let variable = format!("STEP_{}", name.to_ascii_uppercase());
            let part = PARTS.iter().find(|(known, _)| *known == name).map(|(_, part)| *part);
            let is_bound = bound.iter().any(|(bound, _)| *bound == variable);
            match part {
                Some(part) if !line.starts_with('+') => {
                    if !is_bound {
                        bound.push((variable.clone(), part));
                    }
                    out.push_str(&format!("${variable}"));
                }
                Some(_) if is_bound => out.push_str(&format!("${variable}")),
                _ if line.starts_with('+') && FACTS.contains(&format!("step.{name}").as_str()) => {
                    out.push_str(&format!("{{{{step.{name}}}}}"));
                }
                Some(_) => return Err((number, format!("`{{{{step.{name}}}}}` is written but never matched"))),
                None => return Err((number, format!("unknown part `{name}` of a step; a rule can match {}", known()))),
            }
        }
        out.push_str(rest);
        lines.push(out);
    }
    if bound.is_empty() {
        return Err((0, format!("a rule for the step must match at least one of its parts: {}", known())));
    }
    Ok((lines.join("\n") + "\n", bound))
}

/// The nodes of a part in a file, in the steps that can be followed.
pub(crate) fn nodes(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, part: Part) -> Vec<Id> {
    let file = FileInProject { view, project };
    let mut nodes: Vec<Id> = steps(view, project).flat_map(|step| of_step(file, &step, part)).collect();
    sorting::plain(&mut nodes);
    nodes.dedup();
    nodes
}

/// The statement that consists of this part.
pub(crate) fn statement(view: &FileView<'_>, node: Id) -> Option<Id> {
    view.statement_of(node).filter(|statement| view.index.range(*statement) == view.index.range(node))
}

/// The obstacles to following the steps of a file.
pub(crate) fn obstacles(view: &FileView<'_>, project: &ProjectFacts<'_, '_>) -> Vec<Obstacle> {
    let file = FileInProject { view, project };
    let read = |whole: &Id| match TrainingStep::read(file, *whole) {
        Ok(step) => step.obstacles,
        Err(obstacles) => obstacles,
    };
    once_each(view.steps.training.iter().flat_map(read).collect())
}

/// Obstacles, once each, in the order of the text.
pub(crate) fn once_each(mut obstacles: Vec<Obstacle>) -> Vec<Obstacle> {
    sorting::by_key(&mut obstacles, |obstacle| obstacle.at);
    obstacles.dedup();
    obstacles
}

/// A fact of the step around a node: `step.optimizer`.
pub(crate) fn fact(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, node: Id, name: &str) -> Option<String> {
    let file = FileInProject { view, project };
    let index = &view.index;
    let step = steps(view, project).find(|step| index.is_within(node, step.whole))?;
    match name {
        "step.optimizer" => Some(step.optimizer.to_owned()),
        "step.loss" => Some(index.text_of(step.loss).to_owned()),
        _ => of_call(view, of_step(file, &step, Part::Forward).into_iter().next()?, name),
    }
}

/// Facts from a call of the model: `step.model`, `step.inputs`.
pub(crate) fn of_call(view: &FileView<'_>, call: Id, name: &str) -> Option<String> {
    let index = &view.index;
    match name {
        "step.model" => Some(index.text_of(index.callee(call)?).to_owned()),
        "step.inputs" => {
            if index.arguments(call).ids().any(|argument| index.keyword_name(argument).is_some()) {
                let values: Vec<&str> = values(index, call).into_iter().map(|value| index.text_of(value)).collect();
                return Some(values.join(", "));
            }
            let arguments = index.text_of(index.arguments(call).list()?);
            Some(arguments.strip_prefix('(')?.strip_suffix(')')?.to_owned())
        }
        _ => None,
    }
}

fn steps<'a, 't>(
    view: &'a FileView<'t>,
    project: &'a ProjectFacts<'a, 't>,
) -> impl Iterator<Item = TrainingStep<'a, 't>> {
    let file = FileInProject { view, project };
    let read = move |whole: &Id| TrainingStep::read(file, *whole).ok().filter(|step| step.obstacles.is_empty());
    view.steps.training.iter().filter_map(read)
}

/// The nodes of a part that every step has, or may have.
pub(crate) fn of_step(file: FileInProject<'_, '_>, step: &TrainingStep<'_, '_>, part: Part) -> Vec<Id> {
    let index = &file.view.index;
    let here = |call: &Id| index.is_within(*call, step.whole) && step.is_alive(*call);
    match part {
        Part::Forward => model_calls(file).filter(here).collect(),
        Part::Loss => vec![step.loss],
        Part::Backward => vec![step.backward],
        Part::Update => step.updates.iter().map(|update| update.call).filter(here).collect(),
        Part::Clear => {
            let clears = |call: &Id| {
                let role = index.receiver(*call).and_then(|object| file.role(object));
                matches!(role, Some(Role::Optimizer | Role::Model))
            };
            file.calls("zero_grad").iter().copied().filter(here).filter(clears).collect()
        }
        Part::Clip => step.clipping.iter().map(|clipping| clipping.call).filter(here).collect(),
        Part::Schedule => schedules(file, ROOT).steps.into_iter().map(|(call, _)| call).filter(here).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::as_metavariables;

    #[test]
    fn parts_are_metavariables() {
        let (patch, parts) =
            as_metavariables("- {{step.update}}\n+ run({{step.update}}, {{step.optimizer}})\n").unwrap();
        assert_eq!(patch, "- $STEP_UPDATE\n+ run($STEP_UPDATE, {{step.optimizer}})\n");
        assert_eq!(parts.len(), 1);
        let refused = |patch: &str, line: usize, start: &str| {
            let (at, message) = as_metavariables(patch).unwrap_err();
            assert!(at == line && message.starts_with(start), "{at}: {message}");
        };
        refused("- {{step.updates}}\n", 0, "unknown part `updates` of a step; a rule can match {{step.forward}}, ");
        refused("- {{step.model}}\n", 0, "unknown part `model` of a step");
        refused("- {{step.update}}\n+ {{step.clip}}\n", 1, "`{{step.clip}}` is written but never matched");
        refused("- a\n+ b\n", 0, "a rule for the step must match at least one of its parts");
    }
}
