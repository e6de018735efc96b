//! Values of the step that are also known where the optimizer is created: a limit of gradients, a setting of the model.

use super::bindings::bindings;
use super::callers::given;
use super::calls::is_parameter;
use super::dataflow::reads;
use crate::project::FileInProject;
use python::tree::{Id, kinds};

/// Whether a value of the step in `whole` has the same meaning at another place, which comes before it.
pub(crate) fn is_known_at(file: FileInProject<'_, '_>, whole: Id, at: Id, value: Id) -> bool {
    let k = kinds();
    let index = &file.index;
    let in_function = |id: Id| file.function_of(id).is_some() && file.function_of(id) == file.function_of(whole);
    // `train(model, optimizer, args)` is called where the optimizer is created.
    let is_passed = |head: &str| {
        let (values, owner) = (given(&file, whole, head), file.function_of(at));
        let is_made = |b: &Id| *b < at && file.function_of(*b) == owner;
        let is_same = |value: &Id| index.is_text(*value, head) && file.function_of(*value) == owner;
        !values.is_empty() && values.iter().all(is_same) && bindings(&file, head).iter().any(is_made)
    };
    let words = index.text_of(value).split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let head = words.into_iter().find(|w| !w.is_empty()).unwrap_or("");
    [k.string, k.none, k.r#true, k.r#false].contains(&index.kind(value))
        || head.starts_with(|c: char| c.is_ascii_digit())
        || head == "self" && file.class_of(at) == file.class_of(value)
        || file.binds_at_top(head, index.item(at).start, file.function_of(at).is_some())
        || in_function(at)
        || is_passed(head)
        || index.kind(whole) == k.function_definition && file.function_of(at) == Some(whole)
}

/// A value of the step as an expression for another place, which comes before it: its own, or the one that every caller
/// of the step passes for it.
pub fn text_at<'t>(file: FileInProject<'_, 't>, whole: Id, at: Id, value: Id) -> Option<&'t str> {
    let index = &file.view.index;
    let name = index.text_of(value);
    if is_known_at(file, whole, at, value) {
        return Some(name);
    }
    let (passed, owner) = (given(&file, whole, name), file.function_of(at));
    let text = index.text_of(*passed.first()?);
    let is_bound = |word: Id| {
        let word = index.text_of(word);
        file.binds_at_top(word, index.item(at).start, owner.is_some())
            || owner.is_some_and(|owner| is_parameter(&file, owner, word))
            || bindings(&file, word).iter().any(|b| *b < at && file.function_of(*b) == owner)
    };
    let is_same = |value: &Id| index.is_text(*value, text) && file.function_of(*value) == owner;
    let is_rebound = bindings(&file, name).iter().any(|b| index.is_within(*b, whole));
    let is_passed = file.callers(whole).count() == passed.len() && passed.iter().all(is_same);
    (is_passed && !is_rebound && reads(&file, passed[0]).into_iter().all(is_bound)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::text_at;
    use crate::marked::{self, with_setup};
    use crate::step::optimizers_made;

    /// How the marked value of the step is written where the optimizer is created.
    #[track_caller]
    fn check(program: &str, expected: Option<&str>) {
        marked::check(program, expected.map(str::to_owned), |at| {
            let made = optimizers_made(&at.file()).first().expect("an optimizer").call;
            text_at(at.file(), at.whole(), made, at.node()).map(str::to_owned)
        });
    }

    #[test]
    fn a_value_of_the_module_or_a_literal() {
        let step = "for x in loader:\n    net(x).backward()\n    clip(";
        check(&with_setup(&format!("{step}0.5)\n         ^^^\n")), Some("0.5"));
        check(&format!("limit = 1\n{}", with_setup(&format!("{step}limit)\n         ^^^^^\n"))), Some("limit"));
        check(&with_setup(&format!("limit = 1\n{step}limit)\n         ^^^^^\n")), None);
        check(&with_setup(&format!("{step}x)\n         ^\n")), None);
    }

    #[test]
    fn a_value_that_the_caller_passes() {
        let step = "import torch\ndef fit(net, limit):\n    net(x).backward()\n    clip(limit)\n         ^^^^^\n";
        let main = "def main(args):\n    optimizer = torch.optim.SGD(net.parameters())\n";
        check(&format!("{step}{main}    fit(net, args.limit)\n"), Some("args.limit"));
        check(&format!("{step}{main}    fit(net, args.limit)\n    fit(net, 2)\n"), None);
    }
}
