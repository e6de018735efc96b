//! The origin of a compiled step's inputs: parts that train on the way to them would be cut off.

use super::calls::arguments;
use super::dataflow::{assigned, reads};
use crate::project::FileInProject;
use crate::roles::Role;
use python::PythonFile;
use python::names::called_name;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// A call before `first` of a model, or of something that receives one, from which an input of the step is computed,
/// and through which gradients would have to flow: `rec.forward(x)`, `odeint(func, x)`.
pub(crate) fn learns_before(
    file: FileInProject<'_, '_>,
    step: Id,
    first: Id,
    inputs: &[(String, String)],
) -> Option<Id> {
    let k = kinds();
    let index = &file.index;
    // An attribute is not a name: `batch.actions` reads `batch`.
    let words = |text: &str| -> Vec<String> {
        let names = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
        names.filter_map(|name| name.split('.').next()).map(str::to_owned).collect()
    };
    let mut wanted: SortedSet<String> = inputs.iter().flat_map(|(_, expression)| words(expression)).collect();
    let assignments: Vec<Id> = index
        .of_kind_in(k.assignment, step)
        .iter()
        .copied()
        .filter(|a| *a < first && !index.is_within(first, *a))
        .collect();
    // Backwards, so that a value's inputs are followed after the value.
    for assignment in assignments.into_iter().rev() {
        let Some(statement) = file.statement_of(assignment) else { continue };
        if !assigned(&file, statement).iter().any(|name| wanted.contains(*name)) || file.records_no_gradients(statement)
        {
            continue;
        }
        let calls = index.of_kind_in(k.call, statement).iter().copied();
        if let Some(call) = calls.filter(|c| !is_detached(&file, *c)).find(|c| runs_model(file, *c)) {
            return Some(call);
        }
        wanted.extend(reads(&file, statement).into_iter().map(|id| index.text_of(id).to_owned()));
    }
    None
}

/// `net(x)`, `net.forward(x)`, `odeint(net, x)`.
fn runs_model(file: FileInProject<'_, '_>, call: Id) -> bool {
    let index = &file.index;
    let is_model = |id: Id| file.role(id) == Some(Role::Model);
    let Some(function) = index.callee(call) else { return false };
    let by_forward = called_name(index, call) == Some("forward");
    let handed = arguments(&file, call).into_iter().any(is_model);
    is_model(function) || by_forward || handed
}

/// Whether the result of a call is detached from its gradients: `net(x).detach()`.
fn is_detached(file: &PythonFile<'_>, call: Id) -> bool {
    let index = &file.index;
    index.parent(call).and_then(|p| index.attribute(p)).is_some_and(|a| a.name() == Some("detach"))
}

#[cfg(test)]
mod tests {
    use super::learns_before;
    use crate::marked::{self, with_setup};

    /// The call before the marked statement, if any, through which gradients would have to flow to `z`.
    #[track_caller]
    fn check(made: &str, expected: &str) {
        let rest = "    loss = net(z).mean()\n    ^^^^^^^^^^^^^^^^^^^^\n    loss.backward()\n";
        let program = with_setup(&format!("encoder = nn.Linear(2, 2)\nfor x in loader:\n{made}\n{rest}"));
        marked::check(&program, expected, |at| {
            let inputs = [("z".to_owned(), "z".to_owned())];
            at.lines(learns_before(at.file(), at.whole(), at.node(), &inputs))
        });
    }

    #[test]
    fn a_model_on_the_way_to_an_input_learns() {
        check("    z = encoder(x)", "encoder(x)");
        check("    a = encoder(x)\n    z = a + 1", "encoder(x)");
        check("    z = solve(encoder, x)", "solve(encoder, x)");
        check("    z = x + 1", "");
        check("    a = encoder(x)\n    z = x + 1", "");
    }

    #[test]
    fn a_gradient_that_is_stopped() {
        check("    z = encoder(x).detach()", "");
        check("    with torch.no_grad():\n        z = encoder(x)", "");
        check("    with torch.set_grad_enabled(False):\n        z = encoder(x)", "");
        check("    with torch.set_grad_enabled(True):\n        z = encoder(x)", "encoder(x)");
    }

    #[test]
    fn a_gradient_that_is_stopped_under_another_name() {
        check("    off = torch.no_grad\n    with off():\n        z = encoder(x)", "");
    }
}
