//! Simplifications of a step, which are made only if the step is then ported: a refused step keeps its lines. A loss that is computed and
//! differentiated in one expression, `criterion(net(x), y).backward()`, is first assigned to a name, so that the step reads as forward pass,
//! loss, backward pass; statements that share a line get one each, and the work of a scaler that receives the loss is written out.

use super::{Input, Wish};
use crate::definitions::{BlockShape, Values};
use crate::step_parts::once_each;
use python::edit::{Change, Splice, place_without, spliced, splices};
use python::names::as_operand;
use python::refactor::{extracted, statements_split};
use python::tree::{Id, Tree, kinds};
use std::cell::RefCell;
use training::step::{handed_losses, optimizers_named, steps_that_train, unnamed_loss};
use training::{FileInProject, FileView, Obstacle};

/// The work of a scaler that receives the loss, and the part of it that updates the weights.
pub(super) const SCALED_STEP: BlockShape = BlockShape::new("scaled_step", &["loss", "counts", "test", "update"]);
/// [`SCALED_STEP`]
pub(super) const SCALED_UPDATE: BlockShape =
    BlockShape::new("scaled_update", &["optimizer", "clips", "tested", "clip", "limit", "weights"]);

/// Why a step can't be ported, and where in the file.
struct Reason {
    at: usize,
    text: String,
}

/// A verb's result for a step, or all obstacles.
pub(super) type Planned = Result<Vec<Wish>, Vec<Obstacle>>;

type Ported = Result<Vec<Wish>, Vec<Reason>>;

/// How a verb plans the steps of a file.
type Planner = dyn for<'a, 't> Fn(&'a Input<'a, 't>, FileInProject<'a, 't>, &'a [Id]) -> Planned;

/// A verb's result for several steps, or why there is none.
fn planned(plan: &Planner, input: &Input<'_, '_>, view: &FileView<'_>, wholes: &[Id]) -> Ported {
    let file = FileInProject { view, project: input.project };
    plan(input, file, wholes).map_err(|obstacles| reasons(input, view, obstacles))
}

/// Ports the steps in `wholes` with `plan`, once they are simple enough; otherwise reports all obstacles.
pub(super) fn port_steps(input: &Input<'_, '_>, view: &FileView<'_>, wholes: &[Id], plan: &Planner) -> Vec<Wish> {
    // Other compute modes keep their code.
    let is_alone = input.project.modes.is_none();
    let planned = |input: &Input<'_, '_>, view: &FileView<'_>, wholes: &[Id]| planned(plan, input, view, wholes);
    let ported = |input: &Input<'_, '_>, view: &FileView<'_>, wholes: &[Id]| {
        let refused = |input: &Input<'_, '_>, view: &FileView<'_>| refusals(input, view, &planned);
        let named = is_alone.then(|| name_loss(input, view, wholes, &refused)).flatten();
        named.map_or_else(|| planned(input, view, wholes), |named| named.map(|wish| vec![wish]))
    };
    if wholes.is_empty() {
        return Vec::new();
    }
    let done = ported(input, view, wholes).or_else(|reasons| {
        let refused = |input: &Input<'_, '_>, view: &FileView<'_>| refusals(input, view, &ported);
        let split = is_alone.then(|| split_lines(input, view, wholes, &refused)).flatten();
        split.map_or(Err(reasons), |split| split.map(|wish| vec![wish]))
    });
    done.unwrap_or_else(|reasons| tell(input, reasons))
}

/// Writes out the work of a scaler that receives the loss and the optimizer, if the step is then ported; none if there is not exactly
/// one such call. Obstacles are then reported.
pub(super) fn write_out_scaler(input: &Input<'_, '_>, view: &FileView<'_>, plan: &Planner) -> Option<Vec<Wish>> {
    let file = FileInProject { view, project: input.project };
    let found = handed_losses(file);
    let [handed] = found.as_slice() else { return None };
    let index = &view.index;
    let clip = view.names.spelling(index, handed.statement, "torch.nn.utils.clip_grad_norm_")?;
    let text = |id: Id| index.text_of(id);
    let update = Values::default()
        .text("optimizer", text(handed.optimizer))
        .flag("clips", handed.clips.is_some())
        .flag(
            "tested",
            handed.clips.is_some_and(|(limit, _)| ![kinds().float, kinds().integer].contains(&index.kind(limit))),
        )
        .text("clip", clip)
        .text("limit", handed.clips.map_or("", |(limit, _)| text(limit)))
        .text("weights", handed.clips.map_or("", |(_, weights)| text(weights)));
    let step = Values::default()
        .text("loss", as_operand(index, handed.loss))
        .flag("counts", handed.when.is_some())
        .text("test", handed.when.map_or("", text))
        .text("update", input.block(view, SCALED_UPDATE.name, &update)?);
    let text = input.block(view, SCALED_STEP.name, &step)?;
    let change = Change::Replace { first: handed.statement, last: handed.statement, text };
    let ported = |input: &Input<'_, '_>, view: &FileView<'_>, wholes: &[Id]| planned(plan, input, view, wholes);
    let refused = |input: &Input<'_, '_>, view: &FileView<'_>| refusals(input, view, &ported);
    let ported = if_ported(input, view, handed.statement, vec![change], &refused)?;
    Some(ported.map_or_else(|reasons| tell(input, reasons), |wish| vec![wish]))
}

/// Obstacles for the steps of a file.
fn refusals(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    port: &dyn Fn(&Input<'_, '_>, &FileView<'_>, &[Id]) -> Ported,
) -> Vec<Reason> {
    let steps = steps_that_train(FileInProject { view, project: input.project });
    if steps.is_empty() { Vec::new() } else { port(input, view, &steps).err().unwrap_or_default() }
}

/// Obstacles, once each, in the order of the text.
fn reasons(input: &Input<'_, '_>, view: &FileView<'_>, obstacles: Vec<Obstacle>) -> Vec<Reason> {
    let reason = |obstacle: Obstacle| {
        let at = view.index.item(obstacle.at).start;
        Reason { at, text: input.settings.definitions.message(&obstacle.into()).0 }
    };
    once_each(obstacles).into_iter().map(reason).collect()
}

fn tell(input: &Input<'_, '_>, reasons: Vec<Reason>) -> Vec<Wish> {
    reasons.into_iter().for_each(|Reason { at, text }| input.refuse_step_at(at, &text));
    Vec::new()
}

/// Obstacles for a step as it is in a view.
type Refused<'r> = dyn Fn(&Input<'_, '_>, &FileView<'_>) -> Vec<Reason> + 'r;

/// Assigns the losses of steps to names, if `refused` has no obstacles for the resulting steps. None if all have a name.
fn name_loss(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    steps: &[Id],
    refused: &Refused<'_>,
) -> Option<Result<Wish, Vec<Reason>>> {
    let mut unnamed = steps.iter().filter_map(|step| unnamed_loss(view, *step)).peekable();
    let at = unnamed.peek()?.0;
    let name = view.free_name(&["loss", "step_loss"]);
    let changes: Option<Vec<Change>> =
        unnamed.map(|(statement, loss)| extracted(view, statement, loss, &name)).collect();
    if_ported(input, view, at, changes?, refused)
}

/// Changes, in the order of the text, that simplify a step, if the step is then ported.
fn if_ported(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    at: Id,
    changes: Vec<Change>,
    refused: &Refused<'_>,
) -> Option<Result<Wish, Vec<Reason>>> {
    let splices: Vec<Splice> = changes.iter().flat_map(|change| splices(view, change)).collect();
    let text = spliced(view.index.text, 0..view.index.text.len(), splices.clone());
    let tree = Tree::parse(&text);
    let then = FileView::read(view.path, &tree);
    // What is said of the text as it would be then has no place in this one.
    let told = RefCell::default();
    let input = Input { text: &text, view: Some(&then), notes: &told, ..*input };
    if tree.has_error() {
        return None;
    }
    let mut reasons = refused(&input, &then);
    if reasons.is_empty() {
        return Some(Ok(Wish::new(view, at, changes)));
    }
    for Reason { at, .. } in &mut reasons {
        *at = place_without(&splices, *at);
    }
    Some(Err(reasons))
}

/// Moves each statement of the steps that shares its line to a line of its own, and assigns optimizers that are returned to a name, if the
/// step is then ported; none if there are none.
fn split_lines(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    steps: &[Id],
    refused: &Refused<'_>,
) -> Option<Result<Wish, Vec<Reason>>> {
    let mut changes = statements_split(view, steps);
    changes.extend(optimizers_named(view));
    sorting::by_key(&mut changes, Change::node);
    let at = changes.first().and_then(Change::node)?;
    if_ported(input, view, at, changes, refused)
}
