//! A model's inputs and outputs.

use crate::FileInProject;
use crate::model_inputs::InputUse;
use crate::roles::{Role, given_back};
use crate::settings::is_settings;
use crate::step::{Obstacle, TrainingStep, field_of_object, qualified, reads_name, why};
use python::PythonFile;
use python::names::called_name;
use python::strings::plain_string;
use python::tree::{Id, Index, kinds};

/// A tensor that is an input of the model.
#[derive(Clone, Debug)]
pub struct ModelInput {
    /// A name for it: `image` of `batch["image"]`.
    pub name: String,
    /// Whether it contains whole numbers, such as tokens or classes.
    pub is_integer: bool,
}

/// Names for the arguments of the model's call, and the arguments that are not tensors of the batch.
pub(super) fn inputs(step: &TrainingStep<'_, '_>, forward: Id) -> (Vec<ModelInput>, Vec<Obstacle>) {
    let (k, file) = (kinds(), step.file);
    let index = &file.view.index;
    let uses = uses(step, forward);
    let (mut inputs, mut unfit): (Vec<ModelInput>, Vec<Obstacle>) = (Vec::new(), Vec::new());
    let given = split(step, forward, forward).tensors;
    let given = if in_order(step, &given, forward) { unnamed(index, &given) } else { given };
    for (place, argument) in given.iter().map(|a| unmoved(&file, *a)).enumerate() {
        if ![k.identifier, k.attribute, k.subscript, k.call].contains(&index.kind(argument)) {
            unfit.push(why::input_no_tensor(argument));
            continue;
        }
        let text = index.text_of(argument);
        let is_object = || index.kind(argument) == k.identifier && field_of_object(file, step.whole, text).is_some();
        if !file.project.has_compute_modes() && (is_row(&file, argument, 4) || is_object()) {
            unfit.push(why::input_no_tensor(argument));
            continue;
        }
        // If a loop passes only one value to the model in every iteration, it is the batch.
        let is_batch = given.len() == 1 && step.around.is_some();
        if !file.project.has_compute_modes() && !is_batch && is_fixed(step, forward, argument) {
            unfit.push(why::input_not_of_batch(argument, text));
        }
        let used = uses.get(place).map_or(InputUse::Other, |(_, used)| *used);
        if used == InputUse::SequenceFirst {
            unfit.push(why::sequence_first(argument, text));
        }
        // `image.to(device)` and `batch["image"]` are both the image.
        let moves = ["to", "cuda", "float", "long", "int", "view", "reshape", "unsqueeze", "permute"];
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let words = words.filter(|w| w.starts_with(char::is_alphabetic)).take_while(|w| !moves.contains(w));
        let plain = words.last().unwrap_or("input").to_ascii_lowercase();
        let numbered = (2..).map(|n| format!("{plain}{n}"));
        let name = std::iter::once(plain.clone()).chain(numbered).find(|n| !inputs.iter().any(|i| i.name == *n));
        let whole = [".long()", ".int()"].iter().any(|cast| text.ends_with(cast));
        inputs.push(ModelInput { name: name.unwrap_or(plain), is_integer: whole || used == InputUse::Integer });
    }
    if inputs.is_empty() && unfit.is_empty() {
        unfit.push(why::no_input(forward));
    }
    (inputs, unfit)
}

/// A tensor without the choice of its device: `x` of `x.cuda() if args.cuda else x`.
fn unmoved(file: &PythonFile<'_>, id: Id) -> Id {
    let (k, index) = (kinds(), &file.index);
    let stays = |id: Id| match called_name(index, id) {
        Some("cuda" | "cpu") => index.receiver(id).unwrap_or(id),
        _ => id,
    };
    if index.kind(id) == k.parenthesized_expression {
        return index.parts(id).next().map_or(id, |inner| unmoved(file, inner));
    }
    let sides: Vec<Id> = index.parts(id).collect();
    match sides.as_slice() {
        &[here, _, there] if index.kind(id) == k.conditional_expression => {
            let (here, there) = (stays(unmoved(file, here)), stays(unmoved(file, there)));
            if index.text_of(here) == index.text_of(there) { here } else { id }
        }
        _ => id,
    }
}

/// The arguments of a call, without their names.
pub fn values(index: &Index<'_>, call: Id) -> Vec<Id> {
    unnamed(index, &index.arguments(call).ids().collect::<Vec<Id>>())
}

/// Arguments without their names.
fn unnamed(index: &Index<'_>, arguments: &[Id]) -> Vec<Id> {
    arguments.iter().map(|a| index.keyword_name(*a).and_then(|_| index.value(*a)).unwrap_or(*a)).collect()
}

/// Whether named arguments for the model come in the order of its parameters, so that their names can be left out.
pub(super) fn in_order(step: &TrainingStep<'_, '_>, given: &[Id], forward: Id) -> bool {
    let index = &step.file.view.index;
    let uses = uses(step, forward);
    let known = |(place, name): (usize, &str)| uses.get(place).is_some_and(|(parameter, _)| parameter == name);
    let mut given = given.iter().map(|a| index.keyword_name(*a)).enumerate();
    given.all(|(place, name)| name.is_none_or(|name| known((place, name))))
}

/// The arguments of a call of the model, by what they are.
pub(super) struct Given {
    /// Those that may be tensors.
    pub(super) tensors: Vec<Id>,
    /// Values that are the same in every call, with the names of their parameters.
    pub(super) constants: Vec<(String, Id)>,
}

/// Splits the arguments of a call of the model. A constant without a name counts as one only behind all tensors, and if the
/// model's class is known.
pub(super) fn split(step: &TrainingStep<'_, '_>, call: Id, forward: Id) -> Given {
    let (k, file) = (kinds(), step.file);
    let index = &file.view.index;
    let given: Vec<Id> = index.arguments(call).ids().collect();
    let (mut tensors, mut constants) = (Vec::new(), Vec::new());
    let uses = uses(step, forward);
    let spreads = given.iter().any(|a| index.kind(*a) == k.list_splat);
    let may_be_tensor = |a: &Id| index.keyword_name(*a).is_none() && !is_constant(file, *a);
    let last = given.iter().rposition(may_be_tensor).filter(|_| !spreads);
    for (place, &argument) in given.iter().enumerate() {
        let (name, value) = match index.keyword_name(argument) {
            Some(name) => (Some(name.to_owned()), index.value(argument)),
            None => {
                let parameter = uses.get(place).filter(|_| !spreads && last.is_some_and(|last| place > last));
                (parameter.map(|(parameter, _)| parameter.clone()), Some(argument))
            }
        };
        match name.zip(value).filter(|(_, value)| !file.project.has_compute_modes() && is_constant(file, *value)) {
            Some(constant) => constants.push(constant),
            None => tensors.push(argument),
        }
    }
    Given { tensors, constants }
}

/// Whether an expression is a literal, or a setting of the command line that no file assigns.
fn is_constant(file: FileInProject<'_, '_>, id: Id) -> bool {
    let k = kinds();
    let index = &file.view.index;
    let kind = index.kind(id);
    if kind == k.unary_operator {
        return index.parts(id).all(|part| [k.integer, k.float].contains(&index.kind(part)));
    }
    if kind == k.string {
        return plain_string(index, id).is_some();
    }
    if [k.integer, k.float, k.r#true, k.r#false, k.none].contains(&kind) {
        return true;
    }
    let Some((owner, name)) = index.attribute(id).and_then(|a| Some((a.owner()?, a.name()?))) else { return false };
    let is_settings = index.kind(owner) == k.identifier && is_settings(file.view, index.text_of(owner));
    let is_optimizer =
        || file.role(owner) == Some(Role::Optimizer) && file.index.bindings(index.text_of(owner)).is_empty();
    is_settings && !is_optimizer() && !file.project.changed_settings.contains(name)
}

/// The parameters of the model's class and their use, if the file shows which class that is.
fn uses(step: &TrainingStep<'_, '_>, forward: Id) -> Vec<(String, InputUse)> {
    let file = step.file;
    let index = &file.view.index;
    let Some(model) = index.callee(forward).map(|g| index.text_of(g)) else { return Vec::new() };
    let class = index.assignments_to(model).find_map(|a| {
        let name = index.call(given_back(index, a.value()?))?.name()?;
        file.project.model_inputs.get(name)
    });
    // A model that the file is given is of the project's only class.
    let is_given = || index.assignments_to(model).next().is_none();
    let mut classes = file.project.model_inputs.values();
    let only = classes.next().filter(|_| classes.next().is_none() && is_given());
    class.or(only).cloned().unwrap_or_default()
}

/// Whether an argument is the same in every iteration: its name is bound outside the loop, or outside the function that
/// is the iteration.
fn is_fixed(step: &TrainingStep<'_, '_>, forward: Id, argument: Id) -> bool {
    let file = step.file;
    let index = &file.view.index;
    let Some(name) = index.of_kind_in(kinds().identifier, argument).first().map(|id| index.text_of(*id)) else {
        return false;
    };
    if name == "self" || file.names.by_import(name) {
        return false;
    }
    let turn = step.around.unwrap_or(step.whole);
    let Some(function) = file.function_of(forward).filter(|_| step.around.is_none()) else {
        let target = index.target(turn);
        let bound = |id: &Id| index.is_within(*id, turn) && is_bound(step, *id);
        let by_loop = target.is_some_and(|t| file.identifiers(name).iter().any(|id| index.is_within(*id, t)));
        return step.around.is_some() && !by_loop && !file.identifiers(name).iter().any(bound);
    };
    !file.binds(function, name)
}

/// Whether a name is bound at its position: by an assignment, an inner loop or `with … as`.
fn is_bound(step: &TrainingStep<'_, '_>, id: Id) -> bool {
    let (k, index) = (kinds(), &step.file.view.index);
    index.ancestors(id).take_while(|a| index.kind(*a) != k.block).any(|a| {
        let left = index.target(a).is_some_and(|l| index.is_within(id, l));
        left && [k.assignment, k.for_statement].contains(&index.kind(a)) || index.kind(a) == k.as_pattern_target
    })
}

/// Where the model returns an object or a dictionary of tensors.
pub(super) fn output_objects(step: &TrainingStep<'_, '_>, forward: Id) -> Option<Obstacle> {
    const OF_OBJECTS: [&str; 5] = ["logits", "loss", "last_hidden_state", "pooler_output", "hidden_states"];
    let (k, file) = (kinds(), step.file);
    let index = &file.view.index;
    let is_object = |value: Id| {
        index.parent(value).is_some_and(|p| {
            let attribute = index.attribute(p).filter(|a| a.owner() == Some(value)).and_then(|a| a.name());
            let item = index.kind(p) == k.subscript && index.value(p) == Some(value);
            attribute.is_some_and(|a| OF_OBJECTS.contains(&a))
                || item && index.parts(p).nth(1).is_some_and(|s| index.kind(s) == k.string)
        })
    };
    let within = file.function_of(forward).unwrap_or(step.whole);
    let target = index.parent(forward).and_then(|p| index.assignment(p)).and_then(|a| a.target());
    let name = target.map(|t| index.text_of(t));
    let named = index.of_kind_in(k.identifier, within).iter().copied().filter(|i| Some(index.text_of(*i)) == name);
    let found = std::iter::once(forward).chain(named).find(|v| is_object(*v));
    found.map(why::output_no_tensor)
}

/// Whether an expression is a tuple or a list, wherever its value is assigned: the states of an LSTM are two tensors.
/// Or None: a state that does not exist yet in the first iteration.
fn is_row(file: &PythonFile<'_>, id: Id, steps: u8) -> bool {
    let k = kinds();
    let index = &file.index;
    let Some(steps) = steps.checked_sub(1) else { return false };
    let kind = index.kind(id);
    if [k.tuple, k.list, k.expression_list, k.list_comprehension, k.none].contains(&kind) {
        return true;
    }
    if let Some(name) = called_name(index, id) {
        let functions = index.functions().filter(|f| f.name() == name).map(|f| f.id());
        let mut returns = functions.flat_map(|f| index.of_kind_in(k.return_statement, f).iter().copied());
        return matches!(name, "list" | "tuple") || returns.any(|r| index.parts(r).any(|v| is_row(file, v, steps)));
    }
    if kind != k.identifier {
        return false;
    }
    let (name, function) = (index.text_of(id), file.function_of(id));
    let mut bound = file.index.bindings(name).to_vec();
    bound.retain(|b| file.function_of(*b) == function && (index.is_loop(*b) || !index.is_within(id, *b)));
    // Values above an assignment that is on every path to this place are outdated, unless the assigned value is
    // computed from them and may not be a tensor.
    let makes = |b: Id| {
        let value = index.source(b).filter(|_| !index.is_loop(b));
        let is_tensor = |value| qualified(file, value).is_some_and(|q| q.starts_with("torch."));
        value.is_none_or(|value| is_tensor(value) || !reads_name(file, value, name))
    };
    let block = |b: Id| if index.is_loop(b) { index.body(b) } else { index.parent(file.statement_of(b)?) };
    let always = |b: &Id| *b < id && block(*b).is_some_and(|block| index.is_within(id, block)) && makes(*b);
    let since = bound.iter().copied().filter(always).max();
    let value = |b: Id| index.assignment(b).filter(|a| a.assigns(name)).and_then(|a| a.value());
    bound.into_iter().filter(|b| Some(*b) >= since).filter_map(value).any(|value| is_row(file, value, steps))
}
