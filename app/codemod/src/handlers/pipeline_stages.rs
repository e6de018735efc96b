//! `keras-pipeline-stages`: the layers of a model in contiguous stages of about equal size, if the program writes them
//! in sequence.

use super::{Input, Wish};
use crate::definitions::{BlockShape, Values};
use python::edit::Change;
use training::keras_layers::{layer_lists, layer_runs};

/// How a program assigns layers to stages itself: first the context of a stage, in full.
pub(super) const ASSIGNMENTS: &str = "pipeline_assignments";

/// The header of a stage's block, and the statement that assigns each layer of a list to its stage.
pub(super) const BLOCKS: &[BlockShape] = &[
    BlockShape { name: "pipeline_stage", fills: &["context", "number"] },
    BlockShape { name: "stages_of_layers", fills: &["model", "numbers"] },
];

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let stages = input.settings.values.get("stages").and_then(|s| s.parse::<usize>().ok()).unwrap_or(2);
    let assignments = input.settings.definitions.names(ASSIGNMENTS);
    let last_name = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let Some(context) = assignments.first().map(|a| a.name.as_str()) else { return Vec::new() };
    if assignments.iter().any(|a| !view.calls(&last_name(&a.name)).is_empty()) || stages < 2 {
        return Vec::new();
    }
    let mut wishes = Vec::new();
    for run in layer_runs(view).into_iter().filter(|run| run.len() >= stages) {
        let spelled = view.names.spelling(&view.index, run[0], context);
        let (package, inner) = context.split_once('.').unwrap_or_default();
        let name = spelled.as_deref().unwrap_or(inner);
        let stage = |n: usize| {
            let group = &run[run.len() * n / stages..run.len() * (n + 1) / stages];
            let values = Values::default().text("context", name).text("number", n.to_string());
            let header = input.block(view, BLOCKS[0].name, &values)?;
            Some(Change::Wrap { first: group[0], last: group[group.len() - 1], header })
        };
        let wish = Wish::new(view, run[0], (0..stages).filter_map(stage).collect());
        let head = inner.split('.').next().unwrap_or(inner);
        wishes.push(if spelled.is_some() { wish } else { wish.importing(&format!("from {package} import {head}")) });
    }
    for list in layer_lists(view).into_iter().filter(|list| list.layers >= stages) {
        let Some(at) = view.statement_of(list.call) else { continue };
        let numbers: Vec<String> = (0..list.layers).map(|n| (n * stages / list.layers).to_string()).collect();
        let values = Values::default().text("model", list.model).text("numbers", numbers.join(", "));
        let text = input.block(view, BLOCKS[1].name, &values);
        wishes.extend(text.map(|text| Wish::new(view, at, vec![Change::Insert { at, after: true, text }])));
    }
    wishes
}
