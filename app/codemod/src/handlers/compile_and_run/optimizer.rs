//! The optimizer of a script: how it is created, and its counterpart on the target.

use super::super::Input;
use super::messages::{
    self as says, ARGUMENTS, CLIP, CLIPPING, DECAY_DIFFERS, DECAYS, HINTS, OPTIMIZERS, RATE_REQUIRED,
};
use crate::definitions::Values;
use python::edit::{Splice, spliced};
use python::syntax::Argument;
use python::tree::{Id, kinds};
use training::step::{OptimizerMade, all_weights, of_several_models, value_once};
use training::{FileInProject, Obstacle};

/// The statement that creates the optimizer.
pub(super) struct Optimizer<'t> {
    pub(super) statement: Id,
    pub(super) call: Id,
    pub(super) name: &'t str,
    pub(super) model: &'t str,
    /// `SGD`; empty if it is only known at run time.
    pub(super) class: String,
    /// The new call: with every argument named, without disabled ones, and with the weight decay written out.
    pub(super) text: String,
}

/// An optimizer whose class is looked up by its name: it stays as it is, and is taken over once it is created.
pub(super) fn looked_up<'t>(
    file: FileInProject<'_, 't>,
    made: &OptimizerMade<'t>,
) -> Result<Optimizer<'t>, Vec<Obstacle>> {
    let index = &file.view.index;
    let weights = index.arguments(made.call).get(0, "params");
    let model = weights.and_then(|weights| all_weights(&file, weights)).and_then(|all| index.receiver(all));
    let (Some(model), Some((statement, name))) = (model, file.statement_of(made.call).zip(made.name)) else {
        let several = weights.is_some_and(|weights| of_several_models(&file, weights));
        let said = if several { says::several_models() } else { says::parameter_groups() };
        return Err(vec![said.at(made.call)]);
    };
    let (model, text) = (index.text_of(model), index.text_of(made.call).to_owned());
    Ok(Optimizer { statement, call: made.call, name, model, class: String::new(), text })
}

/// An optimizer that the target also has; `limit` is the clipping limit of gradients.
pub(super) fn read<'t>(
    input: &Input<'_, '_>,
    file: FileInProject<'_, 't>,
    made: &OptimizerMade<'t>,
    limit: Option<&str>,
) -> Result<Optimizer<'t>, Vec<Obstacle>> {
    let index = &file.view.index;
    let definitions = input.settings.definitions;
    let remark = |list: &str| definitions.listed(list, &made.qualified).map(|n| n.remark.as_str());
    let Some(counterpart) = remark(OPTIMIZERS) else {
        return Err(vec![says::optimizer_missing(made.class()).at(made.call)]);
    };
    let mut obstacles = Vec::new();
    let statement = file.statement_of(made.call).zip(made.name);
    if statement.is_none() {
        obstacles.push(says::optimizer_unnamed().at(made.call));
    }
    let given: Vec<Id> = index.arguments(made.call).ids().collect();
    let weights = index.arguments(made.call).get(0, "params");
    let trained = weights.and_then(|weights| all_weights(&file, weights));
    let model = trained.and_then(|all| index.receiver(all));
    if model.is_none() {
        let several = weights.is_some_and(|weights| of_several_models(&file, weights));
        let said = if several { says::several_models() } else { says::parameter_groups() };
        obstacles.push(said.at(made.call));
    }
    let prefix = format!("{}.", made.class());
    let arguments = definitions.names(ARGUMENTS).iter();
    let known = arguments.filter_map(|n| Some((n.name.strip_prefix(&prefix)?, n.remark.is_empty())));
    let known: Vec<(&str, bool)> = known.collect();
    let unnamed = given.first().zip(weights).filter(|(all, value)| index.is_within(*value, **all));
    let unnamed = unnamed.map(|(all, value)| index.item(*all).start..index.item(value).start);
    // A list with one group.
    let group = weights.filter(|w| index.kind(value_once(&file, *w)) == kinds().list).zip(trained);
    let group = group.map(|(weights, all)| Splice { range: index.range(weights), text: index.text_of(all).to_owned() });
    let unnamed = unnamed.map(|range| Splice { range, text: String::new() });
    // A list of weights that was made earlier has those from before the model was handed over.
    let list = weights.filter(|_| group.is_none()).map(|weights| (weights, value_once(&file, weights)));
    let list = list.filter(|(weights, value)| weights != value && Some(*value) != trained);
    let is_here = |value: Id| file.function_of(value) == file.function_of(made.call);
    if list.is_some_and(|(_, value)| !is_here(value)) {
        obstacles.push(says::parameter_groups().at(made.call));
    }
    let list = list.map(|(weights, value)| (index.range(weights), index.text_of(value).to_owned()));
    let list = list.map(|(range, text)| Splice { range, text });
    let mut edits: Vec<Splice> = unnamed.into_iter().chain(group).chain(list).collect();
    let mut named: Vec<&str> = Vec::new();
    for (place, argument) in index.arguments(made.call).iter().enumerate().skip(1) {
        let (name, value) = match argument {
            Argument::Keyword { name, value } => (name, value),
            Argument::Positional(value) => (known.get(place - 1).map_or("", |(name, _)| *name), value),
            Argument::Unpacked(value) | Argument::UnpackedTable(value) => ("", value),
        };
        let text = index.text_of(value);
        if !known.contains(&(name, true)) {
            // A disabled setting has no effect, and another way to compute the update gives the same one.
            let is_hint = input.lists(HINTS, name);
            if matches!(argument, Argument::Keyword { .. }) && (is_hint || matches!(text, "False" | "None")) {
                let range = index.item(given[place - 1]).end..index.item(given[place]).end;
                edits.push(Splice { range, text: String::new() });
            } else {
                obstacles.push(says::optimizer_argument(index.text_of(given[place])).at(given[place]));
            }
            continue;
        }
        if name == "weight_decay" && remark(DECAY_DIFFERS).is_some() && !input.project.given.is_zero(file.view, value) {
            obstacles.push(says::decay_differs().at(given[place]));
        }
        if matches!(argument, Argument::Positional(_)) {
            let at = index.item(value).start;
            edits.push(Splice { range: at..at, text: format!("{name}=") });
        }
        named.push(name);
    }
    if remark(RATE_REQUIRED).is_some() && !named.contains(&"lr") {
        obstacles.push(says::rate_missing().at(made.call));
    }
    let end = given.last().map_or(0, |last| index.item(*last).end);
    if let Some(decay) = remark(DECAYS).filter(|_| !named.contains(&"weight_decay")) {
        edits.push(Splice { range: end..end, text: format!(", weight_decay={decay}") });
    }
    if let Some(limit) = limit {
        if remark(CLIPPING).is_none() {
            obstacles.push(says::clipping_missing(made.class()).at(made.call));
        }
        let argument = input.block(file.view, CLIP, &Values::default().text("limit", limit)).unwrap_or_default();
        edits.push(Splice { range: end..end, text: format!(", {argument}") });
    }
    let callee = index.callee(made.call);
    edits.extend(callee.map(|g| Splice { range: index.range(g), text: counterpart.to_owned() }));
    let (Some((statement, name)), Some(model)) = (statement, model) else { return Err(obstacles) };
    let text = spliced(index.text, index.range(made.call), edits);
    let (model, class) = (index.text_of(model), made.class().to_owned());
    let made = Optimizer { statement, call: made.call, name, model, class, text };
    if obstacles.is_empty() { Ok(made) } else { Err(obstacles) }
}
