//! `keras-steps-per-execution`: one execution runs an epoch's batches; a model is recompiled for the test's number.

use super::{Input, Wish};
use python::edit::{Change, Splice, appended_argument, dedent, spliced};
use python::lines::line_indent;
use python::tree::Id;
use training::FileView;
use training::keras_batches::compiled_models;

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let replicas = input.settings.values.get("replicas").map_or("1", String::as_str);
    let mut wishes = Vec::new();
    for model in compiled_models(view, &input.project.keras, replicas) {
        let Some((range, text)) = appended_argument(view, model.call, &keyword(&model.steps)) else { continue };
        let mut changes = vec![Change::Raw { range, text }];
        for (at, steps) in &model.others {
            changes.extend(compiled_anew(view, model.call, steps).map(|text| Change::Insert {
                at: *at,
                after: false,
                text,
            }));
        }
        let wish = Wish::new(view, model.call, changes);
        wishes.push(if model.steps.starts_with("math.") { wish.importing("import math") } else { wish });
    }
    wishes
}

fn keyword(steps: &str) -> String {
    format!("steps_per_execution={steps}")
}

/// The whole call with different steps, its lines dedented as far as possible.
fn compiled_anew(view: &FileView<'_>, call: Id, steps: &str) -> Option<String> {
    let index = &view.index;
    let (range, text) = appended_argument(view, call, &keyword(steps))?;
    let text = spliced(index.text, index.range(call), vec![Splice { range, text }]);
    Some(dedent(&text, line_indent(index.text, index.item(call).start)))
}
