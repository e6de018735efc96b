//! A loop over the micro-batches of one step, `for _ in range(n):`, with the optimizer's step behind it.

use super::known::literal;
use super::slice::{assigned, reads};
use super::{Input, Refusal, loop_of, refuse};
use crate::facts::FileView;
use crate::facts::counting::{Chunks, chunks};
use crate::facts::roles::Role;
use crate::names::called_name;
use crate::tree::{Id, fields, kinds};

const EPOCH: &str = "the weights learn behind the whole loop over the loader, and the IPU updates them with every call of the compiled \
    step. Put the optimizer's step into the loop, under `if (i + 1) % n == 0:` for n batches to a step, then port again";
const CUT: &str = "this loop takes a batch apart into micro-batches, which the IPU does by itself. Cut each tensor by `chunk(n)` in \
    the loop's header, in a loop over a loader that is made in this file with a `batch_size` that n divides; or let the loader's batch be the \
    micro-batch and leave this loop out: `if (i + 1) % n == 0:` around the optimizer's step in the loop over the loader; then \
    port again";
const READER: &str = "the micro-batches of this loop come from a reader of the program's own, and to accumulate the IPU needs those \
    of a whole step at once, which `poptorch.DataLoader` gives. Take them with `next(…)` from the iterator of a \
    `torch.utils.data.DataLoader` that is made in this file, then port again";
const NUMBERED: &str = "the number of the micro-batch is read here, and on the IPU one call takes all micro-batches of a step. Write the \
    loop without it, each batch by `next(…)` of the loader's iterator, then port again";

/// A batch that is cut into equal parts, each of which goes its way.
pub(super) struct Cut {
    pub(super) chunks: Chunks,
    /// The loader's number of samples.
    pub(super) batch: Id,
}

/// How a loop takes the loader's batch apart; why that can't be followed; none where the loop is another.
pub(super) fn cut(view: &FileView<'_>, around: Id) -> Result<Option<Cut>, Refusal> {
    let Some(chunks) = chunks(view, around) else { return Ok(None) };
    if leaves(view, around) {
        return refuse(around, CUT);
    }
    match batch_of(view, around, &chunks) {
        Some(batch) => Ok(Some(Cut { chunks, batch })),
        None => refuse(around, CUT),
    }
}

/// The number of samples of the one loader that the tensors come from.
fn batch_of(view: &FileView<'_>, around: Id, chunks: &Chunks) -> Option<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let outer = index
        .ancestors(around)
        .take_while(|a| index.kind(*a) != k.function_definition)
        .find(|a| index.kind(*a) == k.for_statement)?;
    let bound = index.field(outer, f.left)?;
    let mut names: Vec<&str> = std::iter::once(bound)
        .chain(index.of_kind_in(k.identifier, bound).iter().copied())
        .map(|id| index.text_of(id))
        .collect();
    // `x = batch["x"].to(device)`
    for &assignment in index.of_kind_in(k.assignment, outer).iter().filter(|a| **a < around) {
        let reads_batch = index
            .field(assignment, f.right)
            .is_some_and(|r| reads(view, r).iter().any(|id| names.contains(&index.text_of(*id))));
        if reads_batch {
            names.extend(assigned(view, assignment));
        }
    }
    let of_batch = |tensor: &Id| reads(view, *tensor).first().is_some_and(|name| names.contains(&index.text_of(*name)));
    if !chunks.tensors.iter().all(of_batch) {
        return None;
    }
    let mut source = index.field(outer, f.right)?;
    // `enumerate(tqdm(loader))`
    while index.kind(source) == k.call {
        source = index.field(source, f.arguments).and_then(|a| index.parts(a).next())?;
    }
    let loaders = view.calls("DataLoader");
    let assigned = |call: &&Id| {
        let to = index.parent(**call).and_then(|a| index.field(a, f.left));
        to.is_some_and(|left| index.text_of(left) == index.text_of(source))
    };
    let mut named = loaders.iter().filter(assigned);
    let loader = match (named.next(), named.next(), loaders) {
        (Some(one), None, _) | (None, None, [one]) => *one,
        _ => return None,
    };
    let positional = || {
        let given = index.parts(index.field(loader, f.arguments)?).nth(1)?;
        (index.kind(given) != k.keyword_argument && !index.text_of(given).starts_with('*')).then_some(given)
    };
    crate::ledger::keyword(view, loader, "batch_size").or_else(positional)
}

impl Cut {
    /// The number of samples of one part, where that can be written.
    pub(super) fn micro_batch(&self, view: &FileView<'_>, parts: &str) -> Result<String, Refusal> {
        let k = kinds();
        let index = &view.index;
        let batch = index.text_of(self.batch);
        if divides(view, self.batch, parts) == Some(false) {
            return refuse(self.batch, CUT);
        }
        match (batch.parse::<u32>(), parts.parse::<u32>()) {
            (Ok(batch), Ok(parts)) => Ok((batch / parts).to_string()),
            _ => {
                let plain =
                    [k.identifier, k.attribute, k.subscript, k.integer, k.call].contains(&index.kind(self.batch));
                Ok(if plain { format!("{batch} // {parts}") } else { format!("({batch}) // {parts}") })
            }
        }
    }
}

/// Whether a number of parts divides a number of samples, if the file says both.
fn divides(view: &FileView<'_>, batch: Id, parts: &str) -> Option<bool> {
    let samples = literal(view, view.index.text_of(batch), batch)?;
    let parts = literal(view, parts, batch)?;
    Some(parts > 0 && samples % parts == 0)
}

/// Says of a loader's batches that were divided what must hold for a step to have the samples it had.
pub(super) fn note_division(input: &Input<'_, '_>, view: &FileView<'_>) {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let told = |call: Id| index.parts(index.field(call, f.arguments)?).next().map(|number| index.text_of(number));
    let numbers: Vec<&str> = view.calls("gradientAccumulation").iter().filter_map(|call| told(*call)).collect();
    let of_loaders = view.calls("DataLoader").iter().flat_map(|call| index.of_kind_in(k.binary_operator, *call));
    for &quotient in of_loaders {
        let mut sides = index.parts(quotient);
        let (Some(batch), Some(parts)) = (sides.next(), sides.next()) else { continue };
        let floors = index.text[index.item(batch).end..index.item(parts).start].trim() == "//";
        let (text, number) = (index.text_of(quotient), index.text_of(parts));
        let is_new = index.text.matches(text).count() > input.original.matches(text).count();
        if !floors || !numbers.contains(&number) || !is_new {
            continue;
        }
        if divides(view, batch, number).is_none() {
            let batch = index.text_of(batch);
            let message = format!(
                "a step has the samples it had only where `{number}` divides `{batch}`; where it doesn't, every step has fewer. Choose \
                 numbers that divide, and let the program say so above the loader: `assert {batch} % {number} == 0`"
            );
            input.note(view, quotient, &message);
        }
    }
}

/// Whether a loop is left, or a turn of it, before its end.
pub(super) fn leaves(view: &FileView<'_>, around: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    index.field(around, fields().alternative).is_some()
        || [k.break_statement, k.continue_statement]
            .iter()
            .flat_map(|kind| index.of_kind_in(*kind, around))
            .any(|id| loop_of(view, *id) == Some(around))
}

/// The number of turns that become one, or why they can't: each turn takes a batch from the loader and goes its way whatever
/// its number.
pub(super) fn turns(input: &Input<'_, '_>, view: &FileView<'_>, around: Id, turns: Option<Id>) -> Result<Id, Refusal> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let Some(turns) = turns else {
        let loads = index.field(around, f.right).is_some_and(|r| {
            reads(view, r).into_iter().any(|n| {
                let whole = index.parent(n).filter(|p| index.kind(*p) == k.attribute).unwrap_or(n);
                [n, whole].iter().any(|id| input.project.role(view, *id) == Some(Role::Loader))
            })
        });
        return refuse(around, if loads { EPOCH } else { CUT });
    };
    let (Some(number), Some(body)) = (index.field(around, f.left), index.field(around, f.body)) else {
        return refuse(around, CUT);
    };
    let of_loop = |id: &Id| index.is_within(*id, body);
    let reader = view.identifiers(index.text_of(number)).iter().copied().find(of_loop);
    let cuts = |id: Id| index.ancestors(id).take_while(|a| *a > body).any(|a| index.kind(a) == k.subscript);
    if let Some(reader) = reader {
        return refuse(reader, if cuts(reader) { CUT } else { NUMBERED });
    }
    if leaves(view, around) {
        return refuse(around, CUT);
    }
    let fetches = view.calls("next").iter().any(of_loop) && !view.calls("DataLoader").is_empty();
    if fetches { Ok(turns) } else { refuse(around, READER) }
}

/// The number of turns of a counted loop, when the optimizer's step comes behind it.
pub(super) fn micro_batches(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    step: Id,
    around: Id,
    optimizer: &str,
) -> Option<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let inside = view.calls("step").iter().any(|c| {
        index.is_within(*c, around)
            && index
                .field(*c, f.function)
                .and_then(|g| index.field(g, f.object))
                .is_some_and(|o| index.text_of(o) == optimizer || input.project.role(view, o) == Some(Role::Scaler))
    });
    let counted = index.field(around, f.right).filter(|r| {
        index.kind(around) == k.for_statement && index.kind(*r) == k.call && called_name(index, *r) == Some("range")
    })?;
    let mut arguments = index.parts(index.field(counted, f.arguments)?);
    let turns = arguments.next().filter(|_| arguments.next().is_none())?;
    (!inside && index.is_within(around, step)).then_some(turns)
}
