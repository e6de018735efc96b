//! `validation-no-grad`: validation steps and loops run under `torch.no_grad()`.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::roles::Role;
use crate::facts::steps::names_validation;
use crate::names::called_name;
use crate::tree::{Id, fields, kinds};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    // A model that differentiates by itself, for forces say, needs its gradients in validation too.
    if view.names.is_of_other_framework() || view.differentiates().is_some() {
        return Vec::new();
    }
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut wishes = Vec::new();
    for &function in &view.steps.validation {
        let forwards = forwards(input, view, function);
        // A test class, a nested definition or a method without a forward pass validates nothing.
        if forwards.is_empty() || forwards.iter().any(|c| without_gradients(view, *c)) {
            continue;
        }
        if !evaluates(view, function, &forwards) || trains(view, function) || input.project.is_lightning(view, function)
        {
            continue;
        }
        let Some(body) = index.field(function, f.body) else { continue };
        let (block, first) = descend(view, body, &forwards);
        wishes.extend(wrap(view, block, first));
    }
    for &step in &view.steps.training {
        for &loop_ in index.of_kind_in(k.for_statement, step) {
            let over = index.field(loop_, f.right).map_or("", |r| index.text_of(r));
            let words = over.replace(|c: char| !c.is_alphanumeric(), "_");
            let trains = view.calls("backward").iter().any(|c| index.is_within(*c, loop_));
            if trains || !names_validation(&words) {
                continue;
            }
            let forwards = forwards(input, view, loop_);
            if forwards.is_empty() || forwards.iter().any(|c| without_gradients(view, *c)) {
                continue;
            }
            wishes.push(wish(view, loop_, loop_));
        }
    }
    wishes
}

/// Whether a function evaluates and does not only hand on what the model says: it sets the model to evaluation, or it
/// runs it in a loop.
fn evaluates(view: &FileView<'_>, function: Id, forwards: &[Id]) -> bool {
    let k = kinds();
    let index = &view.index;
    view.calls("eval").iter().any(|c| index.is_within(*c, function))
        || forwards
            .iter()
            .any(|c| index.ancestors(*c).take_while(|a| *a != function).any(|a| index.kind(a) == k.for_statement))
}

/// Whether a function trains, by itself or through one that it calls.
fn trains(view: &FileView<'_>, function: Id) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    // Gradients of the input are an answer, too.
    let wants_gradients = index
        .of_kind_in(k.identifier, function)
        .iter()
        .any(|i| matches!(index.text_of(*i), "requires_grad" | "requires_grad_" | "grad" | "autograd"));
    wants_gradients
        || index.of_kind_in(k.call, function).iter().any(|call| {
            let Some(name) = called_name(index, *call) else { return false };
            // `net.train()` and `net.train(False)` only switch.
            let switches = index.field(*call, f.function).is_some_and(|g| index.kind(g) == k.attribute)
                && index.field(*call, f.arguments).is_none_or(|a| index.parts(a).count() < 2);
            (name.starts_with("train") && !(name == "train" && switches))
                || matches!(name, "backward" | "fit" | "zero_grad")
                || index
                    .field(*call, f.function)
                    .and_then(|g| view.names.qualify(index, g))
                    .is_some_and(|q| q.starts_with("torch.optim."))
        })
}

/// Calls of the model.
fn forwards(input: &Input<'_, '_>, view: &FileView<'_>, within: Id) -> Vec<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    index
        .of_kind_in(k.call, within)
        .iter()
        .copied()
        .filter(|call| {
            let named = called_name(index, *call)
                .is_some_and(|n| n == "forward" || n.starts_with("forward_") || n.ends_with("_forward"));
            let model = index.field(*call, f.function).is_some_and(|function| {
                (index.kind(function) == k.identifier || index.kind(function) == k.attribute)
                    && input.project.role(view, function) == Some(Role::Model)
            });
            // `Net()` makes a model, `net()` runs it.
            let makes = called_name(index, *call).is_some_and(|n| n.starts_with(|c: char| c.is_ascii_uppercase()));
            (named || model) && !makes
        })
        .collect()
}

/// Whether gradients are off around a node already: by a block or by a decorator.
fn without_gradients(view: &FileView<'_>, id: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let off = |text: &str| ["no_grad", "inference_mode", "set_grad_enabled"].iter().any(|w| text.contains(w));
    index.ancestors(id).any(|a| {
        let kind = index.kind(a);
        if kind == k.with_statement {
            index.children(a).filter(|c| index.kind(*c) == k.with_clause).any(|c| off(index.text_of(c)))
        } else if kind == k.decorated_definition {
            index.children(a).filter(|c| index.kind(*c) == k.decorator).any(|c| off(index.text_of(c)))
        } else {
            false
        }
    }) || view
        .function_of(id)
        .is_some_and(|function| view.calls("set_grad_enabled").iter().any(|c| index.is_within(*c, function) && *c < id))
}

/// The innermost block that holds every forward pass, through `if`s without `else` and `with`s.
fn descend(view: &FileView<'_>, body: Id, forwards: &[Id]) -> (Id, Id) {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut block = body;
    loop {
        let holding: Vec<Id> =
            index.parts(block).filter(|s| forwards.iter().any(|c| index.is_within(*c, *s))).collect();
        let Some(&first) = holding.first() else { return (block, block) };
        let last = index.parts(block).last() == Some(first);
        let plain_if = index.kind(first) == k.if_statement && index.field(first, f.alternative).is_none();
        let inner = match holding.as_slice() {
            [only] if plain_if => index.field(*only, f.consequence),
            [only] if index.kind(*only) == k.with_statement && last => index.field(*only, f.body),
            _ => None,
        };
        match inner {
            Some(inner) if forwards.iter().all(|c| index.is_within(*c, inner)) => block = inner,
            _ => return (block, first),
        }
    }
}

fn wrap(view: &FileView<'_>, block: Id, first: Id) -> Option<Wish> {
    let k = kinds();
    let index = &view.index;
    let mut statements: Vec<Id> = index.parts(block).filter(|s| *s >= first).collect();
    while let Some(last) = statements.last()
        && statements.len() > 1
        && ((index.kind(*last) == k.return_statement && index.parts(*last).next().is_none())
            || index.kind(*last) == k.pass_statement)
    {
        statements.pop();
    }
    statements.last().map(|last| wish(view, first, *last))
}

fn wish(view: &FileView<'_>, first: Id, last: Id) -> Wish {
    let (header, imports) = match view.names.spelling(&view.index, first, "torch.no_grad") {
        Some(name) => (format!("with {name}():"), Vec::new()),
        None => ("with torch.no_grad():".to_owned(), vec!["import torch".to_owned()]),
    };
    Wish { at: view.index.item(first).start, changes: vec![Change::Wrap { first, last, header }], imports }
}
