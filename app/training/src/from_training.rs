//! Values that a training step computes, such as the mean of its losses, and that are not the same in all processes.

use crate::step::{is_parameter, loop_around};
use crate::steps::names_validation;
use crate::view::FileView;
use crate::words::{COLLECTIVES, HOST_READS};
use python::names::called_name;
use python::tree::{Id, kinds};

/// Whether an expression mentions a value that was computed in a training loop, a sample, what a function returns which trains, or
/// a list of such values, as far as its function shows. Not a value that all processes have computed together, nor what follows from
/// such values and counts alone.
pub fn comes_from_training(view: &FileView<'_>, id: Id) -> bool {
    Values(view).differs(id, 6)
}

/// Whether the value that a name has at a place is read behind it in the function, or before it in the next round of a loop, and
/// no gradients are computed from it there.
pub fn is_read_later(view: &FileView<'_>, id: Id) -> bool {
    let (index, values) = (&view.index, Values(view));
    let Some(statement) = view.statement_of(id) else { return false };
    let name = index.text_of(id);
    let bound = values.bindings(name, id);
    let is_bound = |from: Id, read: Id| bound.iter().any(|b| from < *b && *b < read && !values.is_in_value(read, *b));
    let is_read = |read: &Id| {
        let loops = || index.ancestors(statement).filter(|a| index.is_loop(*a));
        let is_here = view.function_of(*read) == view.function_of(id) && !index.is_within(*read, statement);
        let is_behind = || *read > statement && !is_bound(statement, *read);
        let is_before =
            || *read < statement && loops().any(|around| index.is_within(*read, around) && !is_bound(around, *read));
        is_here && !index.is_label(*read) && !index.is_stored(*read) && (is_behind() || is_before())
    };
    let reads: Vec<Id> = view.identifiers(name).iter().copied().filter(is_read).collect();
    let differentiates = |read: &Id| {
        let statement = view.statement_of(*read);
        let mut calls = ["backward", "grad"].iter().flat_map(|name| view.calls(name));
        calls.any(|call| view.statement_of(*call) == statement)
    };
    !reads.is_empty() && !reads.iter().any(differentiates)
}

/// The values of a file.
struct Values<'a, 't>(&'a FileView<'t>);

impl<'t> Values<'_, 't> {
    /// Whether an expression mentions a value that differs between the processes.
    fn differs(&self, id: Id, steps: u8) -> bool {
        let (k, index) = (kinds(), &self.0.index);
        let Some(steps) = steps.checked_sub(1) else { return false };
        let counts = |at: Id| {
            let within = std::iter::once(at).chain(index.ancestors(at)).take_while(|a| index.is_within(*a, id));
            within.into_iter().any(|a| self.is_count(a) || self.reduces(a))
        };
        let mut calls = index.of_kind_in(k.call, id).iter().filter(|call| !counts(**call));
        let mut names = index.of_kind_in(k.identifier, id).iter().filter(|n| !index.is_label(**n) && !counts(**n));
        calls.any(|call| self.trains(*call, steps)) || names.any(|name| self.name_differs(*name, id, steps))
    }

    /// Whether a name does, or an attribute that is read from it.
    fn name_differs(&self, word: Id, whole: Id, steps: u8) -> bool {
        let index = &self.0.index;
        let outer = |id: &Id| index.parent(*id).filter(|parent| index.owner(*parent) == Some(*id));
        let chain = std::iter::successors(Some(word), outer);
        chain.skip(usize::from(index.is_text(word, "self"))).any(|id| self.object_differs(id, word, whole, steps))
    }

    fn object_differs(&self, object: Id, word: Id, whole: Id, steps: u8) -> bool {
        let (k, index) = (kinds(), &self.0.index);
        let name = index.text_of(object);
        if names_validation(name) {
            return false;
        }
        let bindings = self.bindings(name, word);
        // The number of the best epoch, or of epochs without a better one: a test of such a value decides on it.
        let is_decided = |binding: Id| {
            let inside = index.ancestors(binding).take_while(|a| index.kind(*a) != k.function_definition);
            let mut tests = inside.filter_map(|a| index.condition(a));
            tests.any(|test| test != whole && !index.is_within(word, test) && self.differs(test, steps))
        };
        // A branch that is not taken leaves what was bound before.
        let before: Vec<Id> = bindings.iter().copied().filter(|b| *b < word && !self.is_in_value(word, *b)).collect();
        let block = |at: Id| index.ancestors(at).find(|a| [k.block, k.module].contains(&index.kind(*a)));
        let follows = |later: Id, b: Id| later > b && block(later).is_some_and(|block| index.is_within(b, block));
        let collectives = COLLECTIVES.iter().flat_map(|name| self.0.calls(name)).copied();
        let of_name = |call: &Id| index.arguments(*call).ids().next().is_some_and(|first| index.is_text(first, name));
        let reduced: Vec<Id> = collectives.filter(|call| *call < word && of_name(call)).collect();
        let mut left = before.iter().filter(|b| !before.iter().chain(&reduced).any(|later| follows(*later, **b)));
        left.any(|b| self.binding_differs(*b, name, steps))
            || bindings.iter().any(|b| is_decided(*b))
            || self.additions(object, word).into_iter().any(|value| self.differs(value, steps))
    }

    /// Whether a value that is bound to a name does.
    fn binding_differs(&self, binding: Id, name: &str, steps: u8) -> bool {
        let index = &self.0.index;
        // What a step computes is its own until something shows that it is not.
        let Some(steps) = steps.checked_sub(1) else { return self.is_computed(binding) };
        if index.is_loop(binding) {
            return self.gives_samples(binding, name);
        }
        let Some(source) = index.source(binding) else { return false };
        let target = index.target(binding).unwrap_or(binding);
        let names = index.unpacked(target);
        let place = names.iter().position(|target| index.is_text(*target, name)).filter(|_| names.len() > 1);
        let value = place.and_then(|place| self.element(source, place)).unwrap_or(source);
        if !self.is_computed(binding) {
            let function = place.and_then(|_| self.own_function(source));
            return match (place, function) {
                (Some(place), Some(function)) => self.returns_apart(function, Some(place), steps),
                _ => self.differs(value, steps),
            };
        }
        let adds = index.kind(binding) == kinds().augmented_assignment;
        !self.is_same(value, steps) || adds && self.name_differs(target, target, steps)
    }

    /// Whether an expression in the code that trains is certainly the same in all processes.
    fn is_same(&self, id: Id, steps: u8) -> bool {
        let (k, index) = (kinds(), &self.0.index);
        let kind = index.kind(id);
        let whole = [
            k.binary_operator,
            k.unary_operator,
            k.not_operator,
            k.boolean_operator,
            k.comparison_operator,
            k.conditional_expression,
            k.parenthesized_expression,
            k.tuple,
            k.list,
            k.set,
            k.dictionary,
            k.pair,
            k.expression_list,
            k.subscript,
            k.slice,
        ];
        if [k.integer, k.float, k.r#true, k.r#false, k.none].contains(&kind) || self.is_count(id) || self.reduces(id) {
            true
        } else if [k.string, k.concatenated_string].contains(&kind) {
            let shown = index.of_kind_in(k.interpolation, id).iter().filter_map(|part| index.parts(*part).next());
            self.are_same(shown, steps)
        } else if kind == k.identifier {
            !self.is_given(id) && !self.name_differs(id, id, steps)
        } else if kind == k.attribute {
            let owner = index.owner(id);
            owner.is_some_and(|owner| match index.is_text(owner, "self") {
                true => !self.name_differs(owner, id, steps),
                false => self.is_same(owner, steps),
            })
        } else if kind == k.keyword_argument {
            index.value(id).is_some_and(|value| self.is_same(value, steps))
        } else if kind == k.call {
            let receiver = index.receiver(id).filter(|r| self.0.names.qualify(index, *r).is_none());
            self.calls_for_same(id) && self.are_same(receiver, steps) && self.are_same(index.arguments(id).ids(), steps)
        } else {
            whole.contains(&kind) && self.are_same(index.parts(id), steps)
        }
    }

    fn are_same(&self, ids: impl IntoIterator<Item = Id>, steps: u8) -> bool {
        ids.into_iter().all(|id| self.is_same(id, steps))
    }

    /// Whether a call returns the same for the same receiver and arguments: a function of Python's or of a library for numbers, or
    /// a method of what the step computes. Not what reads the next batch.
    fn calls_for_same(&self, call: Id) -> bool {
        let index = &self.0.index;
        let Some(callee) = index.callee(call) else { return false };
        if let Some(known) = self.0.names.qualify(index, callee) {
            return ["math.", "numpy.", "torch."].iter().any(|library| known.starts_with(library));
        }
        let name = called_name(index, call).unwrap_or_default();
        let Some(receiver) = index.receiver(call) else {
            return self.0.names.is_free(name) && !["next", "input", "open"].contains(&name);
        };
        let inner = |id: &Id| index.owner(*id).or_else(|| index.value(*id));
        let base = std::iter::successors(Some(receiver), inner).last().unwrap_or(receiver);
        let bound = self.bindings(index.text_of(base), call);
        index.kind(base) != kinds().identifier
            || HOST_READS.contains(&name)
            || bound.iter().any(|b| *b < call && self.is_computed(*b))
    }

    /// Whether a name is what a function is given that makes one step.
    fn is_given(&self, word: Id) -> bool {
        let function = self.0.function_of(word);
        function.is_some_and(|function| {
            let mut passes = self.0.calls_in("backward", function).iter();
            is_parameter(self.0, function, self.0.index.text_of(word))
                && passes.any(|call| loop_around(self.0, *call).is_none())
        })
    }

    /// Whether a place is in the loop around a backward pass, or in a function that makes one step.
    fn is_computed(&self, at: Id) -> bool {
        let mut passes = self.0.calls("backward").iter();
        passes.any(|call| {
            let around = loop_around(self.0, *call).or_else(|| self.0.function_of(*call));
            around.is_some_and(|around| self.0.index.is_within(at, around))
        })
    }

    /// Whether a loop goes through the samples for a backward pass, and a name of its header is not their number.
    fn gives_samples(&self, around: Id, name: &str) -> bool {
        let (k, index) = (kinds(), &self.0.index);
        let calls_in = |at: Id, names: &[&str]| {
            let mut calls = index.of_kind_in(k.call, at).iter();
            calls.any(|call| called_name(index, *call).is_some_and(|name| names.contains(&name)))
        };
        let is_list = |id: Id| [k.list, k.tuple].contains(&index.kind(id));
        let counts = |at: Id| {
            index.source(at).is_some_and(|source| is_list(source) || calls_in(source, &["range", "trange", "count"]))
        };
        let of_pass = |call: Id| {
            let within = index.ancestors(call).take_while(|a| index.kind(*a) != k.function_definition);
            within.filter(|a| index.is_loop(*a)).find(|a| !counts(*a))
        };
        let target = index.target(around);
        let is_number = || {
            let first = target.and_then(|target| index.unpacked(target).first().copied());
            index.source(around).is_some_and(|source| calls_in(source, &["enumerate"]))
                && first.is_some_and(|first| index.is_text(first, name))
        };
        self.0.calls("backward").iter().any(|call| of_pass(*call) == Some(around)) && !is_number()
    }

    /// Whether a node is a number of samples or of steps, which is the same in all processes: `len(x)`, `x.size(0)`, `x.shape`.
    fn is_count(&self, id: Id) -> bool {
        let index = &self.0.index;
        let is_size = |name: &str| matches!(name, "len" | "size" | "numel" | "dim");
        called_name(index, id).is_some_and(is_size)
            || index.attribute(id).and_then(|attribute| attribute.name()).is_some_and(|n| n == "shape" || n == "ndim")
    }

    /// Whether a node is a call after which all processes have the same: of a collective, or of a function of the file that calls
    /// one and does not train.
    fn reduces(&self, id: Id) -> bool {
        let index = &self.0.index;
        let Some(name) = called_name(index, id) else { return false };
        let within = |function: Id| COLLECTIVES.iter().any(|call| !self.0.calls_in(call, function).is_empty());
        let trains = |function: Id| !self.0.calls_in("backward", function).is_empty();
        COLLECTIVES.contains(&name) || index.functions().any(|f| f.name() == name && within(f.id()) && !trains(f.id()))
    }

    /// Whether a call is of a function that trains, by what it does or by its name, and returns what differs.
    fn trains(&self, call: Id, steps: u8) -> bool {
        let name = called_name(&self.0.index, call).unwrap_or_default();
        let is_own = self.0.steps.training.iter().any(|step| self.0.name_of(*step) == name);
        (is_own || name.split('_').any(|word| word == "train" || word == "training"))
            && self.own_function(call).is_none_or(|function| self.returns_apart(function, None, steps))
    }

    fn own_function(&self, call: Id) -> Option<Id> {
        let name = called_name(&self.0.index, call)?;
        self.0.index.functions().find(|f| f.name() == name).map(|f| f.id())
    }

    /// Whether a function returns what differs, as a whole or in one place.
    fn returns_apart(&self, function: Id, place: Option<usize>, steps: u8) -> bool {
        let (k, index) = (kinds(), &self.0.index);
        let returns = index.of_kind_in(k.return_statement, function).iter();
        let own = returns.filter(|r| self.0.function_of(**r) == Some(function));
        let mut values = own.filter_map(|r| index.parts(*r).next());
        values.any(|value| self.differs(place.and_then(|place| self.element(value, place)).unwrap_or(value), steps))
    }

    /// One of the values in a list without brackets or a tuple.
    fn element(&self, list: Id, place: usize) -> Option<Id> {
        let (k, index) = (kinds(), &self.0.index);
        let is_list = [k.expression_list, k.tuple].contains(&index.kind(list));
        is_list.then(|| index.parts(list).nth(place)).flatten()
    }

    /// What a statement of the function adds to an object: `losses.append(x)`, `meter.update(x, n)`, `logs["loss"] = x`.
    fn additions(&self, object: Id, word: Id) -> Vec<Id> {
        let (k, index) = (kinds(), &self.0.index);
        let (name, owner) = (index.text_of(object), self.0.function_of(word));
        let mut found = Vec::new();
        for &other in self.0.identifiers(index.text_of(word)) {
            let outer = |id: &Id| {
                let parent = index.parent(*id)?;
                (index.owner(parent) == Some(*id)).then_some(parent)
            };
            let own = std::iter::successors(Some(other), outer).find(|id| index.is_text(*id, name));
            let Some(own) = own.filter(|_| self.0.function_of(other) == owner) else { continue };
            let mut at = own;
            while let Some(parent) = index.parent(at) {
                let is_entry = index.kind(parent) == k.subscript && index.value(parent) == Some(at);
                if index.owner(parent) == Some(at) || is_entry {
                    at = parent;
                    continue;
                }
                let is_statement = index.parent(parent).is_some_and(|s| index.kind(s) == k.expression_statement);
                if index.kind(parent) == k.call && index.callee(parent) == Some(at) && at != own && is_statement {
                    found.extend(index.arguments(parent).ids());
                } else if index.kind(at) == k.subscript && index.target(parent) == Some(at) {
                    found.extend(index.source(parent));
                }
                break;
            }
        }
        found
    }

    /// Assignments to a name, and loops over it, in the function of a place.
    fn bindings(&self, name: &str, at: Id) -> Vec<Id> {
        let owner = self.0.function_of(at);
        self.0.index.bindings(name).iter().copied().filter(|b| self.0.function_of(*b) == owner).collect()
    }

    /// Whether a place is in what a statement binds, which is read before.
    fn is_in_value(&self, at: Id, binding: Id) -> bool {
        let index = &self.0.index;
        let within = if index.is_loop(binding) { index.source(binding) } else { Some(binding) };
        within.is_some_and(|value| index.is_within(at, value))
    }
}

#[cfg(test)]
mod tests {
    use super::{comes_from_training, is_read_later};
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

    #[test]
    fn what_all_processes_have_computed_together() {
        let mean = "def mean(value):\n    torch.distributed.all_reduce(value)\n    return value / 2\n";
        let check = |reduces: &str, rest: &str, expected: bool| {
            let forward =
                "for n, (x, y) in enumerate(loader):\n    out = net(x)\n    loss = f(out, y)\n    loss.backward()";
            check(&format!("import torch\n{mean}total = 0\nlosses = []\n{forward}\n    {reduces}\n{rest}"), expected);
        };
        let own = "loss = mean(loss)";
        check(own, "print(loss.item())\n      ^^^^^^^^^^^\n", false);
        check("pass", "print(loss.item())\n      ^^^^^^^^^^^\n", true);
        check("torch.distributed.all_reduce(loss)", "print(loss)\n      ^^^^\n", false);
        let sums = &format!("{own}\n    total += loss.item() * len(x)\n    losses.append(float(loss))");
        check(sums, "print(total)\n      ^^^^^\n", false);
        check(sums, "print(sum(losses) / len(loader))\n      ^^^^^^^^^^^^^^^^^^^^^^^^^\n", false);
        check(own, "    print(f\"{n} {loss:.3f}\")\n          ^^^^^^^^^^^^^^^^^\n", false);
        check(own, "    bad = torch.isnan(loss)\n    if bad: pass\n       ^^^\n", false);
        let hits = &format!("{own}\n    total += (out.argmax(1) == y).sum().item()");
        check(hits, "print(total)\n      ^^^^^\n", true);
        let mixed = &format!("{own}\n    total += loss.item() * out.max()");
        check(mixed, "print(total)\n      ^^^^^\n", true);
        let before = "pass\n    loss = f(net(x), y)\n    total += loss.item()\n    loss = mean(loss)";
        check(before, "print(total)\n      ^^^^^\n", true);
        check(own, "    print(mean(out.max()))\n          ^^^^^^^^^^^^^^^\n", false);
        let meter = &format!("{own}\n    meter.update(loss.item(), x.size(0))\n    logs['loss'] = loss.item()");
        check(meter, "print(meter.avg, logs)\n     ^^^^^^^^^^^^^^^^^\n", false);
        let hits = &format!("{own}\n    meter.update(hits(out, y))\n    logs['hits'] = hits(out, y)");
        check(hits, "print(meter.avg)\n      ^^^^^^^^^\n", true);
        check(hits, "print(logs)\n      ^^^^\n", true);
    }

    #[test]
    fn samples() {
        let check = |rest: &str, expected: bool| {
            let forward = "for epoch in range(3):\n    for n, (x, y) in enumerate(loader):\n        loss = f(net(x), y)\n        loss.backward()";
            check(&format!("{forward}\n        {rest}\n"), expected);
        };
        check("log((net(x) > 0).sum())\n            ^^^^^^^^^^^^^^^^^^", true);
        check("log(x.size(0) + len(y) + y.shape[0])\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^", false);
        check("log(n, epoch)\n           ^^^^^^^^^^", false);
        check("seen = x.size(0)\n        log(seen)\n            ^^^^", false);
    }

    /// In evaluation the branch with the collective is not taken.
    #[test]
    fn what_only_one_branch_reduces() {
        let program = |read: &str| {
            format!(
                "def train_or_test(net, train):\n    total = 0\n    for x in loader:\n        loss = f(net(x))\n        if train:\n            \
                 loss.backward()\n            loss = dist.all_reduce(loss)\n        total += loss.item()\n    return total\n\n\n\
                 for n in range(3):\n    found = train_or_test(net, False)\n    if found < best:\n        bad = 0\n    else:\n        bad += 1\n        {read}\n"
            )
        };
        check(&program("print(found)\n              ^^^^^"), true);
        check(&program("print(bad)\n              ^^^"), true);
    }

    #[test]
    fn what_a_function_that_trains_returns_in_each_place() {
        let check = |rest: &str, expected: bool| {
            let mean = "def mean(value):\n    torch.distributed.all_reduce(value)\n    return value / 2";
            let step = "def step(net, x, y):\n    out = net(x)\n    loss = f(out, y)\n    loss.backward()\n    loss = mean(loss)\n    \
                return loss.item(), (out == y).sum()";
            let epoch = "def train(net, loader):\n    total = 0\n    for x in loader:\n        loss = f(net(x))\n        loss.backward()\n        \
                loss = mean(loss)\n        total += loss.item()\n    return total / len(loader)";
            check(&format!("{mean}\n{step}\n{epoch}\n{rest}\n"), expected);
        };
        check("a, b = step(net, x, y)\nprint(a)\n      ^", false);
        check("a, b = step(net, x, y)\nprint(b)\n      ^", true);
        check("a = step(net, x, y)\nprint(a)\n      ^", true);
        check("a = train(net, loader)\nprint(a)\n      ^", false);
    }

    #[test]
    fn whether_a_value_is_read_later() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| is_read_later(at.file().view, at.node()));
        };
        let pass = "for x in y:\n    loss = f(x)\n    loss.backward()\n    ^^^^\n";
        check(pass, false);
        check(&format!("{pass}    print(loss.item())\n"), true);
        check(&format!("{pass}    if n:\n        total += loss\n"), true);
        check(&format!("{pass}print(loss)\n"), true);
        check(&format!("{pass}loss = g()\nprint(loss)\n"), false);
        check(&format!("{pass}    loss = loss / 2\n"), true);
        check(&format!("{pass}    del loss\n    f(loss=2)\n"), false);
        check(&format!("{pass}    print(loss)\n    loss.backward()\n"), false);
        check(&format!("{pass}    loss = g(x)\n    loss.backward()\n    print(loss)\n"), false);
        check("while loss > 1:\n    loss = f(x)\n    loss.backward()\n    ^^^^\n", true);
        check("while True:\n    loss = f(x)\n    print(loss)\n    loss.backward()\n    ^^^^\n", false);
        check("def f():\n    loss = g()\n    loss.backward()\n    ^^^^\n    return loss\n", true);
    }
}
