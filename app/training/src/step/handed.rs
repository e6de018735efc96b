//! A loss that is passed to a scaler together with the optimizer, as in timm and similar libraries:
//! `loss_scaler(loss, optimizer, clip_grad=limit, parameters=model.parameters())`.

use super::calls::is_statement;
use super::scaler_calls::{given, names_scaler};
use crate::project::FileInProject;
use crate::roles::Role;
use crate::words::SCALER_ARGUMENTS;
use python::strings::plain_string;
use python::syntax::{Argument, Call};
use python::tree::Id;

/// The call, and its effects other than the backward pass.
pub struct HandedLoss {
    /// The statement that is the call.
    pub statement: Id,
    /// The differentiated expression.
    pub loss: Id,
    /// The optimizer that updates the weights.
    pub optimizer: Id,
    /// The limit for the gradients' 2-norm, if there is one, and the weights whose gradients are clipped.
    pub clips: Option<(Id, Id)>,
    /// The condition for updating the weights.
    pub when: Option<Id>,
}

/// Whether a call passes a loss and an optimizer to a scaler.
pub(super) fn is_handed(file: FileInProject<'_, '_>, call: Id) -> bool {
    file.view.index.call(call).is_some_and(|call| parts(file, call).is_some())
}

/// The loss and the optimizer in such a call.
fn parts(file: FileInProject<'_, '_>, call: Call<'_, '_>) -> Option<(Id, Id)> {
    given(file.view, call).filter(|(_, optimizer)| file.role(*optimizer) == Some(Role::Optimizer))
}

/// Whether a step is a scaler's own work on a loss that it receives. It is ported where the scaler is called.
pub(super) fn is_scalers_own(file: FileInProject<'_, '_>, step: Id) -> bool {
    file.project.hands_losses
        && file.name_of(step) == "__call__"
        && file.class_of(step).is_some_and(|class| names_scaler(file.name_of(class)))
}

/// Every such call of a file.
pub fn handed_losses(file: FileInProject<'_, '_>) -> Vec<HandedLoss> {
    file.view.index.calls().filter(|call| is_statement(&file, call.id())).filter_map(|call| read(file, call)).collect()
}

fn read(file: FileInProject<'_, '_>, call: Call<'_, '_>) -> Option<HandedLoss> {
    let index = &file.view.index;
    let (loss, optimizer) = parts(file, call)?;
    let arguments = call.arguments();
    // The positional arguments are the loss, the optimizer and the limit.
    let mut known = arguments.iter().enumerate().map(|(place, argument)| match argument {
        Argument::Positional(_) => place < 3,
        Argument::Keyword { name, .. } => SCALER_ARGUMENTS.contains(&name),
        Argument::Unpacked(_) | Argument::UnpackedTable(_) => false,
    });
    let by_norm = arguments.keyword("clip_mode").is_none_or(|mode| plain_string(index, mode) == Some("norm"));
    if !by_norm || !known.all(|known| known) {
        return None;
    }
    let limit = arguments.get(2, "clip_grad").filter(|limit| !index.is_text(*limit, "None"));
    let clips = match (limit, arguments.keyword("parameters")) {
        (Some(limit), weights) => Some((limit, weights?)),
        (None, _) => None,
    };
    let when = arguments.keyword("need_update").or_else(|| arguments.keyword("update_grad"));
    let statement = file.statement_of(call.id())?;
    Some(HandedLoss { statement, loss, optimizer, clips, when })
}

#[cfg(test)]
mod tests {
    use super::handed_losses;
    use crate::marked::{self, with_setup};

    /// The loss, the limit and the condition of each call of a scaler that is given the loss.
    #[track_caller]
    fn check(call: &str, expected: &str) {
        let program = format!("loss_scaler = Scaler()\nfor x, y in loader:\n    loss = net(x)\n    {call}\n");
        marked::check(&with_setup(&program), expected, |at| {
            let found = handed_losses(at.file());
            at.lines(
                found
                    .into_iter()
                    .flat_map(|one| [Some(one.loss), one.clips.map(|(limit, _)| limit), one.when])
                    .flatten(),
            )
        });
    }

    #[test]
    fn a_loss_that_a_scaler_is_given() {
        check("loss_scaler(loss, optimizer)", "loss");
        check("loss_scaler(loss, optimizer, clip_grad=0.5, parameters=net.parameters())", "loss\n0.5");
        check("loss_scaler(loss, optimizer, need_update=last)", "loss\nlast");
    }

    #[test]
    fn a_call_that_does_something_else() {
        check("loss_scaler(loss, x)", "");
        check("run(loss, optimizer)", "");
        check("norm = loss_scaler(loss, optimizer)", "");
        check("loss_scaler(loss, optimizer, clip_grad=0.5)", "");
        check("loss_scaler(loss, optimizer, clip_mode='value', clip_grad=0.5, parameters=w)", "");
    }
}
