//! Automatic mixed precision in a step.

use super::handed::is_handed;
use crate::project::FileInProject;
use crate::roles::Role;
use python::PythonFile;
use python::names::called_name;
use python::syntax::Argument;
use python::tree::{Id, ROOT, kinds};

/// What remains of a step that computes in the model's own type.
#[derive(Default)]
pub struct MixedPrecision {
    /// Blocks with mixed precision whose `else` does the same without it.
    pub dropped: Vec<Id>,
    /// The tests that choose between the two.
    pub tests: Vec<Id>,
    /// Compound statements, and the block that replaces each.
    pub unwrapped: Vec<(Id, Id)>,
}

/// Whether a block uses mixed precision: it casts, or it scales a loss or something that belongs to one.
fn is_mixed(file: FileInProject<'_, '_>, block: Id) -> bool {
    file.index.of_kind_in(kinds().call, block).iter().any(|call| {
        let is_scaler = |id: Id| file.role(id) == Some(Role::Scaler);
        match called_name(&file.index, *call) {
            Some("autocast" | "disable_casts" | "scale" | "scale_loss") => true,
            Some("step" | "update" | "unscale_") => file.index.receiver(*call).is_some_and(is_scaler),
            _ => file.index.callee(*call).is_some_and(is_scaler) || is_handed(file, *call),
        }
    })
}

/// Whether a call limits gradients: it clips, or it passes more than the loss and the optimizer to a scaler's class.
fn limits(file: FileInProject<'_, '_>, call: Id) -> bool {
    let index = &file.index;
    let is_given = |argument: &Argument| !matches!(argument, Argument::Keyword { name, .. } if *name == "create_graph");
    called_name(index, call).is_some_and(|name| name.contains("clip_grad"))
        || is_handed(file, call) && index.arguments(call).iter().filter(is_given).count() > 2
}

/// Whether a call passes a limit of the gradients to a scaler's class in a block with mixed precision, next to a block
/// without it that does not limit them. The port keeps the latter, and finds only limits that the step itself applies.
pub fn limits_alone(file: FileInProject<'_, '_>, call: Id) -> bool {
    let index = &file.index;
    let clips = |block: Id| index.of_kind_in(kinds().call, block).iter().any(|call| limits(file, *call));
    let is_alone = |(mixed, plain): (Id, Id)| index.is_within(call, mixed) && !clips(plain);
    is_handed(file, call)
        && limits(file, call)
        && index.ancestors(call).filter_map(|test| alternatives(file, test)).any(is_alone)
}

/// The block with mixed precision and the one without it between which an `if` chooses.
fn alternatives(file: FileInProject<'_, '_>, test: Id) -> Option<(Id, Id)> {
    let (k, index) = (kinds(), &file.index);
    // A test for a compute mode has the other modes' code next to the target's.
    let asks_for_mode = || {
        let condition = index.condition(test);
        file.project.modes.as_ref().zip(condition).is_some_and(|(m, c)| m.tested(index, c).is_some())
    };
    let body = index.consequence(test).filter(|_| index.kind(test) == k.if_statement)?;
    let mut otherwise = index.children(test).filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c)));
    let (Some(other), None) = (otherwise.next(), otherwise.next()) else { return None };
    let else_body = index.body(other).filter(|_| index.kind(other) == k.else_clause)?;
    match (is_mixed(file, body), is_mixed(file, else_body)) {
        (true, false) => Some((body, else_body)),
        // `if scaler is None:`
        (false, true) if !asks_for_mode() => Some((else_body, body)),
        _ => None,
    }
}

/// The body of `if n_gpu > 1: loss = loss.mean()`, for losses that are parts of one with several GPUs. Without the test
/// it does nothing on one device: `backward` needs a single number there.
fn mean_of_loss(file: FileInProject<'_, '_>, test: Id) -> Option<Id> {
    let index = &file.index;
    let body = index.consequence(test).filter(|_| index.is_plain_if(test) && !file.project.has_compute_modes())?;
    let mut statements = index.parts(body);
    let (only, None) = (statements.next()?, statements.next()) else { return None };
    let (loss, value) = index.sides(index.parts(only).next()?)?;
    let name = index.text_of(loss);
    let is_mean = index.text_of(value).strip_prefix(name) == Some(".mean()");
    let is_last = file.calls("backward").iter().any(|call| index.mentions(*call, |n| n == name));
    (is_mean && is_last).then_some(body)
}

impl MixedPrecision {
    /// Reads a step; in a project without compute modes, `autocast` is also removed from the rest of the file.
    pub(crate) fn read(file: FileInProject<'_, '_>, whole: Id) -> Self {
        let k = kinds();
        let index = &file.index;
        let mut out = Self::default();
        for &test in index.of_kind_in(k.if_statement, whole).iter().filter(|test| file.is_reached(**test)) {
            if let Some(body) = mean_of_loss(file, test) {
                out.tests.push(test);
                out.unwrapped.push((test, body));
            }
            let Some((mixed, plain)) = alternatives(file, test) else { continue };
            if !out.drops(&file, test) && index.consequence(test).is_some_and(|body| file.is_reached(body)) {
                out.dropped.push(mixed);
                out.tests.push(test);
                out.unwrapped.push((test, plain));
            }
        }
        // `autocast`, and the `amp_autocast` of some scripts.
        let casts = |name: &str| name.contains("autocast");
        let scope = if !file.project.has_compute_modes() { ROOT } else { whole };
        for &with in index.of_kind_in(k.with_statement, scope) {
            let context = index.children(with).find(|c| index.kind(*c) == k.with_clause);
            let only = context.is_some_and(|c| index.parts(c).count() == 1 && index.mentions(c, casts));
            let inside = out.unwrapped.iter().any(|(w, _)| index.is_within(with, *w));
            if let (true, false, true, Some(body)) = (only, inside, file.is_reached(with), index.body(with)) {
                out.unwrapped.push((with, body));
            }
        }
        out
    }

    /// Whether a node is in a removed block.
    pub fn drops(&self, file: &PythonFile<'_>, id: Id) -> bool {
        self.dropped.iter().any(|d| file.index.is_within(id, *d))
    }
}

#[cfg(test)]
mod tests {
    use super::{MixedPrecision, limits_alone};
    use crate::marked::{self, with_setup};

    /// What mixed precision drops from a step, and what it unwraps.
    #[track_caller]
    fn check(body: &str, dropped: &str, unwrapped: &str) {
        let program = format!("scaler = torch.amp.GradScaler()\nfor x, y in loader:\n{body}\n    loss.backward()\n");
        marked::check(&with_setup(&program), [dropped, unwrapped], |at| {
            let found = MixedPrecision::read(at.file(), at.whole());
            [at.lines(found.dropped), at.lines(found.unwrapped.iter().map(|(whole, _)| *whole))]
        });
    }

    #[test]
    fn mixed_precision_in_a_step() {
        check("    with torch.autocast('cuda'):\n        loss = net(x)", "", "with torch.autocast('cuda'):");
        check("    with torch.no_grad():\n        loss = net(x)", "", "");
        let choice = "    if args.amp:\n        scaler.scale(loss).backward()\n    else:\n        loss.backward()";
        check(choice, "scaler.scale(loss).backward()", "if args.amp:");
        check("    if args.deep:\n        f(x)\n    else:\n        g(x)", "", "");
        check("    if n > 1:\n        loss = loss.mean()", "", "if n > 1:");
        check("    if n > 1:\n        x = x.mean()", "", "");
    }

    #[test]
    fn a_limit_that_only_mixed_precision_has() {
        let check = |plain: &str, expected: bool| {
            let scales = "scaler(loss, optimizer, clip_grad=1, parameters=w)";
            let mark = "^".repeat(scales.len());
            let program = format!("if args.amp:\n    {scales}\n    {mark}\nelse:\n    {plain}\n");
            marked::check(&with_setup(&program), expected, |at| limits_alone(at.file(), at.node()));
        };
        check("loss.backward()", true);
        check("nn.utils.clip_grad_norm_(w, 1)", false);
    }
}
