//! Code that changes the learning rate: schedulers, and assigned rates.

use super::calls::{is_statement, qualified};
use crate::project::FileInProject;
use crate::roles::Role;
use python::names::dotted;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// The statements and calls that change the learning rate in a file.
pub struct Schedules<'t> {
    /// Steps of schedulers: the call and the scheduler, as the program writes it.
    pub steps: Vec<(Id, &'t str)>,
    /// Calls that may change a rate, where nothing more is known: `plan.step()` of an unknown object, and
    /// `adjust_learning_rate(optimizer, epoch)` of another file.
    pub others: Vec<Id>,
    /// Statements that assign a rate, a whole `for group in optimizer.param_groups: group["lr"] = rate`, with the
    /// optimizer.
    pub assigned: Vec<(Id, &'t str)>,
}

/// Reads the schedules in a node.
pub fn schedules<'t>(file: FileInProject<'_, 't>, within: Id) -> Schedules<'t> {
    let k = kinds();
    let index = &file.view.index;
    // A call whose result is used is not a schedule: `x = noise_scheduler.step(noise, t, x)` samples.
    let step = |call: Id| {
        if !is_statement(&file, call) {
            return None;
        }
        let object = file.index.receiver(call)?;
        (file.role(object) == Some(Role::Scheduler)).then(|| (call, index.text_of(object)))
    };
    let steps =
        ["step", "step_update"].iter().flat_map(|name| file.calls_in(name, within)).copied().filter_map(step).collect();
    let calls = index.of_kind_in(k.call, within).iter().copied();
    let others = calls.filter(|call| may_change_rate(file, *call)).collect();
    let mut assigned = Vec::new();
    let mut told: SortedSet<Id> = SortedSet::new();
    for &assignment in [k.assignment, k.augmented_assignment].iter().flat_map(|kind| index.of_kind_in(*kind, within)) {
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
    Schedules { steps, others, assigned }
}

/// Whether a call may change the rate of an optimizer: `step()` of an object whose role is unknown, or a function of
/// another file that receives the optimizer and whose name mentions the rate.
fn may_change_rate(file: FileInProject<'_, '_>, call: Id) -> bool {
    let index = &file.view.index;
    let Some(call) = index.call(call).filter(|call| is_statement(&file, call.id())) else { return false };
    let Some(name) = call.name() else { return false };
    if let Some(object) = call.receiver().filter(|_| name == "step") {
        // A scheduler receives the epoch or a metric, if anything; an average of weights receives a model.
        let plain = |id: Id| dotted(index, id).is_some() && file.role(id) != Some(Role::Model);
        let own = index.is_text(object, "self") || file.defines("step");
        return !own
            && plain(object)
            && file.role(object).is_none()
            && call.arguments().ids().all(plain)
            && !is_profiler(file, object);
    }
    let mut words = name.split('_');
    let speaks = words.any(|word| ["lr", "rate", "schedule", "warmup"].contains(&word));
    speaks && !file.defines(name) && call.arguments().ids().any(|a| file.role(a) == Some(Role::Optimizer))
}

/// Whether a name is bound to PyTorch's profiler, by an assignment or by `with … as`.
fn is_profiler(file: FileInProject<'_, '_>, object: Id) -> bool {
    let index = &file.view.index;
    let name = index.text_of(object);
    let profiles =
        |value: Id| qualified(&file, value).is_some_and(|q| q.starts_with("torch.") && q.contains("profile"));
    let assigned = index.assignments_to(name).any(|a| a.value().is_some_and(profiles));
    let entered = index
        .with_statements()
        .flat_map(|with| with.items())
        .any(|item| index.mentions(item.id(), |word| word == name) && item.context().is_some_and(profiles));
    assigned || entered
}

/// Whether a statement is a step of a scheduler.
pub fn steps_scheduler(file: FileInProject<'_, '_>, statement: Id) -> bool {
    file.calls("step").iter().any(|c| {
        file.statement_of(*c) == Some(statement)
            && is_statement(&file, *c)
            && file.index.receiver(*c).is_some_and(|o| file.role(o) == Some(Role::Scheduler))
    })
}

#[cfg(test)]
mod tests {
    use super::{schedules, steps_scheduler};
    use crate::marked::{self, with_setup};
    use python::tree::ROOT;

    /// Steps of schedulers, calls that may change a rate, and statements that assign one.
    #[track_caller]
    fn check(rest: &str, steps: &str, others: &str, assigned: &str) {
        let made = "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n";
        marked::check(&with_setup(&format!("{made}{rest}\n")), [steps, others, assigned], |at| {
            let found = schedules(at.file(), ROOT);
            let ids = |found: Vec<(u32, &str)>| found.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
            [at.lines(ids(found.steps)), at.lines(found.others), at.lines(ids(found.assigned))]
        });
    }

    #[test]
    fn what_changes_the_learning_rate() {
        check("scheduler.step()", "scheduler.step()", "", "");
        check("x = noise_scheduler.step(noise, t, x)", "", "", "");
        check("plan.step(epoch)", "", "plan.step(epoch)", "");
        check("average.step(net)", "", "", "");
        check("optimizer.step()", "", "", "");
        check("adjust_learning_rate(optimizer, e)", "", "adjust_learning_rate(optimizer, e)", "");
        check("adjust_learning_rate(e)", "", "", "");
        let groups = "for group in optimizer.param_groups:\n    group['lr'] = 0.1";
        check(groups, "", "", "for group in optimizer.param_groups:");
        check("optimizer.param_groups[0]['lr'] *= 0.5", "", "", "optimizer.param_groups[0]['lr'] *= 0.5");
        check("logs['lr'] = 0.1", "", "", "");
    }

    #[test]
    fn a_profiler_is_no_schedule() {
        check("with torch.profiler.profile() as p:\n    p.step()", "", "", "");
    }

    #[test]
    fn a_statement_that_is_a_step_of_a_scheduler() {
        let check = |rest: &str, expected: bool| {
            marked::check(&with_setup(rest), expected, |at| {
                steps_scheduler(at.file(), at.file().statement_of(at.node()).expect("a statement"))
            });
        };
        check("scheduler.step()\n^^^^^^^^^^^^^^^^\n", true);
        check("a = scheduler.step()\n    ^^^^^^^^^^^^^^^^\n", false);
        check("optimizer.step()\n^^^^^^^^^^^^^^^^\n", false);
    }
}
