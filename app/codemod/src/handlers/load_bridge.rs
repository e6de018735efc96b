//! `load-bridge`, branch style: imports the target's bridge under the project's test, as soon as the trainer knows its compute mode,
//! so that no other import of the target's modules comes before.

use super::{Handler, Input, Wish};
use crate::condition::{Situation, Type, imports, nodes_of_type};
use crate::definitions::{BlockShape, Values, messages};
use python::edit::Change;
use training::FileInProject;

messages! {
    bridge_not_loaded(sdk);
}

pub(super) const HANDLER: Handler = Handler {
    messages: MESSAGES,
    blocks: &[
        BlockShape { name: "load_bridge_in_class", fills: &["guard"] },
        BlockShape { name: "set_up_bridge", fills: &[] },
        BlockShape { name: "load_bridge", fills: &[] },
    ],
    ..Handler::new("load-bridge", run)
};

fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let (Some(view), Some(modes)) = (input.view, &input.project.modes) else { return Vec::new() };
    let Some(bridge) = &input.settings.target.bridge else { return Vec::new() };
    if view.steps.training.is_empty() || imports(view, &bridge.module) {
        return Vec::new();
    }
    let importing_os = |wish: Wish| vec![wish.importing("import os")];
    for &step in &view.steps.training {
        let Some(class) = view.class_of(step) else { continue };
        let Some(statement) = modes.known_behind(view, &input.project.classes, class) else { continue };
        let Some(guard) = modes.guard_at(view, &input.project.classes, statement) else { continue };
        let values = Values::default().text("guard", guard);
        let Some(text) = input.block_at(view, statement, "load_bridge_in_class", &values) else {
            input.note(view, statement, bridge_not_loaded(&input.settings.sdk));
            return Vec::new();
        };
        return importing_os(Wish::new(view, statement, vec![Change::Insert { at: statement, after: true, text }]));
    }
    // No class stores it: the module does, and other machines skip the import.
    let situation = Situation::of_file(FileInProject { view, project: input.project }, input.settings);
    let first = nodes_of_type(&situation, &Type::FirstTorchImport).first().copied();
    let last = nodes_of_type(&situation, &Type::LastTorchImport).first().copied();
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    let block = |name: &str| input.block(view, name, &Values::default());
    let (Some(before), Some(after)) = (block("set_up_bridge"), block("load_bridge")) else {
        input.note(view, first, bridge_not_loaded(&input.settings.sdk));
        return Vec::new();
    };
    let changes = vec![
        Change::Insert { at: first, after: false, text: before },
        Change::Insert { at: last, after: true, text: format!("\n{after}") },
    ];
    importing_os(Wish::new(view, first, changes))
}
