//! Optimizers that a file creates.

use super::bindings::value_once;
use super::calls::qualified;
use super::obstacle::{self as why, Obstacle};
use crate::project::FileInProject;
use crate::roles::looked_up_in;
use crate::view::FileView;
use python::PythonFile;
use python::edit::Change;
use python::names::{called_name, dotted};
use python::refactor::extracted;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// A call that creates a PyTorch optimizer.
pub struct OptimizerMade<'t> {
    /// The call.
    pub call: Id,
    /// `torch.optim.AdamW`.
    pub qualified: String,
    /// The name that it is assigned to.
    pub name: Option<&'t str>,
}

impl OptimizerMade<'_> {
    /// `AdamW`.
    pub fn class(&self) -> &str {
        self.qualified.rsplit('.').next().unwrap_or(&self.qualified)
    }
}

/// The optimizers of `torch.optim` that a file creates, in the order of the text.
pub fn optimizers_made<'t>(file: &FileView<'t>) -> Vec<OptimizerMade<'t>> {
    let k = kinds();
    let index = &file.index;
    let read = |call: Id| {
        let qualified = qualified(file, call)?;
        let class = qualified.strip_prefix("torch.optim.")?;
        let is_class = class.starts_with(|c: char| c.is_ascii_uppercase()) && !class.contains('.');
        let assignment = index.parent(call).filter(|p| index.kind(*p) == k.assignment);
        let left = assignment.and_then(|a| index.target(a)).filter(|l| dotted(index, *l).is_some());
        is_class.then(|| OptimizerMade { call, name: left.map(|l| index.text_of(l)), qualified: qualified.clone() })
    };
    let all = || index.of_kind(k.call).iter().copied().filter(|call| read(*call).is_some()).collect();
    file.optimizers.get_or_init(all).iter().filter_map(|call| read(*call)).collect()
}

/// Those that the target reaches with a step; those that no program creates, if there are no others.
pub fn optimizers_of<'t>(file: FileInProject<'_, 't>, whole: Id) -> Vec<OptimizerMade<'t>> {
    let (made, unused): (Vec<_>, Vec<_>) =
        optimizers_made(&file).into_iter().partition(|made| file.is_reached_with(whole, made.call));
    if made.is_empty() { unused.into_iter().filter(|made| file.is_reached(made.call)).collect() } else { made }
}

/// The only call in a file that creates an optimizer whose class is looked up by its name: `getattr(torch.optim, name)(…)`.
pub fn chosen_by_name<'t>(file: FileInProject<'_, 't>, whole: Id) -> Option<OptimizerMade<'t>> {
    let index = &file.view.index;
    let looks_up = |call: &Id| looked_up_in(file.view, *call).is_some_and(|module| module == "torch.optim");
    let mut made = index.of_kind(kinds().call).iter().copied().filter(looks_up);
    let call = made.next().filter(|call| made.next().is_none() && file.is_reached_with(whole, *call))?;
    let target = index.parent(call).and_then(|parent| index.assignment(parent))?.target()?;
    let name = dotted(index, target).map(|_| index.text_of(target));
    (!is_repeated(&file, call, 3)).then(|| OptimizerMade { call, name, qualified: String::new() })
}

/// The call `model.parameters()` that an optimizer receives, alone or as its only parameter group; also as a list, or
/// restricted to the weights that need a gradient.
pub fn all_weights(file: &PythonFile<'_>, given: Id) -> Option<Id> {
    let (k, index) = (kinds(), &file.index);
    let only = |id: Id, kind| {
        let mut parts = index.parts(id).filter(|_| index.kind(id) == kind);
        parts.next().filter(|_| parts.next().is_none())
    };
    let given = value_once(file, given);
    let entry = only(given, k.list).and_then(|group| only(group, k.dictionary));
    let weights = entry.and_then(|entry| {
        let mut parts = index.parts(entry);
        parts.next().filter(|key| index.text_of(*key).trim_matches(['"', '\'']) == "params")?;
        parts.next()
    });
    let all = weights.map_or_else(|| source_of_weights(file, given), |weights| value_once(file, weights));
    let call = index.call(all).filter(|c| c.name() == Some("parameters") && c.arguments().is_empty())?;
    call.receiver().filter(|model| dotted(index, *model).is_some()).map(|_| all)
}

/// What weights come from that are put into a list, or are those that need a gradient: `net.parameters()` of
/// `[w for w in net.parameters() if w.requires_grad]`.
fn source_of_weights(file: &PythonFile<'_>, given: Id) -> Id {
    let (k, index) = (kinds(), &file.index);
    let arguments: Vec<Id> = index.arguments(given).ids().collect();
    let parts: Vec<Id> = index.parts(given).collect();
    let is_own = index.callee(given).is_some_and(|callee| index.kind(callee) == k.identifier);
    let inner = match (called_name(index, given).filter(|_| is_own), arguments.as_slice()) {
        (Some("list" | "tuple"), [all]) => Some(*all),
        (Some("filter"), [test, all]) if needs_gradient(index.text_of(*test)) => Some(*all),
        _ => None,
    };
    let of_comprehension = || {
        let [each, source, tests @ ..] = parts.as_slice() else { return None };
        let name = index.text_of(*each);
        let is_each = index.target(*source).is_some_and(|target| index.is_text(target, name));
        let keeps = |test: &Id| {
            index.text_of(*test).strip_prefix("if").map(str::trim) == Some(&format!("{name}.requires_grad"))
        };
        let is_list = [k.list_comprehension, k.generator_expression].contains(&index.kind(given));
        (is_list && index.kind(*source) == k.for_in_clause && is_each && tests.iter().all(keeps))
            .then(|| index.source(*source))?
    };
    match inner.or_else(of_comprehension) {
        Some(inner) => source_of_weights(file, value_once(file, inner)),
        None => given,
    }
}

/// `lambda w: w.requires_grad`
fn needs_gradient(test: &str) -> bool {
    let function = test.strip_prefix("lambda").and_then(|rest| rest.split_once(':'));
    function.is_some_and(|(name, result)| result.trim() == format!("{}.requires_grad", name.trim()))
}

/// Whether an optimizer receives all weights of more than one model, joined in one list.
pub fn of_several_models(file: &PythonFile<'_>, given: Id) -> bool {
    let index = &file.index;
    let given = value_once(file, given);
    let all = |call: &&Id| index.call(**call).is_some_and(|c| c.name() == Some("parameters") && c.receiver().is_some());
    let models: SortedSet<&str> =
        index.of_kind_in(kinds().call, given).iter().filter(all).map(|c| index.text_of(*c)).collect();
    models.len() > 1 && index.of_kind_in(kinds().dictionary, given).is_empty()
}

/// Assigns optimizers to a name that a function returns as soon as they are created.
pub fn optimizers_named(file: &FileView<'_>) -> Vec<Change> {
    let name = file.free_name(&["optimizer", "made_optimizer"]);
    let returned = |made: OptimizerMade<'_>| {
        let statement = file.index.parent(made.call).filter(|p| file.index.kind(*p) == kinds().return_statement)?;
        extracted(file, statement, made.call, &name)
    };
    optimizers_made(file).into_iter().filter_map(returned).collect()
}

/// Obstacles for a plain script's only optimizer: it must be created once, and in one way.
pub fn unlike_others(file: FileInProject<'_, '_>, made: &[OptimizerMade<'_>], whole: Id) -> Vec<Obstacle> {
    let index = &file.view.index;
    let [first, others @ ..] = made else { return vec![why::no_optimizer(whole)] };
    // Only one of the alternatives of an `if` is created.
    let is_other = |o: &&OptimizerMade<'_>| o.name != first.name || choice(&file, &[first.call, o.call]).is_none();
    let mut out: Vec<Obstacle> = others.iter().filter(is_other).map(|o| why::several_optimizers_made(o.call)).collect();
    if is_repeated(&file, first.call, 3) {
        out.push(why::optimizer_in_loop(first.call));
    }
    // The only call of the function that creates it returns the same optimizer.
    let maker = file.function_of(first.call).map(|function| file.name_of(function));
    let makes =
        |value: Id| maker.is_some_and(|maker| called_name(index, value) == Some(maker) && file.calls(maker).len() == 1);
    let calls_else = |value: Id| value != first.call && index.kind(value) == kinds().call && !makes(value);
    let assigned = first.name.into_iter().flat_map(|name| index.assignments_to(name));
    let otherwise = assigned
        .filter(|a| file.is_reached_with(whole, a.id()))
        .find(|a| a.value().is_some_and(calls_else))
        .filter(|a| !others.iter().any(|o| a.value() == Some(o.call)));
    out.extend(otherwise.map(|a| why::optimizer_made_otherwise(a.id())));
    out
}

/// The `if` that chooses between calls: each is in its own branch.
pub fn choice(file: &PythonFile<'_>, calls: &[Id]) -> Option<Id> {
    let (k, index) = (kinds(), &file.index);
    let branch = |test: Id, call: Id| index.children(test).find(|part| index.is_within(call, *part));
    let chooses = |test: &Id| {
        let branches: Vec<Id> = calls.iter().filter_map(|call| branch(*test, *call)).collect();
        let apart = branches.iter().enumerate().all(|(n, one)| !branches[..n].contains(one));
        index.kind(*test) == k.if_statement && branches.len() == calls.len() && apart
    };
    index.ancestors(*calls.first()?).find(chooses)
}

/// Whether a place is reached repeatedly: it is in a loop, or its function is called in one.
fn is_repeated(file: &PythonFile<'_>, id: Id, steps: u8) -> bool {
    let looped = |id: Id| file.index.ancestors(id).any(|a| file.index.is_loop(a));
    looped(id)
        || steps > 0 && file.function_of(id).is_some_and(|f| file.callers(f).any(|c| is_repeated(file, c, steps - 1)))
}

#[cfg(test)]
mod tests {
    use super::{all_weights, choice, chosen_by_name, of_several_models, optimizers_made, unlike_others};
    use crate::marked::{self, names, with_setup};
    use python::tree::ROOT;

    #[test]
    fn optimizers_that_a_file_makes() {
        let check = |rest: &str, expected: &[&str]| {
            marked::check(&format!("import torch\n{rest}"), expected, |at| {
                let name = |made: &super::OptimizerMade<'_>| format!("{} {}", made.name.unwrap_or("-"), made.class());
                optimizers_made(&at.file()).iter().map(name).collect::<Vec<_>>()
            });
        };
        check("a = torch.optim.SGD(w)\n", &["a SGD"]);
        check("from torch.optim import AdamW\nreturn_of(AdamW(w))\n", &["- AdamW"]);
        check("torch.optim.lr_scheduler.StepLR(a, 1)\nb = Adam(w)\n", &[]);
    }

    #[test]
    fn weights_that_are_all_of_a_model() {
        let check = |given: &str, expected: &str| {
            let program = format!("f({given})\n  {}\n", "^".repeat(given.len()));
            marked::check(&program, expected, |at| at.lines(all_weights(&at.file(), at.node())));
        };
        check("net.parameters()", "net.parameters()");
        check("list(net.parameters())", "net.parameters()");
        check("[{'params': net.parameters()}]", "net.parameters()");
        check("[w for w in net.parameters() if w.requires_grad]", "net.parameters()");
        check("filter(lambda w: w.requires_grad, net.parameters())", "net.parameters()");
        check("[w for w in net.parameters() if w.ndim > 1]", "");
        check("[{'params': net.parameters()}, {'params': head}]", "");
        check("net.parameters()[1:]", "");
    }

    #[test]
    fn weights_of_several_models() {
        let check = |given: &str, expected: bool| {
            let program = format!("f({given})\n  {}\n", "^".repeat(given.len()));
            marked::check(&program, expected, |at| of_several_models(&at.file(), at.node()));
        };
        check("list(a.parameters()) + list(b.parameters())", true);
        check("list(a.parameters()) + list(a.parameters())", false);
        check("[{'params': a.parameters()}, {'params': b.parameters()}]", false);
    }

    #[test]
    fn an_optimizer_that_is_made_once_and_in_one_way() {
        let check = |rest: &str, expected: &str| {
            marked::check(&format!("import torch\n{rest}"), expected, |at| {
                names(&unlike_others(at.file(), &optimizers_made(&at.file()), ROOT))
            });
        };
        check("a = torch.optim.SGD(w)\n", "");
        check("f(w)\n", "no_optimizer");
        check("a = torch.optim.SGD(w)\nb = torch.optim.SGD(v)\n", "several_optimizers_made");
        check("if c:\n    a = torch.optim.SGD(w)\nelse:\n    a = torch.optim.Adam(w)\n", "");
        check("for w in ws:\n    a = torch.optim.SGD(w)\n", "optimizer_in_loop");
        check("a = torch.optim.SGD(w)\na = wrap(a)\n", "optimizer_made_otherwise");
    }

    #[test]
    fn the_test_that_chooses_an_optimizer() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines(choice(&at.file(), &[at.node(), at.last()])));
        };
        check("if a:\n    f(1)\n    ^^^^\nelse:\n    f(2)\n    ^^^^\n", "if a:");
        check("if a:\n    f(1)\n    ^^^^\n    f(2)\n    ^^^^\n", "");
    }

    #[test]
    fn an_optimizer_whose_class_is_looked_up() {
        let check = |rest: &str, expected: bool| {
            marked::check(&with_setup(rest), expected, |at| chosen_by_name(at.file(), ROOT).is_some());
        };
        check("a = getattr(torch.optim, name)(w)\n", true);
        check("a = getattr(torch.nn, name)(w)\n", false);
        check("for w in ws:\n    a = getattr(torch.optim, name)(w)\n", false);
    }
}
