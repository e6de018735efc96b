//! `keras-graph-functions`: a strategy of the target runs the functions that TensorFlow makes graphs of, and they are compiled.

use super::strategy_scope::strategy;
use super::{Input, Wish};
use crate::definitions::{BlockShape, Values};
use python::edit::{Change, appended_argument};
use python::syntax::Argument;
use training::keras_steps::graph_functions;

/// The call by the strategy.
const RUN: &str = "graph_function_run";
/// The argument by which a function is compiled.
const COMPILED: &str = "graph_function_compiled";

/// Blocks of Python.
pub(super) const BLOCKS: &[BlockShape] =
    &[BlockShape::new(RUN, &["strategy", "function", "arguments", "named", "names"]), BlockShape::new(COMPILED, &[])];

/// Other names of the argument.
pub(super) const COMPILES: &str = "graph_function_arguments";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let index = &view.index;
    let mut wishes = Vec::new();
    for function in graph_functions(view) {
        let mut calls = Vec::new();
        for &call in &function.calls {
            let strategy = strategy(input, view, call).filter(|_| input.project.keras.in_scope(view, call));
            // All or none: a function that is called without the strategy runs on the host.
            let Some(strategy) = strategy else { return Vec::new() };
            let (mut arguments, mut named) = (Vec::new(), Vec::new());
            for argument in index.arguments(call).iter() {
                match argument {
                    Argument::Keyword { name, value } => named.push(format!("{name}={}", index.text_of(value))),
                    Argument::Positional(value) => arguments.push(index.text_of(value)),
                    Argument::Unpacked(_) | Argument::UnpackedTable(_) => return Vec::new(),
                }
            }
            let values = Values::default()
                .text("strategy", strategy)
                .text("function", function.name)
                .text("arguments", arguments.join(", "))
                .flag("named", !named.is_empty())
                .text("names", named.join(", "));
            let Some(text) = input.block(view, RUN, &values) else { return Vec::new() };
            calls.push(Wish::new(view, call, vec![Change::Expression { node: call, range: index.range(call), text }]));
        }
        wishes.extend(calls);
        let given = index.arguments(function.decorator);
        let is_compiled =
            given.iter().any(|a| matches!(a, Argument::Keyword { name, .. } if input.lists(COMPILES, name)));
        let compiled = input.block(view, COMPILED, &Values::default()).unwrap_or_default();
        let at = function.decorator;
        if is_compiled {
            continue;
        }
        let change = match appended_argument(view, at, &compiled) {
            Some((range, text)) => Change::Raw { range, text },
            None => {
                let text = format!("{}({compiled})", index.text_of(at));
                Change::Expression { node: at, range: index.range(at), text }
            }
        };
        wishes.push(Wish::new(view, at, vec![change]));
    }
    wishes
}
