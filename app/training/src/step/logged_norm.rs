//! The norm of clipped gradients, which a program may log.

use super::dataflow::reads;
use crate::project::FileInProject;
use crate::words::CLIPPING_FUNCTIONS;
use python::PythonFile;
use python::names::called_name;
use python::tree::{Id, ROOT, kinds};

/// The call in a statement that clips gradients and whose result is only logged: `norm = clip_grad_norm_(…)` with
/// `print(norm)`. A norm that decides something is not among them.
pub fn logged_norm(file: FileInProject<'_, '_>, statement: Id) -> Option<Id> {
    let index = &file.view.index;
    let mut calls = index.of_kind_in(kinds().call, statement).iter().copied();
    let call = calls.find(|c| called_name(index, *c).is_some_and(|name| CLIPPING_FUNCTIONS.contains(&name)))?;
    let is_plain = index.kind(statement) == kinds().expression_statement;
    let whole = index.parts(statement).next().filter(|whole| is_plain && *whole != call)?;
    let name = index.assignment(whole).and_then(|a| a.target()).filter(|t| index.kind(*t) == kinds().identifier);
    let Some(name) = name.map(|target| index.text_of(target)) else {
        return is_logged(&file, call).then_some(call);
    };
    let within = file.function_of(call).unwrap_or(ROOT);
    let read: Vec<Id> = reads(&file, within).into_iter().filter(|id| index.is_text(*id, name)).collect();
    (!read.is_empty() && read.iter().all(|id| is_logged(&file, *id))).then_some(call)
}

/// Whether a value goes to a call that is a statement of its own, to a sum or into a table, and is not compared on the way.
fn is_logged(file: &PythonFile<'_>, value: Id) -> bool {
    let (k, index) = (kinds(), &file.index);
    let decides = [k.comparison_operator, k.boolean_operator, k.not_operator, k.conditional_expression];
    let mut inside = Vec::from([value]);
    inside.extend(index.ancestors(value).take_while(|a| ![k.expression_statement, k.block].contains(&index.kind(*a))));
    let Some(&whole) = inside.last() else { return false };
    let stores = index.assignment(whole).and_then(|a| a.target()).is_some_and(|t| index.kind(t) == k.subscript);
    index.parent(whole).is_some_and(|p| index.kind(p) == k.expression_statement)
        && (stores || [k.call, k.augmented_assignment].contains(&index.kind(whole)))
        && !inside.iter().any(|a| decides.contains(&index.kind(*a)))
}

#[cfg(test)]
mod tests {
    use super::logged_norm;
    use crate::marked;

    #[test]
    fn a_norm_that_is_only_logged() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| {
                let statement = at.file().statement_of(at.node()).expect("a statement");
                logged_norm(at.file(), statement).is_some()
            });
        };
        let clips = "norm = clip_grad_norm_(w, 1)\n       ^^^^^^^^^^^^^^^^^^^^^\n";
        check(&format!("{clips}print(norm)\n"), true);
        check(&format!("{clips}total += norm\n"), true);
        check(&format!("{clips}logs['norm'] = norm.item()\n"), true);
        check(&format!("{clips}print('high' if norm > 2 else 'low')\n"), false);
        check(&format!("{clips}if norm > 2:\n    stop()\n"), false);
        check(clips, false);
        check("log(clip_grad_norm_(w, 1))\n    ^^^^^^^^^^^^^^^^^^^^^\n", true);
    }
}
