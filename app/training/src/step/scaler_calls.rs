//! Calls that pass a loss and an optimizer to a scaler.

use crate::view::FileView;
use python::names::dotted;
use python::syntax::Call;
use python::tree::Id;

/// Whether some call of a file passes two values to a scaler.
pub(crate) fn calls_scaler(view: &FileView<'_>) -> bool {
    view.index.calls().any(|call| given(view, call).is_some())
}

/// The values in the places of the loss and the optimizer, in a call of a scaler.
pub(super) fn given(view: &FileView<'_>, call: Call<'_, '_>) -> Option<(Id, Id)> {
    let arguments = call.arguments();
    let is_scaler = names_scaler(dotted(&view.index, call.callee()?)?);
    is_scaler.then_some((arguments.get(0, "loss")?, arguments.get(1, "optimizer")?))
}

/// Whether the last part of a name says that it is a scaler or the class of one.
pub(super) fn names_scaler(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.to_ascii_lowercase().contains("scaler"))
}
