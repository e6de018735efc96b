//! Messages about parts of a step that are in a different file than the rest.

use super::Input;
use super::messages::{self as says, DEFINITIONS};
use python::names::called_name;
use python::tree::{Id, kinds};
use training::roles::Role;
use training::step::{arguments, qualified};
use training::{FileInProject, FileView};

/// A loop that clears gradients and passes its loss to a function of another file.
pub(super) fn note_step(input: &Input<'_, '_>, file: FileInProject<'_, '_>) {
    let index = &file.index;
    let clears = file.calls("zero_grad").iter().copied().find(|c| {
        file.index.receiver(*c).is_some_and(|o| file.role(o) == Some(Role::Optimizer))
            && index.ancestors(*c).any(|a| index.kind(a) == kinds().for_statement)
            && file.is_reached(*c)
    });
    if let Some(call) = clears {
        input.refuse_step(file.view, call, says::step_elsewhere());
    }
}

/// An optimizer of the compiled step of a kind that the target can't compile.
pub(super) fn note_own_optimizers(input: &Input<'_, '_>, view: &FileView<'_>) {
    let index = &view.index;
    // After the step's own class, if a file has several.
    let given = |call: &Id| {
        let mut given = arguments(view, *call).into_iter().map(|o| index.text_of(o));
        given.find(|name| !view.defines(name))
    };
    let defined = input.settings.definitions.defined_by(DEFINITIONS);
    let compiled: Vec<&str> = defined.iter().flat_map(|name| view.calls(name)).filter_map(given).collect();
    for &assignment in index.of_kind(kinds().assignment) {
        let named = index.target(assignment).is_some_and(|l| compiled.contains(&index.text_of(l)));
        let Some(made) = index.source(assignment).filter(|_| named) else { continue };
        let Some(kind) = index.callee(made).map(|g| index.text_of(g)) else { continue };
        let full = qualified(view, made).unwrap_or_default();
        let is_class = called_name(index, made).is_some_and(|n| n.starts_with(char::is_uppercase));
        let head = full.trim_start_matches('.').split('.').next().unwrap_or_default();
        let is_own = input.settings.target.modules.iter().any(|module| module == head);
        let is_file = |path: &str| path.split(['/', '\\']).any(|part| part.strip_suffix(".py").unwrap_or(part) == head);
        let is_function = full.is_empty() && !view.assigns(kind);
        let of_project = is_function || view.defines(head) || input.files.iter().any(|(path, _)| is_file(path));
        // Other files do not change while a step is left.
        let of_project = of_project && (view.defines(kind) || !input.project.step_is_left);
        if is_class && !is_own && !full.starts_with("torch.optim.") {
            input.note(view, made, says::other_optimizer(kind));
        } else if !is_class && !is_own && !of_project {
            input.note(view, made, says::optimizer_by_helper(kind));
        }
    }
}
