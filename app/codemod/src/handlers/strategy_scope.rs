//! `strategy-scope`: everything that builds or runs a Keras model is put under one `with strategy.scope():`.

use super::{Input, Wish};
use python::edit::Change;
use python::tree::{Id, ROOT, kinds};
use training::FileView;
use training::keras::is_scope;

/// The target's strategies.
pub(super) const STRATEGIES: &str = "keras_strategies";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let Some(work) = input.project.keras.work(view) else { return Vec::new() };
    let Some(strategy) = strategy(input, view, work.first) else { return Vec::new() };
    let index = &view.index;
    let wrap = |first, header| Wish::new(view, first, vec![Change::Wrap { first, last: work.last, header }]);
    if !is_scope(view, work.first) {
        return vec![wrap(work.first, format!("with {strategy}.scope():"))];
    }
    // The scope is only there for the model: the code that runs the model is moved in after it.
    let block = index.parent(work.first).unwrap_or(ROOT);
    let behind = index.parts(block).find(|s| *s > work.first && *s <= work.last);
    behind.map(|first| wrap(first, String::new())).into_iter().collect()
}

/// The name to which a strategy of the target is assigned, if it can be read at a statement.
pub(super) fn strategy<'t>(input: &Input<'_, '_>, view: &FileView<'t>, at: Id) -> Option<&'t str> {
    let index = &view.index;
    let strategies = input.settings.definitions.names(STRATEGIES);
    let readable = |a: Id| view.function_of(a).is_none() || view.function_of(a) == view.function_of(at);
    index.assignments().filter(|a| a.id() < at && readable(a.id())).find_map(|a| {
        let (target, value) = a.sides()?;
        let makes_strategy = index.call(value)?.name().is_some_and(|n| strategies.iter().any(|s| s.name == n));
        let is_name = [kinds().identifier, kinds().attribute].contains(&index.kind(target));
        (makes_strategy && is_name).then(|| index.text_of(target))
    })
}
