//! `keras-whole-batches`: arrays are truncated to a whole number of batches, because compiled models have fixed shapes.

use super::{Input, Wish};
use python::edit::Change;
use training::keras_batches::{UncutArray, uncut_arrays};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let number = |name: &str| input.settings.values.get(name).and_then(|v| v.parse::<u64>().ok()).unwrap_or(1);
    // A pipeline updates the weights once per several batches, and an execution ends with an update.
    let accumulation = if input.settings.is("pipeline", "on") { number("accumulation") } else { 1 };
    let cut = |UncutArray { name, group }: &UncutArray| format!("{name} = {name}[:len({name}) // {group} * {group}]");
    let places = uncut_arrays(view, &input.project.keras, number("replicas") * accumulation).into_iter();
    places
        .map(|(at, after, arrays)| {
            let lines: Vec<String> = arrays.iter().map(cut).collect();
            Wish::new(view, at, vec![Change::Insert { at, after, text: lines.join("\n") }])
        })
        .collect()
}
