//! Values that a training step computes, such as the mean of its losses.

use crate::step::loop_around;
use crate::steps::names_validation;
use crate::view::FileView;
use python::names::called_name;
use python::tree::{Id, kinds};

/// Whether an expression mentions a value that was computed in a training loop, that a function returns which trains, or a list of
/// such values, as far as its function shows.
pub fn comes_from_training(view: &FileView<'_>, id: Id) -> bool {
    follow(view, id, 5)
}

fn follow(view: &FileView<'_>, id: Id, steps: u8) -> bool {
    let (k, index) = (kinds(), &view.index);
    let Some(steps) = steps.checked_sub(1) else { return false };
    let owner = view.function_of(id);
    let is_here = |at: &Id| view.function_of(*at) == owner;
    let is_looped = |at: Id| {
        let mut loops = view.calls("backward").iter().filter_map(|call| loop_around(view, *call));
        loops.any(|around| index.is_within(at, around))
    };
    // A number of steps or of samples is the same on all instances.
    let counts = |at: Id| {
        let of = |value: Id| {
            index.kind(value) == k.integer || matches!(called_name(index, value), Some("len" | "size" | "numel"))
        };
        index.is_loop(at) || index.source(at).is_some_and(of)
    };
    let trains = |call: &Id| {
        let name = called_name(index, *call).unwrap_or_default();
        let is_own = view.steps.training.iter().any(|step| view.name_of(*step) == name);
        is_own || name.split('_').any(|word| word == "train" || word == "training")
    };
    let of_name = |word: &Id| {
        let name = index.text_of(*word);
        if names_validation(name) {
            return false;
        }
        let appended = view
            .calls("append")
            .iter()
            .filter(|call| is_here(call) && index.receiver(**call).is_some_and(|list| index.is_text(list, name)));
        // The number of the best epoch, or of epochs without a better one: a test of such a value decides on it.
        let is_decided = |binding: Id| {
            let inside = index.ancestors(binding).take_while(|a| index.kind(*a) != k.function_definition);
            let mut tests = inside.filter_map(|a| index.condition(a));
            tests.any(|test| test != id && !index.is_within(*word, test) && follow(view, test, steps))
        };
        let decided = view.index.bindings(name).iter().copied().any(|b| is_here(&b) && is_decided(b));
        let mut values = appended.flat_map(|call| index.arguments(*call).ids().collect::<Vec<_>>());
        let last = view.index.bindings(name).iter().copied().filter(|b| b < word && is_here(b)).max();
        last.is_some_and(|b| {
            is_looped(b) && !counts(b)
                || index.source(b).is_some_and(|value| !index.is_loop(b) && follow(view, value, steps))
        }) || decided
            || values.any(|value| follow(view, value, steps))
    };
    index.of_kind_in(k.call, id).iter().any(trains) || index.of_kind_in(k.identifier, id).iter().any(of_name)
}

#[cfg(test)]
mod tests {
    use super::comes_from_training;
    use crate::marked;

    /// Whether the marked expression was computed by a training step.
    #[track_caller]
    fn check(program: &str, expected: bool) {
        marked::check(program, expected, |at| comes_from_training(at.file().view, at.node()));
    }

    #[test]
    fn what_the_loop_computes() {
        let program = |rest: &str| {
            let trains =
                "for n, x in enumerate(loader):\n    loss = f(net(x))\n    loss.backward()\n    losses.append(loss)";
            format!("losses = []\nlr = 0.1\n{trains}\n{rest}")
        };
        check(&program("print(loss)\n      ^^^^\n"), true);
        check(&program("mean = sum(losses) / 2\nprint(mean)\n      ^^^^\n"), true);
        check(&program("print(lr)\n      ^^\n"), false);
        check(&program("total = len(losses)\nprint(n)\n      ^\n"), false);
        check(&program("print(val_loss)\n      ^^^^^^^^\n"), false);
    }

    #[test]
    fn what_a_function_that_trains_returns() {
        let trains = "def epoch(net):\n    loss = net()\n    loss.backward()\n    return loss\n";
        check(&format!("{trains}a = epoch(net)\nprint(a)\n      ^\n"), true);
        check("a = train_one(net)\nprint(a)\n      ^\n", true);
        check("a = restrain(net)\nprint(a)\n      ^\n", false);
    }
}
