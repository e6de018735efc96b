//! Code that the target can't compile and that no rewriting changes, anywhere in the file.

use super::Input;
use super::messages as says;
use python::tree::{Id, kinds};
use training::step::{is_chosen, is_optional, optimizers_made, qualified};
use training::{FileInProject, Obstacle};

/// All such code that the target reaches.
pub(super) fn obstacles(input: &Input<'_, '_>, file: FileInProject<'_, '_>, steps: &[Id]) -> Vec<Obstacle> {
    let is_run = |id: Id| steps.iter().any(|step| file.is_reached_with(*step, id));
    let has_other = optimizers_made(&file).iter().any(|made| input.lists("optimizers", &made.qualified));
    let mut out: Vec<Obstacle> = Vec::new();
    for &call in file.index.of_kind(kinds().call) {
        let Some(name) = qualified(&file, call).filter(|_| is_run(call)) else { continue };
        // If a test chooses between optimizers, a missing one is reported and the step is still ported.
        let missing = missing_optimizer(input, &name).filter(|_| !has_other || !is_chosen(&file, call));
        out.extend(missing.map(|optimizer| says::optimizer_missing(optimizer).at(call)));
        // Code that runs only on request is not run by a single process.
        let joins = input.lists("several_processes", &name) && !file.project.has_compute_modes();
        if joins && !is_optional(&file, call) && !out.iter().any(|o| o.name == "several_processes") {
            out.push(says::several_processes().at(call));
        }
    }
    out
}

/// The class of an optimizer without a counterpart on the target.
fn missing_optimizer<'n>(input: &Input<'_, '_>, name: &'n str) -> Option<&'n str> {
    let (package, kind) = name.rsplit_once('.')?;
    let is_class = kind.starts_with(|c: char| c.is_ascii_uppercase()) && !kind.contains("Schedule");
    let is_known = ["optimizers", "other_optimizers"].iter().any(|list| input.lists(list, name));
    (is_class && input.lists("optimizer_packages", package) && !is_known).then_some(kind)
}
