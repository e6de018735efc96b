//! Gradients that are clipped to a limit.

use super::fixed::is_constant;
use super::logged_norm::logged_norm;
use super::{TrainingStep, is_statement};
use crate::project::FileInProject;
use crate::words::CLIPPING_FUNCTIONS;
use python::PythonFile;
use python::names::called_name;
use python::syntax::Argument;
use python::tree::{Id, kinds};

/// How gradients are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// All of them together, by the 2-norm.
    Two,
    /// Each value separately, or all by another norm.
    Other,
}

/// A call of `clip_grad_norm_` or one like it.
pub struct Clipping {
    /// The call.
    pub call: Id,
    /// How the gradients are measured.
    pub norm: Norm,
    /// The limit, if there is one.
    pub limit: Option<Id>,
    /// The test around it that has the same outcome at every step: `if args.clip > 0:`.
    pub test: Option<Id>,
}

impl TrainingStep<'_, '_> {
    /// The statement that clips the 2-norm of the gradients to a limit at every step, and the clipping. The error is the
    /// call that clips them differently, or a second time.
    pub fn norm_clipped(&self) -> Result<Option<(Id, &Clipping)>, Id> {
        let mut found = None;
        for clipping in &self.clipping {
            let (file, call) = (self.file, clipping.call);
            let is_plain = clipping.limit.is_some() && clipping.norm == Norm::Two && clipping.test.is_none();
            let statement = file.statement_of(call).filter(|statement| {
                let is_alone = is_statement(&file, call) || logged_norm(file, *statement) == Some(call);
                is_plain && found.is_none() && is_alone
            });
            found = Some((statement.ok_or(clipping.call)?, clipping));
        }
        Ok(found)
    }
}

/// The first call of each kind in a step.
pub(crate) fn read(file: FileInProject<'_, '_>, optimizer: &str, whole: Id, body: Id) -> Vec<Clipping> {
    let index = &file.index;
    let here = |c: &Id| index.is_within(*c, whole) && file.is_reached(*c);
    let calls = CLIPPING_FUNCTIONS.iter().filter_map(|name| file.calls(name).iter().copied().find(here));
    calls
        .map(|call| {
            let limit = argument(file, call, 1, "max_norm").or_else(|| argument(file, call, 1, "clip_value"));
            Clipping { call, norm: norm(file, call), limit, test: fixed_test(file, optimizer, body, call) }
        })
        .collect()
}

/// An argument by its position or its name.
fn argument(file: FileInProject<'_, '_>, call: Id, place: usize, name: &str) -> Option<Id> {
    let given = file.index.arguments(call);
    given.keyword(name).or_else(|| given.positional().nth(place))
}

/// By the 2-norm, unless `norm_type` differs. The other arguments change no gradient.
fn norm(file: FileInProject<'_, '_>, call: Id) -> Norm {
    let index = &file.index;
    let by_norm = matches!(called_name(index, call), Some("clip_grad_norm_" | "clip_grad_norm"));
    let of_two =
        argument(file, call, 2, "norm_type").is_none_or(|kind| matches!(index.text_of(kind), "2" | "2." | "2.0"));
    let known = index.arguments(call).iter().all(|given| match given {
        Argument::Positional(_) => true,
        Argument::Keyword { name, .. } => matches!(name, "parameters" | "max_norm" | "norm_type" | "foreach"),
        Argument::Unpacked(_) | Argument::UnpackedTable(_) => false,
    });
    if by_norm && of_two && known { Norm::Two } else { Norm::Other }
}

/// The test around a call, without an `else`, that has the same outcome at every step.
pub(crate) fn fixed_test(file: FileInProject<'_, '_>, optimizer: &str, body: Id, call: Id) -> Option<Id> {
    let k = kinds();
    let index = &file.index;
    let test = index.ancestors(call).take_while(|a| *a != body).find(|a| index.kind(*a) == k.if_statement)?;
    let condition = index.condition(test)?;
    (index.otherwise(test).is_none() && is_constant(file, optimizer, body, condition)).then_some(test)
}

impl Clipping {
    /// The condition of the test around it.
    pub fn condition(&self, file: &PythonFile<'_>) -> Option<Id> {
        self.test.and_then(|t| file.index.condition(t))
    }

    /// The limit as it is written where an optimizer is created.
    pub fn limit_at(&self, file: FileInProject<'_, '_>, made: Id) -> Option<String> {
        file.written_at(self.limit?, file.statement_of(made)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::marked::{self, with_setup};

    /// The limit at which a step clips the 2-norm of its gradients at every step, or the call that clips otherwise.
    #[track_caller]
    fn check(clips: &str, expected: &str) {
        let step = "for i, (x, y) in enumerate(loader):\n    F.mse_loss(net(x), y).backward()\n";
        marked::check(&with_setup(&format!("{step}{clips}\n    optimizer.step()\n")), expected, |at| {
            let step = at.step().expect("a step");
            match step.norm_clipped() {
                Ok(found) => at.lines(found.and_then(|(_, clipping)| clipping.limit)),
                Err(call) => format!("otherwise {}", at.lines([call])),
            }
        });
    }

    #[test]
    fn a_limit_of_the_norm_at_every_step() {
        let clip = "nn.utils.clip_grad_norm_(net.parameters()";
        check("    pass", "");
        check(&format!("    {clip}, 0.5)"), "0.5");
        check(&format!("    {clip}, max_norm=limit, norm_type=2)"), "limit");
        check(&format!("    norm = {clip}, 0.5)\n    print(norm)"), "0.5");
    }

    #[test]
    fn gradients_that_are_clipped_otherwise() {
        let check = |clips: &str, call: &str| check(&format!("    {clips}"), &format!("otherwise {call}"));
        let (norm, value) = ("nn.utils.clip_grad_norm_(w, 0.5, 1)", "nn.utils.clip_grad_value_(w, 0.5)");
        check(norm, norm);
        check(value, value);
        let plain = "nn.utils.clip_grad_norm_(w, 0.5)";
        check(&format!("if args.clip:\n        {plain}"), plain);
        check(&format!("norm = {plain}\n    if norm > 2:\n        stop()"), plain);
    }

    #[test]
    fn clipping_behind_the_update_of_gradients_that_are_cleared() {
        let step = "for x in loader:\n    optimizer.zero_grad()\n    net(x).backward()\n    optimizer.step()\n    ";
        marked::check(&with_setup(&format!("{step}nn.utils.clip_grad_norm_(w, 0.5)\n")), 0, |at| {
            at.step().expect("a step").clipping.len()
        });
    }
}
