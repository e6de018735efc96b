//! `move-to-device`: a program that names no device gets one: its models are moved before their optimizers, and the tensors
//! of each batch where their names are bound.

use super::{Input, Wish};
use crate::definitions::{BlockShape, Values, messages};
use python::edit::Change;
use python::names::called_name;
use python::tree::Id;
use training::unmoved::{Move, moves};
use training::{FileInProject, ProjectFacts};

messages! {
    processes_without_device();
    model_not_followed();
    model_left_on_host(model);
    tensors_not_followed();
}

/// Models, one after the other.
const MOVE_MODELS: BlockShape = BlockShape { name: "move_models", fills: &["model", "model.name"] };
/// Tensors, one after the other.
const MOVE_TENSORS: BlockShape = BlockShape { name: "move_tensors", fills: &["tensor", "tensor.name"] };
/// Dictionaries of tensors, one after the other.
const MOVE_TABLES: BlockShape = BlockShape { name: "move_tables", fills: &["table", "table.name"] };
/// A tensor that has no name.
const MOVED_TENSOR: BlockShape = BlockShape { name: "moved_tensor", fills: &["tensor"] };
/// A moved tensor that is copied back to the host.
const TENSOR_ON_HOST: BlockShape = BlockShape { name: "tensor_on_host", fills: &["tensor"] };
/// All of them.
pub(super) const BLOCKS: &[BlockShape] = &[MOVE_MODELS, MOVE_TENSORS, MOVE_TABLES, MOVED_TENSOR, TENSOR_ON_HOST];

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let file = FileInProject { view, project: input.project };
    let backward = view.calls("backward").iter().filter(|call| view.steps.in_training(view, **call));
    if input.project.names_device {
        // Another program of the project does.
        if input.project.trains_without_device(view) {
            backward.take(1).for_each(|call| input.note(view, *call, model_not_followed()));
        } else if backward.count() > 0 && !ProjectFacts::file_names_device(view) {
            for one in moves(file).models.iter().filter(|one| one.names.iter().all(|name| is_made_on_host(file, name)))
            {
                input.note(view, one.at, model_left_on_host(&one.names[0]));
            }
        }
        return Vec::new();
    }
    if !input.project.moves_models {
        let joined = input.project.imports("torch.distributed");
        let message = if joined { processes_without_device } else { model_not_followed };
        backward.for_each(|call| input.note(view, *call, message()));
        return Vec::new();
    }
    let moves = moves(file);
    moves.unknown_models.iter().for_each(|at| input.note(view, *at, model_not_followed()));
    moves.unknown_tensors.iter().for_each(|at| input.note(view, *at, tensors_not_followed()));
    let wish = |one: &Move, block: BlockShape| {
        let item = |name: &String| Values::default().text("name", name);
        let values = Values::default().list(block.fills[0], one.names.iter().map(item));
        let text = input.block_at(view, one.at, block.name, &values)?;
        Some(Wish::new(view, one.at, vec![Change::Insert { at: one.at, after: one.after, text }]))
    };
    let models = moves.models.iter().filter_map(|one| wish(one, MOVE_MODELS));
    let tensors = moves.tensors.iter().filter_map(|one| wish(one, MOVE_TENSORS));
    let tables = moves.tables.iter().filter_map(|one| wish(one, MOVE_TABLES));
    let changed = |node: Id, block: BlockShape| {
        let values = Values::default().text("tensor", view.index.text_of(node));
        let text = input.block_at(view, node, block.name, &values)?.trim_end().to_owned();
        Some(Wish::new(view, node, vec![Change::Expression { node, range: view.index.range(node), text }]))
    };
    let expressions = moves.expressions.iter().filter_map(|node| changed(*node, MOVED_TENSOR));
    let exported = moves.exported.iter().filter_map(|node| changed(*node, TENSOR_ON_HOST));
    models.chain(tensors).chain(tables).chain(expressions).chain(exported).collect()
}

/// Whether the file creates a model by calls of classes and functions that name no device.
fn is_made_on_host(file: FileInProject<'_, '_>, name: &str) -> bool {
    let index = &file.view.index;
    let mut values = index.assignments_to(name).map(|a| a.value()).peekable();
    let makes = |value: Option<Id>| value.and_then(|value| called_name(index, value));
    values.peek().is_some()
        && values.all(|value| makes(value).is_some_and(|maker| !file.project.naming_device.contains(maker)))
}
