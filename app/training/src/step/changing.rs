//! Values that change during training: a step that is compiled once would keep their first value.

use super::TrainingStep;
use super::bindings::binds_in;
use super::callers::given;
use super::dataflow::{member_of_self, reads};
use super::numbers::is_counter;
use crate::project::FileInProject;
use crate::roles::Role;
use python::PythonFile;
use python::names::dotted;
use python::tree::{Id, kinds};

/// Values that statements read and that change between calls of the step, unless they come with the batch.
pub(crate) fn changing(step: &TrainingStep<'_, '_>, statements: &[Id]) -> Vec<Id> {
    let k = kinds();
    let file = step.file;
    // A loop inside the step has its own numbers.
    let by_inner_loop = |id: Id| {
        let inner = file.index.ancestors(id).filter(|a| *a > step.body && file.index.is_loop(*a));
        inner
            .into_iter()
            .any(|a| file.index.target(a).is_some_and(|t| file.index.mentions(t, |word| word == text(step, id))))
    };
    let is_fixed = |id: Id| {
        let by_function = file.index.kind(step.body) == k.function_definition && file.binds(step.body, text(step, id));
        by_function
            || by_inner_loop(id)
            || matches!(file.role(id), Some(Role::Model))
            || binds_in(&file, step.body, text(step, id))
                && !counts(step, text(step, id))
                && !varies(step, id, 4)
                && !is_from_before(step, id)
            || cut_by_hand(file, step.body, id).is_some()
    };
    let values = statements.iter().flat_map(|s| reads(&file, *s)).filter_map(|id| value(&file, id));
    values.filter(|id| !is_fixed(*id) && changes(file, step.optimizer, *id, text(step, *id), 4)).collect()
}

/// Whether a member of `self` that a step reads is assigned behind it only, so that its value is that of the iteration before.
fn is_from_before(step: &TrainingStep<'_, '_>, id: Id) -> bool {
    let (index, name) = (&step.file.view.index, text(step, id));
    let mut inside = step.file.index.bindings(name).iter().copied().filter(|b| index.is_within(*b, step.body));
    name.starts_with("self.") && inside.all(|binding| binding > id && !index.is_within(id, binding))
}

/// Whether the loop of the step changes a name in each iteration, and nothing in it assigns the name anew: a counter.
fn counts(step: &TrainingStep<'_, '_>, name: &str) -> bool {
    let index = &step.file.view.index;
    let mut inside =
        step.file.index.bindings(name).iter().copied().filter(|b| index.is_within(*b, step.body)).peekable();
    inside.peek().is_some() && inside.all(|b| index.kind(b) == kinds().augmented_assignment)
}

/// Whether a name is a Python number to which the step's loop assigns a different value in each iteration: `n` of
/// `enumerate`, `temperature * 0.9`.
fn varies(step: &TrainingStep<'_, '_>, id: Id, steps: u8) -> bool {
    let file = step.file;
    let (index, name) = (&file.view.index, file.view.index.text_of(id));
    let Some(steps) = steps.checked_sub(1) else { return false };
    let varies_in = |binding: Id| {
        let follows = |read: &Id| {
            let word = index.text_of(*read);
            let inside = binds_in(&file, step.body, word);
            word == name
                || inside && varies(step, *read, steps)
                || !inside && changes(file, step.optimizer, *read, word, 4)
        };
        let made_of = index.source(binding).map_or_else(Vec::new, |source| reads(&file, source));
        is_counter(file, binding, name) || !index.is_loop(binding) && made_of.iter().any(follows)
    };
    file.kinds(id).is_number()
        && file.index.bindings(name).iter().copied().any(|b| index.is_within(b, step.body) && varies_in(b))
}

/// The part of all samples that is a batch, if the program slices it from a tensor by a number of this iteration:
/// `images[i:i + size]`.
pub(crate) fn cut_by_hand(file: FileInProject<'_, '_>, body: Id, id: Id) -> Option<Id> {
    let (k, index) = (kinds(), &file.view.index);
    let is_cut = |at: &Id| {
        let Some(all) = index.value(*at).filter(|_| index.kind(*at) == k.subscript) else { return false };
        let is_turn = |number: &Id| {
            let name = index.text_of(*number);
            // A loop inside the step has its own numbers.
            let own = index.ancestors(*number).filter(|a| *a > body && index.is_loop(*a));
            let is_own = own.into_iter().any(|a| {
                index.target(a).is_some_and(|t| index.mentions(t, |word| word == name) || index.is_text(t, name))
            });
            *number > all && !is_own && binds_in(&file, body, name) && file.kinds(*number).is_number()
        };
        dotted(index, all).is_some()
            && !binds_in(&file, body, index.text_of(all))
            && index.of_kind_in(k.identifier, *at).iter().any(is_turn)
    };
    index
        .ancestors(id)
        .take_while(|a| ![k.block, k.expression_statement].contains(&index.kind(*a)))
        .filter(is_cut)
        .last()
}

fn text<'t>(step: &TrainingStep<'_, 't>, id: Id) -> &'t str {
    step.file.view.index.text_of(id)
}

/// A name, or the member of `self` that it refers to.
fn value(file: &PythonFile<'_>, id: Id) -> Option<Id> {
    if file.index.is_text(id, "self") { member_of_self(file, id) } else { Some(id) }
}

/// Whether a name has several values at a place during one training with an optimizer, following up to `steps`
/// assignments and calls.
pub(crate) fn changes(file: FileInProject<'_, '_>, optimizer: &str, at: Id, name: &str, steps: u8) -> bool {
    let k = kinds();
    let index = &file.view.index;
    let Some(steps) = steps.checked_sub(1) else { return false };
    let is_member = name.starts_with("self.");
    let follows = |within: Id| {
        let mut values = reads(&file, within).into_iter().filter_map(|id| value(&file, id));
        values.any(|id| changes(file, optimizer, id, index.text_of(id), steps))
    };
    let made = file.index.bindings(optimizer);
    let makes = |within: Id| made.iter().any(|m| index.is_within(*m, within));
    // If the optimizer is created in a loop, each iteration is a separate training.
    let is_turn = |id: Id| file.index.is_loop(id) && !makes(id);
    let owner = index.ancestors(at).find(|a| index.kind(*a) == k.function_definition && file.binds(*a, name));
    let bound = file.index.bindings(name).iter().copied().any(|binding| {
        let function = file.function_of(binding);
        if is_member {
            let late = function.is_none_or(|d| file.name_of(d) != "__init__");
            return late
                && (std::iter::once(binding).chain(index.ancestors(binding)).any(is_turn)
                    || index.kind(binding) == k.augmented_assignment
                    || index.source(binding).is_some_and(follows));
        }
        function == owner
            && (index.ancestors(at).any(|a| is_turn(a) && index.is_within(binding, a))
                || index.kind(binding) != k.for_statement && index.source(binding).is_some_and(follows))
    });
    let Some(function) = file.function_of(at).filter(|d| !bound && !is_member && !makes(*d)) else { return bound };
    let calls: Vec<Id> = file.callers(function).collect();
    if owner.is_none() {
        return calls.iter().any(|call| changes(file, optimizer, *call, name, steps));
    }
    if !index.function(function).into_iter().flat_map(|d| d.parameters()).any(|p| p.name == name) {
        return false;
    }
    if calls.is_empty() {
        return file.project.counted.contains(file.path, function, name);
    }
    given(&file, function, name).into_iter().any(follows)
}

#[cfg(test)]
mod tests {
    use super::{changes, changing, cut_by_hand};
    use crate::marked::{self, with_setup};

    /// Whether the marked name has several values during one training.
    #[track_caller]
    fn check(rest: &str, expected: bool) {
        marked::check(&with_setup(rest), expected, |at| {
            let name = at.file().view.index.text_of(at.node());
            changes(at.file(), "optimizer", at.node(), name, 4)
        });
    }

    /// The same for a program of several files.
    #[track_caller]
    fn check_files(program: &str, expected: bool) {
        marked::check(&format!("#- fit.py\n{program}"), expected, |at| {
            changes(at.file(), "optimizer", at.node(), at.file().view.index.text_of(at.node()), 4)
        });
    }

    #[test]
    fn what_a_loop_assigns_changes() {
        check("for epoch in range(3):\n    f(epoch)\n      ^^^^^\n", true);
        check("for epoch in range(3):\n    a = epoch / 5\n    f(a)\n      ^\n", true);
        check("a = 3\nfor epoch in range(3):\n    f(a)\n      ^\n", false);
        check("for a in rates:\n    optimizer = torch.optim.SGD(p, lr=a)\n    f(a)\n      ^\n", false);
    }

    #[test]
    fn what_callers_pass_changes_if_it_does_there() {
        check("def fit(a):\n    f(a)\n      ^\nfor epoch in range(3):\n    fit(epoch)\n", true);
        check("def fit(a):\n    f(a)\n      ^\nfor epoch in range(3):\n    fit(lr)\n", false);
        check("def fit(epoch):\n    f(epoch)\n      ^^^^^\n", true);
        check("def fit(a):\n    f(a)\n      ^\n", false);
        let elsewhere = "def fit(a):\n    f(a)\n      ^\n    net(x).backward()\n#- train.py\nfrom fit import fit\n";
        check_files(&format!("{elsewhere}for n in range(3):\n    fit(n + 1)\n"), true);
        check_files(&format!("{elsewhere}fit(3)\n"), false);
        check("def fit():\n    f(a)\n      ^\nfor a in range(3):\n    fit()\n", true);
    }

    #[test]
    fn what_a_method_assigns_changes() {
        let class = concat!(
            "class A:\n",
            "    def __init__(self):\n",
            "        self.a = 0\n",
            "    def fit(self):\n",
            "        f(self.a)\n",
            "          ^^^^^^\n",
        );
        check(class, false);
        check(&format!("{class}    def end(self):\n        self.a += 1\n"), true);
        check(&format!("{class}    def end(self):\n        self.b += 1\n"), false);
    }

    #[test]
    fn values_that_a_step_may_not_keep() {
        let check = |loss: &str, expected: &str| {
            let loops = "rate = 0.5\nfor epoch in range(3):\n    for n, (x, y) in enumerate(loader):";
            let rest = "        loss.backward()\n        optimizer.step()";
            let program = format!("{loops}\n        loss = {loss}\n{rest}\n");
            marked::check(&with_setup(&program), expected, |at| {
                let step = at.step().expect("a step");
                at.lines(changing(&step, &step.before))
            });
        };
        check("F.mse_loss(net(x), y)", "");
        check("rate * net(x).mean()", "");
        check("epoch * net(x).mean()", "epoch");
        check("n * net(x).mean()", "n");
    }

    #[test]
    fn a_batch_that_is_sliced_by_hand() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| {
                let around = crate::step::loop_around(&at.file(), at.node()).expect("a loop");
                at.lines(cut_by_hand(at.file(), around, at.node()))
            });
        };
        check("for i in range(0, 9, 3):\n    f(images[i:i + 3])\n      ^^^^^^\n", "images[i:i + 3]");
        check("for i in range(0, 9, 3):\n    f(images[0:3])\n      ^^^^^^\n", "");
        check("for images in loader:\n    f(images[k])\n      ^^^^^^\n", "");
    }
}
