//! `validation-no-grad`: evaluation that records gradients is put under `torch.no_grad()`.

use super::{Input, Wish};
use python::edit::Change;
use training::evaluation::{Recorded, recorded_evaluations};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let wish = |recorded| {
        let (Recorded::Function(at) | Recorded::Statements(at, _)) = recorded;
        let known = view.names.spelling(&view.index, at, "torch.no_grad");
        let name = known.as_deref().unwrap_or("torch.no_grad");
        let change = match recorded {
            Recorded::Function(at) => Change::Insert { at, after: false, text: format!("@{name}()") },
            Recorded::Statements(first, last) => Change::Wrap { first, last, header: format!("with {name}():") },
        };
        let wish = Wish::new(view, at, vec![change]);
        if known.is_some() { wish } else { wish.importing("import torch") }
    };
    recorded_evaluations(input.project, view).into_iter().map(wish).collect()
}
