//! Calls of a model.

use super::calls::qualified;
use crate::project::FileInProject;
use crate::roles::Role;
use python::names::{called_name, dotted};
use python::tree::{Id, kinds};

/// Whether a call runs a model. A loss can be a module too, and is none.
pub fn is_model_call(file: FileInProject<'_, '_>, call: Id) -> bool {
    file.index.callee(call).is_some_and(|g| {
        let lower = dotted(&file.index, g).unwrap_or("loss").to_ascii_lowercase();
        let last = lower.rsplit('.').next().unwrap_or("");
        let is_loss = last.contains("loss") || last.contains("criteri");
        !is_loss && file.role(g) == Some(Role::Model)
    })
}

/// Whether a node stands in the class of a module: there calls of layers are no calls of the model.
pub fn in_model(file: FileInProject<'_, '_>, id: Id) -> bool {
    file.class_of(id).is_some_and(|c| file.project.is_model(file.name_of(c)))
}

/// Every call of a model in a file, outside the classes of models.
pub fn model_calls<'v>(file: FileInProject<'v, '_>) -> impl Iterator<Item = Id> + 'v {
    file.view.index.of_kind(kinds().call).iter().copied().filter(move |call| {
        // `Net()` makes a model, and `self.init_network()` is a method; `G = Net()` makes `G` a model that is called.
        let is_made = |n: &str| {
            let makes = |value: Id| file.index.kind(value) == kinds().call;
            file.index.assignments().any(|a| a.assigns(n) && a.value().is_some_and(makes))
        };
        let makes = called_name(&file.index, *call).is_some_and(|n| {
            let is_class = n.starts_with(|c: char| c.is_ascii_uppercase()) && !is_made(n);
            is_class || file.defines(n)
        });
        // `model = factory(8)` makes one, too, if `model` is called.
        let target = file.index.parent(*call).and_then(|p| file.index.assignment(p)).and_then(|a| a.target());
        let is_called = |text: &str| {
            let mut callees = file.index.of_kind(kinds().call).iter().filter_map(|c| file.index.callee(*c));
            callees.any(|callee| file.index.text_of(callee) == text)
        };
        let makes = makes || target.is_some_and(|target| is_called(file.index.text_of(target)));
        let of_torch = qualified(&file, *call).is_some_and(|q| q.starts_with("torch."));
        !makes && !of_torch && is_model_call(file, *call) && !in_model(file, *call)
    })
}
