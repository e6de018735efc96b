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
    let [call] = *file.calls_in("backward", whole) else { return None };
    let loss = loss_of(file, call);
    let statement = index.parent(call).filter(|s| index.kind(*s) == kinds().expression_statement)?;
    (loss != call && dotted(index, loss).is_none()).then_some((statement, loss))
}

#[cfg(test)]
mod tests {
    use super::{loss_of, unnamed_loss};
    use crate::marked;

    #[test]
    fn what_is_differentiated() {
        let check = |backward: &str, expected: &str| {
            let program = format!("for x in y:\n    {backward}\n    {}\n", "^".repeat(backward.len()));
            marked::check(&program, expected, |at| at.lines([loss_of(&at.file(), at.node())]));
        };
        check("loss.backward()", "loss");
        check("scaler.scale(loss).backward()", "loss");
        check("(loss / 2).backward()", "loss / 2");
        check("f(x).mean().backward()", "f(x).mean()");
    }

    #[test]
    fn a_loss_without_a_name() {
        let check = |backward: &str, expected: &str| {
            let program = format!("for x in y:\n    {backward}\n");
            marked::check(&program, expected, |at| {
                at.lines(unnamed_loss(&at.file(), at.whole()).map(|(_, loss)| loss))
            });
        };
        check("f(x).backward()", "f(x)");
        check("loss.backward()", "");
        check("f(x).backward()\n    g(x).backward()", "");
    }
}
