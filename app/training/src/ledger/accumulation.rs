//! Gradient accumulation, by hand or by the framework.

use crate::counting::{chunks, counted};
use crate::figure::Figure;
use crate::project::ProjectFacts;
use crate::roles::Role;
use crate::view::FileView;
use python::syntax::{Argument, If};
use python::tree::{Id, kinds};

/// Keywords that set the number of accumulated batches in a framework, with the class that accepts each.
const FRAMEWORKS: [(&str, &str); 4] = [
    ("Accelerator", "gradient_accumulation_steps"),
    ("TrainingArguments", "gradient_accumulation_steps"),
    ("Seq2SeqTrainingArguments", "gradient_accumulation_steps"),
    ("Trainer", "accumulate_grad_batches"),
];

/// Calls of a method on something that has one of the roles.
pub(super) fn calls_of<'v>(
    view: &'v FileView<'_>,
    project: &'v ProjectFacts<'_, '_>,
    method: &str,
    roles: &'static [Role],
) -> impl Iterator<Item = Id> + 'v {
    view.calls(method).iter().copied().filter(move |call| {
        let object = view.index.receiver(*call);
        object.and_then(|object| project.role(view, object)).is_some_and(|found| roles.contains(&found))
    })
}

/// The number of batches of the loader that a step accumulates, according to a file.
pub(super) fn batches(view: &FileView<'_>, project: &ProjectFacts<'_, '_>) -> Option<Figure> {
    let calls = |method| calls_of(view, project, method, &[Role::Optimizer, Role::Scaler]);
    let counted = |call: Id| Some(Figure::at(view, call, &counted_by(view, call)?));
    calls("step")
        .find_map(counted)
        .or_else(|| calls("step").find_map(|call| inner_turns(view, call)))
        .or_else(|| handed_over(view, project).map(|(_, count)| count))
        .or_else(|| calls("zero_grad").find_map(counted))
        .or_else(|| by_framework(view))
}

/// A call with `update=(i + 1) % n == 0` next to the optimizer, which performs the loop's update: the call and `n`.
fn handed_over(view: &FileView<'_>, project: &ProjectFacts<'_, '_>) -> Option<(Id, Figure)> {
    let (k, index) = (kinds(), &view.index);
    let may_count =
        |value: Id| [k.comparison_operator, k.identifier, k.parenthesized_expression].contains(&index.kind(value));
    let values = index.of_kind(k.keyword_argument).iter().filter_map(|keyword| index.parts(*keyword).nth(1));
    values.filter(|value| may_count(*value)).find_map(|value| {
        let call = index.ancestors(value).find(|a| index.kind(*a) == k.call)?;
        let optimizer = |argument: Argument<'_>| match argument {
            Argument::Positional(id) | Argument::Keyword { value: id, .. } => {
                project.role(view, id) == Some(Role::Optimizer)
            }
            _ => false,
        };
        let found = index.arguments(call).iter().any(optimizer).then(|| counted(view, value)).flatten()?;
        (!found.count.is_empty()).then(|| (call, Figure::at(view, value, found.count)))
    })
}

/// The number that is passed to a framework's class.
pub(super) fn by_framework(view: &FileView<'_>) -> Option<Figure> {
    FRAMEWORKS.iter().find_map(|(class, keyword)| {
        let told = |call: &Id| view.index.arguments(*call).keyword(keyword);
        let value = view.calls(class).iter().find_map(told)?;
        (view.index.text_of(value) != "1").then(|| Figure::of(view, value))
    })
}

/// `n` of a `for … in batch.chunk(n):` with a backward pass, followed by the optimizer's step.
pub(super) fn parts_of_batch(view: &FileView<'_>, project: &ProjectFacts<'_, '_>) -> Option<Figure> {
    calls_of(view, project, "step", &[Role::Optimizer, Role::Scaler]).find_map(|call| parts(view, call))
}

/// The loop around a node, within its function.
fn loop_of(view: &FileView<'_>, id: Id) -> Option<Id> {
    let function = view.function_of(id);
    let found = view.index.ancestors(id).find(|a| view.index.kind(*a) == kinds().for_statement)?;
    (view.function_of(found) == function).then_some(found)
}

/// `n` of the `if (i + 1) % n == 0:` around a call, named or in place, or of the `continue` before it.
pub(super) fn counted_by(view: &FileView<'_>, call: Id) -> Option<String> {
    let k = kinds();
    let index = &view.index;
    let around = loop_of(view, call);
    let test = |at: Id| index.if_statement(at)?.condition();
    let backward = view.calls("backward");
    let goes_back =
        |at: Id| backward[backward.partition_point(|b| *b < at)..].first().is_some_and(|b| index.is_within(*b, at));
    let inside = index.ancestors(call).take_while(|a| Some(*a) != around).filter(|a| !goes_back(*a));
    let skips = around.into_iter().flat_map(|l| index.of_kind_in(k.if_statement, l)).copied().filter(|at| {
        let body = index.if_statement(*at).and_then(If::body);
        let behind = backward_before(view, *at).is_some_and(|b| view.function_of(b) == view.function_of(*at));
        *at < call
            && behind
            && body.is_some_and(|b| index.parts(b).last().is_some_and(|s| index.kind(s) == k.continue_statement))
    });
    let found = inside.chain(skips).find_map(|at| counted(view, test(at)?))?;
    (!found.count.is_empty()).then(|| found.count.to_owned())
}

/// The last backward pass above a node.
fn backward_before(view: &FileView<'_>, at: Id) -> Option<Id> {
    let calls = view.calls("backward");
    calls[..calls.partition_point(|call| *call < at)].last().copied()
}

/// `n` of a `for … in batch.chunk(n):` with a backward pass, followed by the optimizer's step.
fn parts(view: &FileView<'_>, step: Id) -> Option<Figure> {
    let inner = loop_of(view, backward_before(view, step)?).filter(|l| !view.index.is_within(step, *l))?;
    Some(Figure::of(view, *chunks(view, inner)?.numbers.first()?))
}

/// `n` of a `for … in range(n):` with a backward pass, followed by the optimizer's step.
fn inner_turns(view: &FileView<'_>, step: Id) -> Option<Figure> {
    let index = &view.index;
    let inner = loop_of(view, backward_before(view, step)?)?;
    let behind = !index.is_within(step, inner) && view.function_of(step) == view.function_of(inner);
    let range = index.call(index.for_statement(inner).filter(|_| behind)?.iterable()?)?;
    let mut turns = range.arguments().ids().filter(|_| range.name() == Some("range"));
    let first = turns.next().filter(|_| turns.next().is_none())?;
    Some(Figure::of(view, first))
}

/// Whether a call is made once per batch: in the loop over a loader, or next to the backward pass.
pub(super) fn takes_batches(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, call: Id) -> bool {
    let index = &view.index;
    let around = loop_of(view, call);
    let mut source = around.and_then(|around| index.for_statement(around)?.iterable());
    // `enumerate(tqdm(loader))`
    while let Some(wrapper) = source.and_then(|s| index.call(s)).filter(|call| call.name() != Some("range")) {
        source = wrapper.first_argument();
    }
    source.is_some_and(|source| project.role(view, source) == Some(Role::Loader))
        // A ported step is called by its name.
        || ["backward", "training_step"]
            .iter()
            .flat_map(|name| view.calls(name))
            .any(|backward| loop_of(view, *backward) == around && view.function_of(*backward) == view.function_of(call))
}

/// Whether the backward pass starts at a quotient: `loss / n`, or a `loss` that was divided before.
pub(super) fn is_divided(view: &FileView<'_>, project: &ProjectFacts<'_, '_>) -> bool {
    let index = &view.index;
    let backward = view.calls("backward").iter().filter_map(|call| {
        let object = index.receiver(*call)?;
        // `scaler.scale(loss).backward()`
        let scaling = index.call(object).filter(|scaling| scaling.name() == Some("scale"));
        scaling.and_then(|scaling| scaling.first_argument()).or(Some(object))
    });
    let given = handed_over(view, project).into_iter().flat_map(|(call, _)| index.arguments(call).ids());
    backward.chain(given).any(|loss| is_quotient(view, loss) || was_divided(view, loss))
}

/// Whether a name was assigned a quotient, or divided, above the place that reads it.
fn was_divided(view: &FileView<'_>, loss: Id) -> bool {
    let index = &view.index;
    let name = index.text_of(loss);
    let mut given = index.assignments_to(name).filter(|a| a.id() < loss).filter_map(|a| a.value());
    let mut changed = index.bindings(name).iter().filter(|a| **a < loss);
    given.any(|value| is_quotient(view, value)) || changed.any(|a| view.index.operator(*a) == "/=")
}

/// Whether an expression is a division.
fn is_quotient(view: &FileView<'_>, mut id: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    while index.kind(id) == k.parenthesized_expression {
        let Some(inner) = index.parts(id).next() else { return false };
        id = inner;
    }
    index.kind(id) == k.binary_operator && view.index.operator(id) == "/"
}
