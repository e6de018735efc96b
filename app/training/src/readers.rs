//! The readers of a loader: loops and functions that train, or evaluation only.

use crate::steps::names_validation;
use crate::view::FileView;
use crate::words::TRAINING_CALLS;
use python::names::{called_name, dotted};
use python::tree::{Id, ROOT, kinds};

/// How one occurrence of a name uses its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Trains,
    Evaluates,
    /// Its length, or a log line.
    Asks,
    Unknown,
}

/// Whether the loader that a call creates is read by loops and functions of this file that never train. A loader that
/// is passed to code that can't be seen does not count.
///
/// If its readers can't be seen, its name decides: `val_loader`, `def test_dataloader`, `DataLoader(valid_set)`.
pub fn only_evaluation_reads(view: &FileView<'_>, call: Id) -> bool {
    let Some(target) = target(view, call) else { return is_named_for_evaluation(view, call, None) };
    let name = view.index.text_of(target);
    let scope = if name.starts_with("self.") { view.class_of(call) } else { view.function_of(call) };
    let is_earlier = |m: Id| m <= target && view.function_of(m) == view.function_of(target);
    let is_own = |m: Id| view.function_of(m).is_none_or(|f| Some(f) == scope || !takes(view, f, name));
    let meant = mentions(view, name, scope.unwrap_or(ROOT)).filter(|m| !is_earlier(*m) && is_own(*m));
    let uses: Vec<Use> = meant.map(|m| use_of(view, m, 3)).collect();
    let is_seen = uses.contains(&Use::Evaluates) && !uses.contains(&Use::Unknown);
    !uses.contains(&Use::Trains) && (is_seen || is_named_for_evaluation(view, call, Some(target)))
}

/// The function whose result is the loader that a call creates, by itself or under a name.
pub(crate) fn made_by(view: &FileView<'_>, call: Id) -> Option<Id> {
    let index = &view.index;
    let is_result = |id: Id| index.parent(id).is_some_and(|p| index.kind(p) == kinds().return_statement);
    let function = view.function_of(call)?;
    let name = target(view, call).map(|t| index.text_of(t));
    let is_returned = |name: &str| mentions(view, name, function).any(is_result);
    (is_result(call) || name.is_some_and(is_returned)).then_some(function)
}

/// Whether names show that a loader is for evaluation: its own, its data set's, that of its function or its file.
fn is_named_for_evaluation(view: &FileView<'_>, call: Id, target: Option<Id>) -> bool {
    let index = &view.index;
    let function = view.function_of(call).map(|f| view.name_of(f));
    let file = view.path.rsplit('/').next().and_then(|name| name.strip_suffix(".py"));
    let data = index.arguments(call).ids().find(|a| index.keyword_name(*a).is_none_or(|name| name == "dataset"));
    let names = [target.map(|t| index.text_of(t)), data.map(|d| index.text_of(d)), function, file];
    names.into_iter().flatten().map(str::to_ascii_lowercase).find_map(|name| {
        // `pretrain_val_loader` is for validation during another training.
        let name = name.replace("pretrain", "");
        let words = || name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let is_of = |word: &str| {
            let word = ["loader", "dataloader", "set", "dataset", "data", "dl"]
                .iter()
                .find_map(|end| word.strip_suffix(end))
                .map_or(word, |rest| rest.strip_suffix("data").unwrap_or(rest));
            word == "dev" || names_validation(word)
        };
        // The first name that is conclusive.
        if name.contains("train") { Some(name.contains("train=false")) } else { words().any(is_of).then_some(true) }
    }) == Some(true)
}

/// The name to which a call's value is assigned, alone or at its position in a tuple of names.
fn target(view: &FileView<'_>, call: Id) -> Option<Id> {
    let k = kinds();
    let index = &view.index;
    let parent = index.parent(call)?;
    let plain = |id: Id| dotted(index, id).is_some().then_some(id);
    if index.kind(parent) == k.assignment {
        return index.target(parent).and_then(plain);
    }
    let assignment = index.parent(parent).filter(|p| index.kind(*p) == k.assignment)?;
    let (left, right) = (index.target(assignment)?, index.source(assignment)?);
    let place = (right == parent).then(|| index.parts(right).position(|p| p == call)).flatten()?;
    (index.parts(left).count() == index.parts(right).count())
        .then(|| index.parts(left).nth(place))
        .flatten()
        .and_then(plain)
}

/// Occurrences of a name as a whole: not `loader.dataset` for `loader`, where an attribute is read.
pub(crate) fn mentions<'v>(view: &'v FileView<'_>, name: &'v str, scope: Id) -> impl Iterator<Item = Id> + 'v {
    let k = kinds();
    let index = &view.index;
    let kind = if name.contains('.') { k.attribute } else { k.identifier };
    index.of_kind_in(kind, scope).iter().copied().filter(move |i| index.text_of(*i) == name && !view.index.is_label(*i))
}

/// Whether a function has a parameter of that name, so that the name is a different object in it.
fn takes(view: &FileView<'_>, function: Id, name: &str) -> bool {
    view.index.function(function).is_some_and(|f| f.parameters().any(|parameter| parameter.name == name))
}

/// `depth`: how many functions of the file, each of which passes the value on, are followed.
pub(crate) fn use_of(view: &FileView<'_>, mention: Id, depth: u8) -> Use {
    let k = kinds();
    let index = &view.index;
    // It is assigned another value, or tested for being set.
    let asked = [k.comparison_operator, k.not_operator, k.if_statement];
    if index.is_stored(mention) || index.parent(mention).is_some_and(|p| asked.contains(&index.kind(p))) {
        return Use::Asks;
    }
    let looped = index.ancestors(mention).find(|a| {
        [k.for_statement, k.for_in_clause].contains(&index.kind(*a))
            && index.source(*a).is_some_and(|r| index.is_within(mention, r))
    });
    // `sum(… for batch in loader)` is evaluated in the expression around it.
    let looped = looped.and_then(|l| if index.kind(l) == k.for_in_clause { index.parent(l) } else { Some(l) });
    if let Some(parent) = index.parent(mention)
        && index.kind(parent) == k.attribute
    {
        return Use::Asks;
    }
    let given = index.ancestors(mention).find(|a| index.kind(*a) == k.call).filter(|c| {
        let direct = index.parent(mention);
        let list = index.arguments(*c).list();
        direct == list || direct.and_then(|d| index.parent(d)) == list
    });
    // `next(iter(loader))`: one batch, for the code in this block.
    let once = given.filter(|c| matches!(called_name(index, *c), Some("iter" | "enumerate")));
    let once = once.and_then(|c| index.ancestors(c).find(|a| index.kind(*a) == k.call));
    if once.is_some_and(|c| called_name(index, c) == Some("next"))
        && let Some(block) = index.ancestors(mention).find(|a| index.kind(*a) == k.block)
    {
        return body_reads(view, block, depth);
    }
    match (given, looped) {
        (Some(call), _) if asks(called_name(index, call)) => Use::Asks,
        (Some(call), None) => function_reads(view, call, mention, depth),
        // `enumerate(loader)` and `tqdm(loader)` in the header of a loop.
        (_, Some(loop_)) => body_reads(view, loop_, depth),
        (None, None) => Use::Unknown,
    }
}

/// `len(loader)`, and uses that only mention it.
fn asks(name: Option<&str>) -> bool {
    matches!(name, Some("len" | "print" | "info" | "debug" | "warning"))
}

/// A function of this file that receives the loader.
fn function_reads(view: &FileView<'_>, call: Id, mention: Id, depth: u8) -> Use {
    let index = &view.index;
    let Some(function) = definition(view, call).filter(|_| depth > 0) else { return Use::Unknown };
    let arguments: Vec<Id> = index.arguments(call).ids().collect();
    let Some(place) = arguments.iter().position(|a| index.is_within(mention, *a)) else { return Use::Unknown };
    let parameters = index.function(function).into_iter().flat_map(|function| function.parameters());
    let names: Vec<&str> = parameters.map(|p| p.name).filter(|n| !matches!(*n, "self" | "cls")).collect();
    let keyword = index.keyword_name(arguments[place]);
    let Some(name) = keyword.or_else(|| names.get(place).copied()).filter(|n| names.contains(n)) else {
        return Use::Unknown;
    };
    let Some(body) = index.body(function) else { return Use::Unknown };
    let uses: Vec<Use> = mentions(view, name, body).map(|m| use_of(view, m, depth - 1)).collect();
    [Use::Trains, Use::Unknown, Use::Evaluates].into_iter().find(|u| uses.contains(u)).unwrap_or(Use::Asks)
}

/// A loop trains if it has a backward pass, itself or in a function of this file that it calls, or calls what trains.
fn body_reads(view: &FileView<'_>, node: Id, depth: u8) -> Use {
    let k = kinds();
    let index = &view.index;
    let calls = index.of_kind_in(k.call, node);
    let trains = calls.iter().any(|c| {
        matches!(called_name(index, *c), Some("backward" | "zero_grad" | "step"))
            || called_name(index, *c).is_some_and(|n| n.ends_with("training_step"))
            || index.callee(*c).is_some_and(|callee| is_compiled_training(view, index.text_of(callee)))
            || depth > 0
                && definition(view, *c)
                    .filter(|d| !index.is_within(node, *d))
                    .is_some_and(|d| body_reads(view, d, depth - 1) == Use::Trains)
    });
    if trains { Use::Trains } else { Use::Evaluates }
}

/// Whether a name is the result of a call that trains, such as a model that a vendor's function compiled with its optimizer.
fn is_compiled_training(view: &FileView<'_>, name: &str) -> bool {
    let calls = TRAINING_CALLS.iter().flat_map(|word| view.calls(word));
    calls.filter_map(|call| target(view, *call)).any(|target| view.index.is_text(target, name))
}

/// The function of this file that a call refers to: by its name, or as a method of the same object.
fn definition(view: &FileView<'_>, call: Id) -> Option<Id> {
    let k = kinds();
    let index = &view.index;
    let function = index.callee(call)?;
    let text = index.text_of(function);
    let name = text.strip_prefix("self.").unwrap_or(text);
    index.of_kind(k.function_definition).iter().copied().find(|d| {
        view.name_of(*d) == name && (text == name) == view.class_of(*d).is_none_or(|c| view.class_of(call) != Some(c))
    })
}

#[cfg(test)]
mod tests {
    use super::{made_by, only_evaluation_reads};
    use crate::marked;

    /// Whether only code that evaluates reads the marked loader.
    #[track_caller]
    fn check(program: &str, expected: bool) {
        marked::check(program, expected, |at| only_evaluation_reads(at.file().view, at.node()));
    }

    #[test]
    fn a_loader_by_its_readers() {
        let made = "a = DataLoader(b)\n    ^^^^^^^^^^^^^\n";
        check(&format!("{made}for x in a:\n    net(x)\n"), true);
        check(&format!("{made}for x in a:\n    net(x).backward()\n"), false);
        check(&format!("{made}for x in tqdm(a):\n    fit(x)\ndef fit(x):\n    net(x).backward()\n"), false);
        check(&format!("{made}def fit(data):\n    for x in data:\n        net(x).backward()\nfit(a)\n"), false);
        check(&format!("{made}print(len(a))\n"), false);
        check(&format!("{made}run = poptorch.trainingModel(net)\nfor x in a:\n    run(x)\n"), false);
        check(&format!("{made}run = poptorch.inferenceModel(net)\nfor x in a:\n    run(x)\n"), true);
        check(&format!("{made}run(a)\n"), false);
    }

    #[test]
    fn a_loader_by_its_name() {
        check("val_loader = DataLoader(b)\n             ^^^^^^^^^^^^^\nrun(val_loader)\n", true);
        check(
            "val_loader = DataLoader(b)\n             ^^^^^^^^^^^^^\nfor x in val_loader:\n    net(x).backward()\n",
            false,
        );
        check("def test_dataloader():\n    return DataLoader(b)\n           ^^^^^^^^^^^^^\n", true);
        check("run(DataLoader(valid_set))\n    ^^^^^^^^^^^^^^^^^^^^^\n", true);
        check("run(DataLoader(train_set))\n    ^^^^^^^^^^^^^^^^^^^^^\n", false);
    }

    #[test]
    fn the_function_that_makes_a_loader() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines(made_by(at.file().view, at.node())));
        };
        check("def f():\n    return DataLoader(b)\n           ^^^^^^^^^^^^^\n", "def f():");
        check("def f():\n    a = DataLoader(b)\n        ^^^^^^^^^^^^^\n    return a\n", "def f():");
        check("def f():\n    a = DataLoader(b)\n        ^^^^^^^^^^^^^\n    return 3\n", "");
    }
}
