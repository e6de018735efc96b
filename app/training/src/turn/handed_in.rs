//! A model and an optimizer that another file creates and passes to the step.

use super::Turn;
use crate::step::is_parameter;
use python::tree::{Id, kinds};
use sorting::SortedSet;

impl Turn<'_, '_> {
    /// The first statement of the function that trains, and the loop in it, if the function has the model and the optimizer
    /// from its start: as parameters, or as attributes of its object.
    pub fn handed_in(&self) -> Option<(Id, Id)> {
        let (k, file, whole) = (kinds(), self.step.file, self.step.whole);
        let index = &file.view.index;
        let is_text = |s: &Id| {
            index.kind(*s) == k.expression_statement && index.parts(*s).all(|part| index.kind(part) == k.string)
        };
        let is_given = |name: &str| is_parameter(&file, whole, name.split('.').next().unwrap_or(name));
        let model = index.text_of(index.callee(self.forward)?);
        let first = index.parts(index.function(whole)?.body()?).find(|s| !is_text(s))?;
        let around = self.step.around.filter(|around| index.is_within(*around, whole))?;
        (is_given(model) && is_given(self.step.optimizer)).then_some((first, around))
    }

    /// Statements with other calls of the model that are made during the loop, directly or by a function of the file.
    pub fn evaluated_within(&self, around: Id) -> SortedSet<Id> {
        let file = self.step.file;
        let within = |call: &Id| file.view.index.is_within(*call, around);
        let meets =
            |call: &Id| within(call) || file.function_of(*call).is_some_and(|f| file.callers(f).any(|c| within(&c)));
        self.others.iter().copied().filter(meets).filter_map(|call| file.statement_of(call)).collect()
    }
}
