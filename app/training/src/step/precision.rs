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

/// Whether a block limits gradients: it clips, or it passes more than the loss and the optimizer to a scaler's class.
fn clips(file: FileInProject<'_, '_>, block: Id) -> bool {
    let index = &file.index;
    let limits = |argument: Argument| match argument {
        Argument::Keyword { name, .. } => name != "create_graph",
        _ => true,
    };
    let gives_limit = |call: Id| index.arguments(call).iter().filter(|a| limits(*a)).count() > 2;
    let named = |call: Id| called_name(index, call).is_some_and(|name| name.contains("clip_grad"));
    index
        .of_kind_in(kinds().call, block)
        .iter()
        .any(|call| named(*call) || is_handed(file, *call) && gives_limit(*call))
}

/// The body of `if n_gpu > 1: loss = loss.mean()`, for losses that are parts of one with several GPUs. Without the test
/// it does nothing on one device: `backward` needs a single number there.
fn mean_of_loss(file: FileInProject<'_, '_>, test: Id) -> Option<Id> {
    let index = &file.index;
    let body = index.consequence(test).filter(|_| index.is_plain_if(test) && file.project.modes.is_none())?;
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
        // A test for a compute mode has the other modes' code next to the target's.
        let asks_for_mode = |test: Id| {
            let condition = index.condition(test);
            file.project.modes.as_ref().zip(condition).is_some_and(|(m, c)| m.tested(index, c).is_some())
        };
        for &test in index.of_kind_in(k.if_statement, whole) {
            if let Some(body) = mean_of_loss(file, test) {
                out.tests.push(test);
                out.unwrapped.push((test, body));
            }
            let otherwise: Vec<Id> =
                index.children(test).filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c))).collect();
            let ([other], Some(body)) = (otherwise.as_slice(), index.consequence(test)) else { continue };
            let Some(else_body) = index.body(*other).filter(|_| index.kind(*other) == k.else_clause) else {
                continue;
            };
            let (mixed, plain) = match (is_mixed(file, body), is_mixed(file, else_body)) {
                (true, false) => (body, else_body),
                // `if scaler is None:`
                (false, true) if !asks_for_mode(test) => (else_body, body),
                _ => continue,
            };
            // If only the block with mixed precision clips, the other one is another update.
            if clips(file, mixed) && !clips(file, plain) {
                continue;
            }
            if !out.drops(&file, test) && file.is_reached(body) {
                out.dropped.push(mixed);
                out.tests.push(test);
                out.unwrapped.push((test, plain));
            }
        }
        // `autocast`, and the `amp_autocast` of some scripts.
        let casts = |name: &str| name.contains("autocast");
        let scope = if file.project.modes.is_none() { ROOT } else { whole };
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
