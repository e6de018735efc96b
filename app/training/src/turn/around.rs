//! The code around the iterations of a loop: clearing, a gradient scaler's bookkeeping, and code that reads the weights
//! or replaces them.

use super::Turn;
use crate::roles::Role;
use crate::step::{host_uses, is_statement, outermost_without};
use crate::words::HOST_READS;
use python::names::dotted;
use python::tree::Id;
use sorting::SortedSet;

impl Turn<'_, '_> {
    /// Statements that clear gradients.
    pub fn clears(&self) -> SortedSet<Id> {
        self.statements_of("zero_grad", &[Role::Optimizer, Role::Model]).into_iter().collect()
    }

    /// Statements of a gradient scaler's bookkeeping, and the one that creates it if nothing else uses it.
    pub fn scaler_statements(&self) -> SortedSet<Id> {
        let file = self.step.file;
        let index = &file.view.index;
        let of_scaler = |name| self.statements_of(name, &[Role::Scaler]);
        let mut out: SortedSet<Id> = of_scaler("update").into_iter().chain(of_scaler("unscale_")).collect();
        let made = file.calls("GradScaler").first().and_then(|made| index.assignment(index.parent(*made)?));
        if let Some((made, name)) = made.and_then(|a| Some((a.id(), dotted(index, a.target()?)?))) {
            let parts = [self.update, self.step.backward, made];
            let goes = |id: Id| out.iter().chain(&parts).any(|gone| index.is_within(id, *gone));
            let last = name.rsplit('.').next().unwrap_or(name);
            let mut mentions = file.identifiers(last).iter().filter_map(|id| {
                let whole = if last == name { *id } else { index.parent(*id)? };
                index.is_text(whole, name).then_some(whole)
            });
            if mentions.all(goes) {
                out.extend(file.statement_of(made));
            }
        }
        out
    }

    /// Statements that read the model's weights, or replace them on the host. `made` is the call that creates the
    /// optimizer: in a script for the target alone, earlier statements belong to building the model.
    pub fn weight_uses(&self, made: Option<Id>) -> SortedSet<Id> {
        let (file, whole) = (self.step.file, self.step.whole);
        let index = &file.view.index;
        let is_model = |id: Id| dotted(index, id).is_some() && file.role(id) == Some(Role::Model);
        let states = file.calls("state_dict").iter().chain(file.calls("load_state_dict")).copied();
        let of_model = states.filter(|c| index.receiver(*c).is_some_and(is_model));
        let is_given = |call: &Id| index.arguments(*call).ids().next().is_some_and(is_model);
        let saves = file.calls("save").iter().copied().filter(is_given);
        let made = made.unwrap_or(whole);
        let other_modes = file.project.has_compute_modes();
        let is_behind = |c: &Id| *c > made || file.function_of(*c) != file.function_of(made);
        let reads = HOST_READS.iter().flat_map(|name| file.calls(name)).copied().filter(|call| {
            let whole = index.receiver(*call).filter(|of| dotted(index, *of).is_some());
            std::iter::successors(whole, |part| index.owner(*part)).skip(1).any(is_model)
        });
        let reached =
            of_model.chain(saves).chain(reads).filter(|c| if other_modes { file.is_reached(*c) } else { is_behind(c) });
        let mut out: SortedSet<Id> = reached.filter_map(|c| file.statement_of(c)).collect();
        if !other_modes {
            out.extend(host_uses(file, whole).filter_map(|call| outermost_without(&file, call, whole)));
        }
        out
    }

    /// Method calls that are statements, on something with one of these roles.
    fn statements_of(&self, name: &str, roles: &[Role]) -> Vec<Id> {
        let file = self.step.file;
        let index = &file.view.index;
        let is_one = |call: &Id| {
            let role = index.receiver(*call).and_then(|object| file.role(object));
            is_statement(&file, *call) && self.step.is_alive(*call) && role.is_some_and(|r| roles.contains(&r))
        };
        file.calls(name).iter().copied().filter(is_one).filter_map(|call| file.statement_of(call)).collect()
    }
}
