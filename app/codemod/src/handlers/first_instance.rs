//! `first-instance-files`: only the first instance writes and removes files after a function's checkpoint, too.

use super::{Input, Wish};
use crate::definitions::{BlockShape, Values, messages};
use python::edit::Change;
use python::names::called_name;
use python::tree::{Id, kinds};
use training::FileView;
use training::files::{file_change, leaves_nothing};

messages! {
    every_instance_changes_file();
}

/// Functions and methods that write, rename or remove files.
pub(super) const CHANGE_FILES: &str = "functions_that_change_files";

/// The code for the other instances.
pub(super) const OTHERS_RETURN: BlockShape = BlockShape { name: "other_instances_return", fills: &[] };

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view.filter(|v| v.defines("is_first_instance")) else { return Vec::new() };
    let index = &view.index;
    let functions: Vec<&str> = input.settings.definitions.names(CHANGE_FILES).iter().map(|f| f.name.as_str()).collect();
    let mut wishes = Vec::new();
    for &save in view.calls("save_on_first_instance") {
        let Some(body) = view.function_of(save).and_then(|f| index.function(f)?.body()) else { continue };
        let Some(at) = index.parts(body).find(|s| index.is_within(save, *s)) else { continue };
        let rest: Vec<Id> = index.parts(body).filter(|s| *s > at).collect();
        let Some(change) = rest.iter().find_map(|s| file_change(view, *s, &functions)) else { continue };
        if rest.first().is_some_and(|s| index.mentions(*s, |name| name == "is_first_instance")) {
            continue;
        }
        if is_straight(input, view, save, at) && rest.iter().all(|s| leaves_nothing(view, *s)) {
            let text = input.block(view, OTHERS_RETURN.name, &Values::default());
            wishes.extend(text.map(|text| Wish::new(view, at, vec![Change::Insert { at, after: true, text }])));
        } else if called_name(index, change) != Some("open") {
            input.note(view, change, every_instance_changes_file());
        }
    }
    wishes
}

/// Whether the save is always performed when the function reaches its statement, for the target.
fn is_straight(input: &Input<'_, '_>, view: &FileView<'_>, save: Id, statement: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let modes = input.project.modes.as_ref();
    index.ancestors(save).take_while(|a| *a >= statement).all(|a| {
        let tests_mode = || modes?.tested(index, index.if_statement(a)?.condition()?);
        [k.expression_statement, k.block, k.argument_list, k.call].contains(&index.kind(a)) || tests_mode().is_some()
    })
}
