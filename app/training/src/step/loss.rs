//! The expression at which a backward pass starts.

use super::calls::arguments;
use python::PythonFile;
use python::names::{called_name, dotted};
use python::tree::{Id, kinds};

/// The expression that `backward()` is called on, without a scaler around it.
pub fn loss_of(file: &PythonFile<'_>, backward: Id) -> Id {
    let k = kinds();
    let index = &file.index;
    let object = file.index.receiver(backward).unwrap_or(backward);
    let scales = index.kind(object) == k.call && called_name(index, object) == Some("scale");
    let mut inner = scales.then(|| arguments(file, object).first().copied()).flatten().unwrap_or(object);
    while index.kind(inner) == k.parenthesized_expression {
        inner = index.parts(inner).next().unwrap_or(inner);
    }
    inner
}

/// The statement of the step's one `backward()`, and the loss in it, if it is computed in the same expression.
pub fn unnamed_loss(file: &PythonFile<'_>, whole: Id) -> Option<(Id, Id)> {
    let index = &file.index;
    let mut calls = file.calls("backward").iter().copied().filter(|c| index.is_within(*c, whole));
    let call = calls.next().filter(|_| calls.next().is_none())?;
    let loss = loss_of(file, call);
    let statement = index.parent(call).filter(|s| index.kind(*s) == kinds().expression_statement)?;
    (loss != call && dotted(index, loss).is_none()).then_some((statement, loss))
}
