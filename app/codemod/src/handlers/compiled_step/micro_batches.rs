//! A loop over the micro-batches of one step, `for _ in range(n):`, with the optimizer's step behind it.

use super::slice::reads;
use super::{Input, Refusal, loop_of, refuse};
use crate::facts::FileView;
use crate::facts::roles::Role;
use crate::names::called_name;
use crate::tree::{Id, fields, kinds};

const EPOCH: &str = "the weights learn behind the whole loop over the loader, and the IPU updates them with every call of the compiled \
    step. Put the optimizer's step into the loop, under `if (i + 1) % n == 0:` for n batches to a step, then port again";
const CUT: &str = "this loop takes a batch apart into micro-batches, which the IPU does by itself. Let the loader's batch be the \
    micro-batch and leave this loop out: `if (i + 1) % n == 0:` around the optimizer's step in the loop over the loader; then \
    port again";
const READER: &str = "the micro-batches of this loop come from a reader of the program's own, and to accumulate the IPU needs those \
    of a whole step at once, which `poptorch.DataLoader` gives. Take them with `next(…)` from the iterator of a \
    `torch.utils.data.DataLoader` that is made in this file, then port again";
const NUMBERED: &str = "the number of the micro-batch is read here, and on the IPU one call takes all micro-batches of a step. Write the \
    loop without it, each batch by `next(…)` of the loader's iterator, then port again";

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
    let leaves = [k.break_statement, k.continue_statement]
        .iter()
        .flat_map(|kind| index.of_kind_in(*kind, body))
        .any(|id| loop_of(view, *id) == Some(around));
    if leaves || index.field(around, f.alternative).is_some() {
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
