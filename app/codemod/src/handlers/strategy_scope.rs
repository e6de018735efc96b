//! `strategy-scope`: everything that builds or runs a Keras model stands under one `with strategy.scope():`.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::keras::is_scope;
use crate::names::called_name;
use crate::tree::{Id, fields, kinds};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let Some(work) = input.project.keras.work(view, input.project) else { return Vec::new() };
    let Some(strategy) = strategy(view, work.first) else { return Vec::new() };
    let index = &view.index;
    let wish = |first: Id, header: String| {
        vec![Wish {
            at: index.item(first).start,
            changes: vec![Change::Wrap { first, last: work.last, header }],
            imports: Vec::new(),
        }]
    };
    if !is_scope(view, work.first) {
        return wish(work.first, format!("with {strategy}.scope():"));
    }
    // The scope is there for the model alone: what runs the model moves in behind it.
    let block = index.parent(work.first).unwrap_or(crate::tree::ROOT);
    let behind = index.parts(block).find(|s| *s > work.first && *s <= work.last);
    behind.map_or_else(Vec::new, |first| wish(first, String::new()))
}

/// The name that a strategy of the target is assigned to, where it can be read at a statement.
fn strategy<'t>(view: &FileView<'t>, at: Id) -> Option<&'t str> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let function = view.function_of(at);
    index.of_kind(k.assignment).iter().filter(|a| **a < at).find_map(|a| {
        let (left, right) = (index.field(*a, f.left)?, index.field(*a, f.right)?);
        let made =
            index.kind(right) == k.call && matches!(called_name(index, right), Some("IPUStrategy" | "PopDistStrategy"));
        let reached = view.function_of(*a) == function || view.function_of(*a).is_none();
        (made && reached).then(|| index.text_of(left))
    })
}
