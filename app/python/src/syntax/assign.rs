//! Assignments.

use super::view;
use crate::tree::{Id, Index, fields, kinds};

view!(
    /// `target = value`, `target: type = value`; not `target += value`.
    Assign, assignment, assignment, assignments
);

impl<'t> Assign<'_, 't> {
    /// The target: a name, an attribute, an item, or a list of targets.
    pub fn target(self) -> Option<Id> {
        self.field(fields().left)
    }

    /// The value; none for a bare annotation.
    pub fn value(self) -> Option<Id> {
        self.field(fields().right)
    }

    /// Target and value, if there are both.
    pub fn sides(self) -> Option<(Id, Id)> {
        self.target().zip(self.value())
    }

    /// The annotation.
    pub fn annotation(self) -> Option<Id> {
        self.field(fields().r#type)
    }

    /// Whether the target has exactly this text: `self.model`.
    pub fn assigns(self, target: &str) -> bool {
        self.target().is_some_and(|t| self.index.text_of(t) == target)
    }

    /// What it assigns to a name, also where the name and the value each have their place in a list: `2` for `b` of `a, b = 1, 2`.
    pub fn value_of(self, name: &str) -> Option<Id> {
        if self.assigns(name) {
            return self.value();
        }
        let (k, index) = (kinds(), self.index);
        let at = self.targets().into_iter().position(|target| index.text_of(target) == name)?;
        let value = self.value().filter(|value| [k.expression_list, k.tuple].contains(&index.kind(*value)))?;
        index.parts(value).nth(at)
    }

    /// The names of a target that unpacks, `a` and `b` of `a, b = …`; otherwise the target itself.
    pub fn targets(self) -> Vec<Id> {
        let k = kinds();
        let Some(target) = self.target() else { return Vec::new() };
        if [k.pattern_list, k.tuple_pattern].contains(&self.index.kind(target)) {
            self.index.parts(target).collect()
        } else {
            vec![target]
        }
    }
}

impl<'t> Index<'t> {
    /// Assignments whose target has exactly this text, in the order of the text.
    pub fn assignments_to<'i>(&'i self, target: &str) -> impl Iterator<Item = Assign<'i, 't>> + use<'i, 't> {
        let all = self.bindings(target).iter().filter_map(|id| self.assignment(*id));
        // Not those that unpack into it.
        all.filter(|assignment| assignment.target().is_some_and(|target| !self.is_unpacking(target)))
    }

    /// Target and value of an assignment.
    pub fn sides(&self, assignment: Id) -> Option<(Id, Id)> {
        self.assignment(assignment)?.sides()
    }
}
