//! What changes the learning rate: schedulers, and rates that are assigned.

use crate::project::FileInProject;
use crate::roles::Role;
use python::tree::{Id, kinds};
use std::collections::BTreeSet;

/// What changes the learning rate in a file.
pub struct Schedules<'t> {
    /// Steps of schedulers: the call and the scheduler, as the program writes it.
    pub steps: Vec<(Id, &'t str)>,
    /// Statements that assign a rate, `for group in optimizer.param_groups: group["lr"] = rate` as a whole, with the optimizer.
    pub assigned: Vec<(Id, &'t str)>,
}

/// Reads the schedules of a file.
pub fn schedules<'t>(file: FileInProject<'_, 't>) -> Schedules<'t> {
    let k = kinds();
    let index = &file.view.index;
    let step = |call: Id| {
        let object = file.index.receiver(call)?;
        (file.role(object) == Some(Role::Scheduler)).then(|| (call, index.text_of(object)))
    };
    let steps = file.calls("step").iter().copied().filter_map(step).collect();
    let mut assigned = Vec::new();
    let mut told: BTreeSet<Id> = BTreeSet::new();
    for &assignment in index.of_kind(k.assignment).iter().chain(index.of_kind(k.augmented_assignment)) {
        let Some(left) = index.target(assignment).filter(|l| index.kind(*l) == k.subscript) else { continue };
        let text = index.text_of(left);
        if !(text.ends_with("[\"lr\"]") || text.ends_with("['lr']")) {
            continue;
        }
        let around = index.ancestors(assignment).find(|a| {
            index.kind(*a) == k.for_statement
                && index.source(*a).is_some_and(|r| index.text_of(r).ends_with(".param_groups"))
        });
        let groups = around.and_then(|a| index.source(a)).map_or(text, |r| index.text_of(r));
        let Some((owner, _)) = groups.split_once(".param_groups") else { continue };
        if let Some(statement) = around.or_else(|| file.statement_of(assignment)).filter(|s| told.insert(*s)) {
            assigned.push((statement, owner));
        }
    }
    Schedules { steps, assigned }
}

/// Whether a statement is a step of a scheduler.
pub fn steps_scheduler(file: FileInProject<'_, '_>, statement: Id) -> bool {
    file.calls("step").iter().any(|c| {
        file.statement_of(*c) == Some(statement)
            && file.index.receiver(*c).is_some_and(|o| file.role(o) == Some(Role::Scheduler))
    })
}
