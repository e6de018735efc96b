//! Where a class gets its compute mode.

use super::Modes;
use crate::classes::Classes;
use crate::view::FileView;
use python::tree::Id;

impl Modes {
    /// The first statement of a class's constructor after which the mode can be read: `self` has its arguments by then.
    pub fn known_behind(&self, view: &FileView<'_>, classes: &Classes, class: Id) -> Option<Id> {
        let index = &view.index;
        let own = |f: &Id| view.class_of(*f) == Some(class);
        let init = index.functions().map(|f| f.id()).find(|f| own(f) && view.name_of(*f) == "__init__")?;
        let statements: Vec<Id> = index.parts(index.function(init)?.body()?).collect();
        let is_known = |(n, statement): &(usize, &Id)| {
            let Some(guard) = self.guard_at(view, classes, **statement) else { return false };
            let attribute = guard.strip_prefix("self.").and_then(|g| g.split('.').next());
            let next = statements.get(n + 1);
            attribute.zip(next).is_none_or(|(attribute, next)| initialised(view, init, *next, attribute))
        };
        statements.iter().enumerate().find(is_known).map(|(_, statement)| *statement)
    }
}

/// Whether `__init__` has set an attribute of `self` before a statement: by assignment or through a base class.
pub fn initialised(view: &FileView<'_>, init: Id, statement: Id, attribute: &str) -> bool {
    let index = &view.index;
    let before = |id: Id| index.is_within(id, init) && index.item(id).end <= index.item(statement).start;
    let name = format!("self.{}", attribute.split(['[', '(', ' ']).next().unwrap_or(attribute));
    index.assignments_to(&name).any(|a| before(a.id())) || view.calls("__init__").iter().any(|c| before(*c))
}
