//! `validation-no-grad`: evaluation that records gradients goes under `torch.no_grad()`.

use super::{Input, Wish};
use python::edit::Change;
use training::evaluation::recorded_evaluations;

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let wish = |(first, last)| match view.names.spelling(&view.index, first, "torch.no_grad") {
        Some(name) => Wish::new(view, first, vec![Change::Wrap { first, last, header: format!("with {name}():") }]),
        None => Wish::new(view, first, vec![Change::Wrap { first, last, header: "with torch.no_grad():".to_owned() }])
            .importing("import torch"),
    };
    recorded_evaluations(input.project, view).into_iter().map(wish).collect()
}
