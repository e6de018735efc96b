//! What a program that names no device has to move to one: its models before their optimizers, and the tensors that a
//! model or a loss receives, at their origin.

mod accumulators;
mod host;
mod models;
mod scope;
mod sources;
mod tensors;

use crate::project::{FileInProject, moves_to_device};
use python::names::called_name;
use python::tree::{Id, kinds};

/// Names that are moved next to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The statement.
    pub at: Id,
    /// Whether the move is after it.
    pub after: bool,
    /// The names, as the program writes them.
    pub names: Vec<String>,
}

/// What a file has to move.
#[derive(Debug, Default)]
pub struct Moves {
    /// Models.
    pub models: Vec<Move>,
    /// Tensors.
    pub tensors: Vec<Move>,
    /// Dictionaries of tensors.
    pub tables: Vec<Move>,
    /// Expressions that are moved in place: tensors for which the function has no name.
    pub expressions: Vec<Id>,
    /// Names of moved tensors that are passed to a copy of a model on the host.
    pub exported: Vec<Id>,
    /// Optimizers whose models can't be determined.
    pub unknown_models: Vec<Id>,
    /// The inputs of models and losses, and their origin, can't be determined.
    pub unknown_tensors: Vec<Id>,
}

/// Reads what a file has to move. Values that are already moved are left out.
pub fn moves(file: FileInProject<'_, '_>) -> Moves {
    let mut moves = Moves::default();
    if !file.view.names.is_of_other_framework() {
        models::read(file, &mut moves);
        tensors::read(file, &mut moves);
    }
    moves
}

/// Adds names to the moves next to a statement.
fn add(moves: &mut Vec<Move>, at: Id, after: bool, names: impl IntoIterator<Item = String>) {
    let place = moves.iter().position(|m| m.at == at && m.after == after).unwrap_or_else(|| {
        moves.push(Move { at, after, names: Vec::new() });
        moves.len() - 1
    });
    for name in names {
        if !moves[place].names.contains(&name) {
            moves[place].names.push(name);
        }
    }
}

/// Whether a function, or the file outside of functions, already moves something: `net.to(…)`,
/// `batch = {key: value.to(…) for key, value in batch.items()}`. A conversion to another type moves nothing.
fn is_moved(file: FileInProject<'_, '_>, scope: Option<Id>, name: &str) -> bool {
    let index = &file.view.index;
    let calls = file.calls("to").iter().filter(|call| file.function_of(**call) == scope);
    calls.filter(|call| moves_to_device(file.view, **call)).any(|call| {
        let receiver = index.receiver(*call);
        let assigned = index
            .ancestors(*call)
            .find_map(|around| index.assignment(around))
            .is_some_and(|a| a.assigns(name) && index.mentions(a.id(), |word| word == "items"));
        assigned || receiver.is_some_and(|r| index.text_of(r) == name)
    })
}

/// The statement of a block that contains, or is, a node.
fn statement(file: FileInProject<'_, '_>, node: Id) -> Option<Id> {
    let (index, k) = (&file.view.index, kinds());
    let is_block = |id: Id| index.parent(id).is_none_or(|p| [k.block, k.module].contains(&index.kind(p)));
    std::iter::once(node).chain(index.ancestors(node)).find(|id| is_block(*id))
}

/// Whether a call is one of these functions or methods, by the last part of its name.
fn is_call_of(file: FileInProject<'_, '_>, call: Id, names: &[&str]) -> bool {
    called_name(&file.view.index, call).is_some_and(|name| names.contains(&name))
}

#[cfg(test)]
mod tests;
