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

#[cfg(test)]
mod tests {
    use super::{calls_scaler, names_scaler};
    use crate::marked;

    #[test]
    fn a_call_of_a_scaler_with_two_values() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| calls_scaler(at.file().view));
        };
        check("self.loss_scaler(loss, optimizer)\n", true);
        check("loss_scaler(loss=a, optimizer=b)\n", true);
        check("loss_scaler(loss)\n", false);
        check("scaler.step(loss, optimizer)\n", false);
    }

    #[test]
    fn names_of_scalers() {
        let check = |name: &str, expected: bool| assert_eq!(names_scaler(name), expected, "{name}");
        check("NativeScaler", true);
        check("self.loss_scaler", true);
        check("scaler.step", false);
    }
}
