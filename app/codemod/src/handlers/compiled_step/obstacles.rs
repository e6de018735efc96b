//! What the target can't compile and no rewriting changes, wherever it stands in the file.

use super::Input;
use super::messages as says;
use python::tree::kinds;
use training::step::{is_optional, qualified};
use training::{FileInProject, Obstacle};

/// All of it that the target comes to.
pub(super) fn obstacles(input: &Input<'_, '_>, file: FileInProject<'_, '_>) -> Vec<Obstacle> {
    let mut out: Vec<Obstacle> = Vec::new();
    for &call in file.index.of_kind(kinds().call) {
        let Some(name) = qualified(&file, call).filter(|_| file.is_reached(call)) else { continue };
        if let Some(optimizer) = missing_optimizer(input, &name) {
            out.push(says::optimizer_missing(optimizer).at(call));
        }
        // What is asked for first is off when one process is started.
        if input.lists("several_processes", &name)
            && !out.iter().any(|o| o.name == "several_processes")
            && !is_optional(&file, call)
            && file.project.modes.is_none()
        {
            out.push(says::several_processes().at(call));
        }
    }
    out
}

/// The class of an optimizer that the target has no counterpart of.
fn missing_optimizer<'n>(input: &Input<'_, '_>, name: &'n str) -> Option<&'n str> {
    let (package, kind) = name.rsplit_once('.')?;
    let is_class = kind.starts_with(|c: char| c.is_ascii_uppercase()) && !kind.contains("Schedule");
    let is_known = ["optimizers", "other_optimizers"].iter().any(|list| input.lists(list, name));
    (is_class && input.lists("optimizer_packages", package) && !is_known).then_some(kind)
}
