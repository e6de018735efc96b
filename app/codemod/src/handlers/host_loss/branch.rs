//! A project with compute modes: the engine puts these changes under its test for the RDU, and every other mode keeps its
//! code. What a plain script shows at one place is spread over functions here, so some of it is checked while it runs:
//! whether the model trains decides where it is called, and gradients that are gathered stop the program.

use super::loss_output::loss_output;
use super::optimizer::{self, Kind, Optimizer};
use super::plan::{
    arguments, input_names, is_statement, model_calls, object, plain_backward, plain_update, refuse, tensors_only,
    untouched_gradients,
};
use super::runtime::Program;
use super::{Input, Refusal, Wish, entry, expression};
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::modes::Region;
use crate::facts::roles::Role;
use crate::names::{called_name, dotted};
use crate::order;
use crate::tree::{Id, ROOT, fields, kinds};

const INFERENCE: &str = "while it trains the model runs on the RDU; without an optimizer, for inference alone, this call runs on \
    the host. For inference on the RDU compile with `--inference`, with None for the optimizer, and run the section `fwd`";
const COMPILING: &str = "compiling runs the program up to here: what stands before, such as opening the data, happens then, \
    too. Compile where the data are, or with a configuration that makes them up";

/// What a ported trainer leaves to a person: it is told where it happens.
pub(super) fn note_limits(input: &Input<'_, '_>, view: &FileView<'_>) {
    for (name, text) in [("call", INFERENCE), ("start", COMPILING)] {
        let of_runtime = |c: &Id| object(view, *c).is_some_and(|o| view.index.text_of(o) == "rdu");
        if let Some(call) = view.calls(name).iter().copied().find(of_runtime) {
            input.note(view, call, text);
        }
    }
}

/// The changes of a project's trainer.
pub(super) fn wishes(input: &Input<'_, '_>, view: &FileView<'_>) -> Result<Vec<Wish>, Refusal> {
    let index = &view.index;
    let reached = |id: Id| is_reached(input, view, id);
    let step = match view.steps.training.as_slice() {
        [step] => *step,
        [_, second, ..] => return refuse(*second, "the file has several training steps. Give each a file of its own"),
        [] => return Ok(Vec::new()),
    };
    if input.project.is_lightning(view, step) {
        return refuse(step, "Lightning calls the step; write the loop in plain PyTorch first");
    }
    if let Some(at) = view.differentiates() {
        return refuse(
            at,
            "gradients are part of what is computed, and on an RDU the host does not see them. Write a loss without them, or train this on another target",
        );
    }
    if view.has_word("rdu") {
        return refuse(step, "the name `rdu` is taken, and the port needs it. Rename it, then port again");
    }
    let update = plain_update(input, view, step, &reached)?;
    let backward = plain_backward(view, step, &reached)?;
    if input.project.modes.as_ref().is_some_and(|m| m.guard_at(view, input.project, update).is_none()) {
        return refuse(
            update,
            "the compute mode can't be read at this place. Hand it to this function, then port again",
        );
    }
    untouched_gradients(view, step, &reached)?;
    let calls = model_places(input, view);
    let training = training_call(view, step, &calls)?;
    tensors_only(view, view.function_of(training).unwrap_or(step), training)?;
    let inputs = input_names(view, training)?;
    for call in &calls {
        if arguments(view, *call).len() != inputs.len() {
            return refuse(
                *call,
                "the model is called with other arguments here than in the training step. Give it the same ones, then port again",
            );
        }
    }
    let (optimizers, unavailable) = optimizers(input, view, step)?;
    if entry::start(input, view).is_none() {
        return refuse(
            step,
            "no program of this project that starts by `if __name__ == \"__main__\":` was found to import this file, and SambaFlow's part of the command line is read there. Port the project with that program",
        );
    }
    let mut changes = vec![class(input, view, &inputs, &optimizers, step)];
    for optimizer in &optimizers {
        let at = optimizer.statement;
        changes.push(Change::Insert { at, after: false, text: format!("rdu.take({})", optimizer.model) });
        changes.push(expression(view, optimizer.call, optimizer.text(view)));
        changes.push(Change::Insert { at, after: true, text: format!("rdu.start({})", optimizer.name) });
    }
    for (statement, class) in unavailable {
        let q = view.layout.quote;
        let text = format!("raise ValueError({q}samba.optim has SGD and AdamW, and no {class}{q})");
        changes.push(Change::Replace { first: statement, last: statement, text });
    }
    for call in calls {
        let (f, k) = (fields(), kinds());
        let Some(function) = index.field(call, f.function) else { continue };
        let Some(list) = index.field(call, f.arguments).filter(|l| index.kind(*l) == k.argument_list) else { continue };
        let given = &index.text_of(list)[1..];
        let gap = if given.starts_with(['\n', '\r']) { "," } else { ", " };
        changes.push(expression(view, call, format!("rdu.call({}{gap}{given}", index.text_of(function))));
    }
    if let Some(loss) = loss_output(view, step, training, backward, update) {
        // Samples have a loss each; the host asks for one.
        changes.push(Change::Insert { at: loss.statement, after: true, text: format!("{0} = {0}.mean()", loss.name) });
    }
    changes.push(expression(view, update, "rdu.update()".to_owned()));
    for statement in clearings(input, view) {
        changes.push(Change::Replace { first: statement, last: statement, text: String::new() });
    }
    for statement in savings(input, view) {
        changes.push(Change::Insert { at: statement, after: false, text: "rdu.fetch()".to_owned() });
    }
    let mut wishes: Vec<Wish> = changes
        .into_iter()
        .map(|change| {
            let at = change.node().map_or(index.item(step).start, |n| index.item(n).start);
            Wish { at, changes: vec![change], imports: Vec::new() }
        })
        .collect();
    if let Some(first) = wishes.first_mut() {
        first.imports.push("import sys".to_owned());
    }
    Ok(wishes)
}

/// Whether the RDU can come to a place with the code that stands there.
fn is_reached(input: &Input<'_, '_>, view: &FileView<'_>, id: Id) -> bool {
    input.project.modes.as_ref().is_none_or(|m| matches!(m.region(&view.index, id), Region::Open | Region::Target))
}

/// Calls of the model, and of a model that a function may be given instead.
fn model_places(input: &Input<'_, '_>, view: &FileView<'_>) -> Vec<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut out: Vec<Id> = model_calls(input, view).filter(|c| is_reached(input, view, *c)).collect();
    let functions: Vec<Id> = out.iter().filter_map(|c| view.function_of(*c)).collect();
    for &call in index.of_kind(k.call) {
        let Some(name) = index.field(call, f.function).filter(|g| index.kind(*g) == k.identifier) else { continue };
        let Some(function) = view.function_of(call).filter(|g| functions.contains(g)) else { continue };
        let given = index.field(function, f.parameters).is_some_and(|list| {
            index.parts(list).any(|p| {
                index.kind(p) == k.default_parameter
                    && index.field(p, f.name).is_some_and(|n| index.text_of(n) == index.text_of(name))
            })
        });
        if given && !out.contains(&call) && is_reached(input, view, call) {
            out.push(call);
        }
    }
    order::sort(&mut out);
    out
}

/// The model's call that leads to the loss: in the step, or in a function that the step calls.
fn training_call(view: &FileView<'_>, step: Id, calls: &[Id]) -> Result<Id, Refusal> {
    let index = &view.index;
    let called_by_step = |call: Id| {
        view.function_of(call).is_some_and(|g| view.calls(view.name_of(g)).iter().any(|c| index.is_within(*c, step)))
    };
    let own = calls.iter().copied().find(|c| index.is_within(*c, step));
    match own.or_else(|| calls.iter().copied().find(|c| called_by_step(*c))) {
        Some(call) => Ok(call),
        None => refuse(
            step,
            "the call of the model is neither in the step nor in a function of this file that the step calls. Write it there, then port again",
        ),
    }
}

type Unavailable = Vec<(Id, String)>;

/// The optimizers that the RDU can come to: those that SambaFlow has, and the statements of the others.
fn optimizers<'t>(
    input: &Input<'_, '_>,
    view: &FileView<'t>,
    step: Id,
) -> Result<(Vec<Optimizer<'t>>, Unavailable), Refusal> {
    let k = kinds();
    let index = &view.index;
    let (mut found, mut unavailable) = (Vec::new(), Vec::new());
    for (call, class) in optimizer::made(view).filter(|(c, _)| is_reached(input, view, *c)) {
        let known = matches!(class.as_str(), "SGD" | "Adam" | "AdamW");
        let chosen = index.ancestors(call).any(|a| {
            [k.if_statement, k.elif_clause, k.else_clause].contains(&index.kind(a))
                && a > view.function_of(call).unwrap_or(0)
        });
        match view.statement_of(call) {
            Some(statement) if !known && chosen => unavailable.push((statement, class)),
            _ => found.push(optimizer::read(view, call, &class)?),
        }
    }
    let Some(first) = found.first() else {
        return refuse(
            step,
            "no optimizer that `samba.optim` has is made in this file; SGD and AdamW are there. Make one of them here, then port again",
        );
    };
    let other = found.iter().find(|o| o.model != first.model || o.name != first.name);
    match other {
        Some(other) => refuse(
            other.call,
            "another model or another optimizer is made here; one of each is compiled. Make the others in files of their own",
        ),
        None => Ok((found, unavailable)),
    }
}

/// The class above the trainer.
fn class(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    inputs: &[String],
    optimizers: &[Optimizer<'_>],
    step: Id,
) -> Change {
    let kinds: Vec<Kind> = optimizers.iter().map(|o| o.kind).collect();
    let anchor = optimizers.first().map_or(step, |o| o.call);
    let program =
        Program { view, settings: input.settings, inputs, kinds, anchor, beside_other_modes: true, in_one_run: false };
    let newline = view.layout.newline;
    let index = &view.index;
    let trainer = index.parts(ROOT).find(|s| index.is_within(step, *s)).unwrap_or(step);
    // Comments above the trainer stay with it.
    let mut at = index.item(trainer).start;
    while let Some(line) = index.text[..at].lines().next_back().filter(|l| l.starts_with('#')) {
        at -= line.len() + newline.len();
    }
    let above = index.text[..at].replace('\r', "");
    let gap = "\n".repeat(3usize.saturating_sub(above.len() - above.trim_end_matches('\n').len()));
    let text = format!("{gap}{}\n\n\n", program.text()).replace('\n', newline);
    Change::Raw { range: at..at, text }
}

/// Statements that clear gradients: the RDU's are its own.
fn clearings(input: &Input<'_, '_>, view: &FileView<'_>) -> Vec<Id> {
    let clears = |c: Id| {
        is_statement(view, c)
            && is_reached(input, view, c)
            && object(view, c)
                .and_then(|o| input.project.role(view, o))
                .is_some_and(|role| matches!(role, Role::Optimizer | Role::Model))
    };
    view.calls("zero_grad").iter().copied().filter(|c| clears(*c)).filter_map(|c| view.statement_of(c)).collect()
}

/// Statements that take the model's weights, or put others in their place on the host.
fn savings(input: &Input<'_, '_>, view: &FileView<'_>) -> Vec<Id> {
    let index = &view.index;
    let is_model = |id: Id| dotted(index, id).is_some() && input.project.role(view, id) == Some(Role::Model);
    let named = view.calls("state_dict").iter().chain(view.calls("load_state_dict")).copied();
    let taken = named.filter(|c| object(view, *c).is_some_and(is_model));
    let saved = view
        .calls("save")
        .iter()
        .copied()
        .filter(|c| called_name(index, *c).is_some() && arguments(view, *c).first().is_some_and(|a| is_model(*a)));
    let mut out: Vec<Id> =
        taken.chain(saved).filter(|c| is_reached(input, view, *c)).filter_map(|c| view.statement_of(c)).collect();
    order::sort(&mut out);
    out.dedup();
    out
}
