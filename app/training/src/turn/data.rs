//! Loaders and data sets that a program creates before its optimizer.

use crate::FileInProject;
use crate::roles::Role;
use python::tree::{Id, kinds};

/// Statements that create loaders and data sets above a statement of the same block, in runs of first and last.
/// Statements that something else above it needs are excluded.
pub fn data_above(file: FileInProject<'_, '_>, statement: Id) -> Vec<(Id, Id)> {
    let index = &file.view.index;
    let Some(block) = index.parent(statement) else { return Vec::new() };
    let above: Vec<Id> = index.parts(block).filter(|s| *s < statement).collect();
    let targets = |s: Id| {
        let assignment = index.parts(s).next().and_then(|a| index.assignment(a));
        assignment.map_or_else(Vec::new, |a| a.targets())
    };
    let is_data = |s: Id| {
        let names = targets(s);
        !names.is_empty() && names.iter().all(|n| matches!(file.role(*n), Some(Role::Loader | Role::Dataset)))
    };
    let words = |id: Id| index.of_kind_in(kinds().identifier, id).iter().map(|i| index.text_of(*i));
    let mut data: Vec<Id> = above.iter().copied().filter(|s| is_data(*s)).collect();
    // A statement that a remaining one needs stays, too.
    loop {
        let stays = above.iter().chain(std::iter::once(&statement)).filter(|s| !data.contains(s));
        let stays: Vec<&str> = stays.flat_map(|s| words(*s)).collect();
        let is_needed = |s: &Id| targets(*s).into_iter().flat_map(words).any(|n| n != "self" && stays.contains(&n));
        match data.iter().position(is_needed) {
            Some(n) => {
                data.remove(n);
            }
            None => break,
        }
    }
    let mut runs: Vec<(Id, Id)> = Vec::new();
    for pair in std::iter::once(None).chain(above.iter().map(Some)).zip(&above) {
        match (pair, runs.last_mut()) {
            ((_, s), _) if !data.contains(s) => {}
            ((Some(previous), s), Some(run)) if run.1 == *previous => run.1 = *s,
            ((_, s), _) => runs.push((*s, *s)),
        }
    }
    runs
}
