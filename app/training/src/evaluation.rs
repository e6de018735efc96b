//! Where a program evaluates its model and records gradients that are not used.

use crate::gradients::{GradientMode, gradient_mode};
use crate::project::ProjectFacts;
use crate::roles::Role;
use crate::steps::names_validation;
use crate::view::FileView;
use python::names::called_name;
use python::tree::{Id, kinds};

/// What evaluates a model and records gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// A whole function.
    Function(Id),
    /// The first and the last of consecutive statements of one block.
    Statements(Id, Id),
}

/// What evaluates a model in a file and records gradients.
pub fn recorded_evaluations(project: &ProjectFacts<'_, '_>, view: &FileView<'_>) -> Vec<Recorded> {
    // A model that differentiates by itself, for example for forces, needs its gradients in validation too.
    if view.names.is_of_other_framework() || view.differentiates().is_some() {
        return Vec::new();
    }
    let k = kinds();
    let index = &view.index;
    let mut found = Vec::new();
    for &function in &view.steps.validation {
        let forwards = forwards(project, view, function);
        // A test class, a nested definition or a method without a forward pass validates nothing.
        if forwards.is_empty() || forwards.iter().any(|c| without_gradients(view, *c)) {
            continue;
        }
        if !evaluates(view, function, &forwards) || trains(view, function) || project.is_lightning(view, function) {
            continue;
        }
        let mut calls = view.callers(function).peekable();
        if calls.peek().is_some() && calls.all(|call| without_gradients(view, call)) {
            continue;
        }
        let Some(body) = index.body(function) else { continue };
        let (block, first) = innermost(view, body, &forwards);
        if block == body && takes_decorator(view, function) && is_plain_before(project, view, body, first) {
            found.push(Recorded::Function(function));
            continue;
        }
        found.extend(last_statement(view, block, first).map(|last| Recorded::Statements(first, last)));
    }
    for &step in &view.steps.training {
        for &loop_ in index.of_kind_in(k.for_statement, step) {
            let over = index.source(loop_).map_or("", |r| index.text_of(r));
            let words = over.replace(|c: char| !c.is_alphanumeric(), "_");
            let trains = !view.calls_in("backward", loop_).is_empty();
            if trains || !names_validation(&words) {
                continue;
            }
            let forwards = forwards(project, view, loop_);
            if !forwards.is_empty() && !forwards.iter().any(|c| without_gradients(view, *c)) {
                found.push(Recorded::Statements(loop_, loop_));
            }
        }
    }
    found
}

/// Whether a decorator can apply to the whole function: another decorator may have to come first, and the results of a
/// generator are used outside.
fn takes_decorator(view: &FileView<'_>, function: Id) -> bool {
    let k = kinds();
    let is_decorated = view.index.parent(function).is_some_and(|p| view.index.kind(p) == k.decorated_definition);
    // The decorator of a coroutine ends before the coroutine runs.
    let is_async = view.index.text_of(function).starts_with("async");
    !is_decorated && !is_async && view.index.of_kind_in(k.r#yield, function).is_empty()
}

/// Whether the model is not passed to anything before a statement: code that is not visible here may train it.
fn is_plain_before(project: &ProjectFacts<'_, '_>, view: &FileView<'_>, body: Id, first: Id) -> bool {
    let index = &view.index;
    let is_handed =
        |call: &Id| index.arguments(*call).ids().any(|argument| project.role(view, argument) == Some(Role::Model));
    let mut before = index.parts(body).take_while(|s| *s != first);
    before.all(|s| !index.of_kind_in(kinds().call, s).iter().any(is_handed))
}

/// Whether a function evaluates, rather than only returning the model's output: it sets the model to evaluation mode,
/// or it runs it in a loop.
fn evaluates(view: &FileView<'_>, function: Id, forwards: &[Id]) -> bool {
    let k = kinds();
    let index = &view.index;
    !view.calls_in("eval", function).is_empty()
        || forwards
            .iter()
            .any(|c| index.ancestors(*c).take_while(|a| *a != function).any(|a| index.kind(a) == k.for_statement))
}

/// Whether a function trains, directly or through a function that it calls.
fn trains(view: &FileView<'_>, function: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    // Gradients of the input are a result, too.
    let wants_gradients = index
        .of_kind_in(k.identifier, function)
        .iter()
        .any(|i| matches!(index.text_of(*i), "requires_grad" | "requires_grad_" | "grad" | "autograd"));
    wants_gradients
        || index.of_kind_in(k.call, function).iter().any(|call| {
            let Some(name) = called_name(index, *call) else { return false };
            // `net.train()` and `net.train(False)` only switch the mode.
            let switches = index.receiver(*call).is_some() && index.arguments(*call).len() < 2;
            (name.starts_with("train") && !(name == "train" && switches))
                || matches!(name, "backward" | "fit" | "zero_grad")
                || view.qualified(*call).is_some_and(|q| q.starts_with("torch.optim."))
        })
}

/// Calls of the model in a function or a loop; not those of a function in it, which runs elsewhere.
fn forwards(project: &ProjectFacts<'_, '_>, view: &FileView<'_>, within: Id) -> Vec<Id> {
    let k = kinds();
    let index = &view.index;
    let of_function = |id: Id| if index.kind(id) == k.function_definition { Some(id) } else { view.function_of(id) };
    index
        .of_kind_in(k.call, within)
        .iter()
        .copied()
        .filter(|call| {
            let named = called_name(index, *call)
                .is_some_and(|n| n == "forward" || n.starts_with("forward_") || n.ends_with("_forward"));
            let model = index.callee(*call).is_some_and(|function| {
                (index.kind(function) == k.identifier || index.kind(function) == k.attribute)
                    && project.role(view, function) == Some(Role::Model)
            });
            // `Net()` makes a model, `net()` runs it.
            let makes = called_name(index, *call).is_some_and(|n| n.starts_with(|c: char| c.is_ascii_uppercase()));
            (named || model) && !makes && view.function_of(*call) == of_function(within)
        })
        .collect()
}

/// Whether the program already decides around a node that gradients are not recorded.
fn without_gradients(view: &FileView<'_>, id: Id) -> bool {
    matches!(gradient_mode(view, id), Some(GradientMode::Off | GradientMode::AtRunTime))
}

/// The innermost block that contains every forward pass, through `if`s without `else` and `with`s.
fn innermost(view: &FileView<'_>, body: Id, forwards: &[Id]) -> (Id, Id) {
    let k = kinds();
    let index = &view.index;
    let mut block = body;
    loop {
        let holding: Vec<Id> =
            index.parts(block).filter(|s| forwards.iter().any(|c| index.is_within(*c, *s))).collect();
        let Some(&first) = holding.first() else { return (block, block) };
        let last = index.parts(block).last() == Some(first);
        let plain_if = index.is_plain_if(first);
        let inner = match holding.as_slice() {
            [only] if plain_if => index.consequence(*only),
            [only] if index.kind(*only) == k.with_statement && last => index.body(*only),
            _ => None,
        };
        match inner {
            Some(inner) if forwards.iter().all(|c| index.is_within(*c, inner)) => block = inner,
            _ => return (block, first),
        }
    }
}

/// The last statement of a block that needs the context: neither a bare `return` nor a `pass`.
fn last_statement(view: &FileView<'_>, block: Id, first: Id) -> Option<Id> {
    let k = kinds();
    let index = &view.index;
    let ends = |s: Id| {
        (index.kind(s) == k.return_statement && index.parts(s).next().is_none()) || index.kind(s) == k.pass_statement
    };
    let statements: Vec<Id> = index.parts(block).filter(|s| *s >= first).collect();
    statements.iter().rev().copied().find(|s| !ends(*s)).or(statements.first().copied())
}

#[cfg(test)]
mod tests {
    use super::{Recorded, recorded_evaluations};
    use crate::marked::{self, with_setup};

    /// What evaluates the model and records gradients: whole functions, and the first and last of other statements.
    #[track_caller]
    fn check(rest: &str, expected: &[&str]) {
        marked::check(&with_setup(rest), expected, |at| {
            let found = recorded_evaluations(at.project, at.file().view);
            let line = |recorded: &Recorded| match recorded {
                Recorded::Function(function) => at.lines([*function]),
                Recorded::Statements(first, last) => at.lines([*first, *last]).replace('\n', " … "),
            };
            found.iter().map(line).collect::<Vec<_>>()
        });
    }

    #[test]
    fn a_validation_that_records_gradients() {
        let body = "    for x, y in loader:\n        total += net(x)\n";
        check(&format!("def validate(net):\n{body}"), &["def validate(net):"]);
        check(&format!("@torch.no_grad()\ndef validate(net):\n{body}"), &[]);
        check(&format!("def validate(net):\n    torch.set_grad_enabled(False)\n{body}"), &[]);
        check("def validate(net):\n    return net(x)\n", &[]);
        check(
            &format!("def validate(net):\n    a = prepare(net)\n{body}    print(a)\n"),
            &["for x, y in loader: … print(a)"],
        );
        check(&format!("def validate(net):\n    train_head(x)\n{body}"), &[]);
        // What it defines runs where it is called.
        check("def validate(net):\n    def step(x):\n        return net(x)\n    net.eval()\n    return step\n", &[]);
    }

    #[test]
    fn a_validation_that_its_callers_run_without_gradients() {
        let validate = "def validate(net):\n    for x, y in loader:\n        total += net(x)\n";
        check(&format!("{validate}with torch.no_grad():\n    validate(net)\n"), &[]);
        check(&format!("{validate}validate(net)\n"), &["def validate(net):"]);
    }

    #[test]
    fn a_validation_that_enables_gradients() {
        let body = "    for x, y in loader:\n        total += net(x)\n";
        check(&format!("def validate(net):\n    torch.set_grad_enabled(True)\n{body}"), &["def validate(net):"]);
    }

    #[test]
    fn a_validation_in_the_training() {
        let fit = |over: &str| {
            format!(
                "def fit():\n    for x in loader:\n        net(x).backward()\n    for x in {over}:\n        net(x)\n"
            )
        };
        check(&fit("val_loader"), &["for x in val_loader: … for x in val_loader:"]);
        check(&fit("extra_loader"), &[]);
    }
}
