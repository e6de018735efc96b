//! Calls of a model.

use super::calls::qualified;
use crate::project::FileInProject;
use crate::roles::Role;
use crate::words::MODULE_METHODS;
use python::names::{called_name, dotted};
use python::tree::{Id, kinds};

/// Whether a call runs a model. A loss can be a module too, and does not count; nor does a function of a package, such
/// as `sklearn.model_selection.train_test_split`.
pub fn is_model_call(file: FileInProject<'_, '_>, call: Id) -> bool {
    let callee = file.index.callee(call);
    callee.is_some_and(|g| {
        let lower = dotted(&file.index, g).unwrap_or("loss").to_ascii_lowercase();
        let last = lower.rsplit('.').next().unwrap_or("");
        let is_loss = last.contains("loss") || last.contains("criteri");
        !is_loss && file.role(g) == Some(Role::Model) && !of_package(file, call)
    })
}

/// The call in a node that runs a model by another method than `forward`: `model.score(x)`.
pub(crate) fn method_call<'t>(file: FileInProject<'_, 't>, within: Id) -> Option<(Id, &'t str)> {
    let index = &file.view.index;
    index.of_kind_in(kinds().call, within).iter().copied().find_map(|call| {
        let name = called_name(index, call).filter(|name| !MODULE_METHODS.contains(name))?;
        let model = index.receiver(call).filter(|model| dotted(index, *model).is_some())?;
        let is_run = file.role(model) == Some(Role::Model) && !index.arguments(call).is_empty();
        (is_run && !of_package(file, call)).then_some((call, name))
    })
}

/// The models that a call passes to a function of another file, if that function only computes: `render(model, rays)`.
pub(crate) fn models_handed(file: FileInProject<'_, '_>, call: Id) -> Vec<Id> {
    let index = &file.view.index;
    let callee = index.callee(call);
    let name =
        callee.filter(|callee| file.names.qualify(index, *callee).is_some()).and_then(|_| called_name(index, call));
    let computes = name.is_some_and(|name| file.project.computing.contains(name) && !file.defines(name));
    if !computes || of_package(file, call) {
        return Vec::new();
    }
    let values = index.arguments(call).ids().map(|a| index.keyword_name(a).and_then(|_| index.value(a)).unwrap_or(a));
    values.filter(|id| dotted(index, *id).is_some() && file.role(*id) == Some(Role::Model)).collect()
}

/// Whether a call is `module.function()`, with an imported module that is not a file of the project; `from . import`
/// imports such files.
pub(crate) fn of_package(file: FileInProject<'_, '_>, call: Id) -> bool {
    let index = &file.view.index;
    let head = qualified(&file, call).and_then(|q| q.split('.').next().map(str::to_owned));
    index.callee(call).is_some_and(|callee| index.kind(callee) == kinds().attribute)
        && head.is_some_and(|head| !head.is_empty() && !file.project.places.contains(&head))
}

/// Whether a node is in the class of a module: calls of layers there are not calls of the model.
pub fn in_model(file: FileInProject<'_, '_>, id: Id) -> bool {
    file.class_of(id).is_some_and(|c| file.project.is_model(file.name_of(c)))
}

/// Every call of a model in a file, outside the classes of models.
pub fn model_calls<'v>(file: FileInProject<'v, '_>) -> impl Iterator<Item = Id> + 'v {
    let of_torch = move |call: Id| qualified(&file, call).is_some_and(|q| q.starts_with("torch."));
    file.view.index.of_kind(kinds().call).iter().copied().filter(move |&call| {
        // The query over the whole file comes last: few calls get that far.
        is_model_call(file, call) && !of_torch(call) && !in_model(file, call) && !makes_model(file, call)
    })
}

/// Whether a call creates a model instead of running one. `Net()` does, unless `Net` is assigned a call: `G = Net()`
/// makes `G` a model that is called. So does a function of the file, such as `self.init_network()`, and
/// `model = factory(8)`, if `model` is called.
fn makes_model(file: FileInProject<'_, '_>, call: Id) -> bool {
    let index = &file.view.index;
    let makes = called_name(index, call).is_some_and(|name| {
        let is_call = |value: Id| index.kind(value) == kinds().call;
        let is_made = || index.assignments_to(name).any(|a| a.value().is_some_and(is_call));
        file.defines(name) || (name.starts_with(|c: char| c.is_ascii_uppercase()) && !is_made())
    });
    let target = index.parent(call).and_then(|p| index.assignment(p)).and_then(|a| a.target());
    makes
        || target.is_some_and(|target| {
            index.calls().any(|c| c.callee().is_some_and(|g| index.is_text(g, index.text_of(target))))
        })
}

#[cfg(test)]
mod tests {
    use super::{method_call, model_calls, models_handed};
    use crate::marked::{self, with_setup};
    use python::tree::ROOT;

    #[test]
    fn calls_that_run_a_model() {
        let check = |rest: &str, expected: &str| {
            marked::check(&with_setup(rest), expected, |at| at.lines(model_calls(at.file())));
        };
        check("y = net(x)\n", "net(x)");
        check("class A(nn.Module):\n    def forward(self, x):\n        return self.net(x)\n", "");
        check("class Net(nn.Module):\n    pass\nG = Net()\nG(x)\n", "G(x)");
        check("loss_model(x)\n", "");
        check("from sklearn import model_selection\nmodel_selection.split(x)\n", "");
    }

    #[test]
    fn a_method_that_runs_a_model() {
        let check = |rest: &str, expected: &str| {
            marked::check(&with_setup(rest), expected, |at| {
                at.lines(method_call(at.file(), ROOT).map(|found| found.0))
            });
        };
        check("a = net.score(x)\n", "net.score(x)");
        check("a = net.score()\n", "");
        check("a = net.load_state_dict(x)\n", "");
        check("a = x.score(y)\n", "");
    }

    #[test]
    fn a_model_that_a_function_of_another_file_runs() {
        let check = |body: &str, expected: &str| {
            let file = format!("#- draw.py\ndef render(net, x):\n    {body}\n    return y\n#- train.py\n");
            let rest = "from draw import render\nrender(net, x)\n^^^^^^^^^^^^^^\n";
            marked::check(&format!("{file}{}", with_setup(rest)), expected, |at| {
                at.lines(models_handed(at.file(), at.node()))
            });
        };
        check("y = net(x)", "net");
        check("y = net(x).item()", "");
    }
}
