//! What learning rates are set to.

use crate::view::FileView;
use python::tree::{Id, kinds};

/// Whether an expression is part of what a learning rate is set to: in an argument `lr` or a group's `["lr"]`, or in what a
/// name or attribute there is assigned, as far as the file shows.
pub fn sets_a_rate(view: &FileView<'_>, id: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    // Of `rate *= size`, its value.
    let is_statement = [k.augmented_assignment, k.expression_statement].contains(&index.kind(id));
    let update = index.of_kind_in(k.augmented_assignment, id).first().filter(|_| is_statement);
    let id = update.and_then(|update| index.source(*update)).unwrap_or(id);
    let mut open: Vec<Id> = Vec::new();
    for call in index.of_kind(k.call) {
        open.extend(index.arguments(*call).keyword("lr"));
    }
    let (mut value, mut next) = (None::<Id>, 0);
    loop {
        if value.is_some_and(|value| index.is_within(id, value)) {
            return true;
        }
        for kind in [k.assignment, k.augmented_assignment] {
            for statement in index.of_kind(kind) {
                let (Some(target), Some(source)) = (index.target(*statement), index.source(*statement)) else {
                    continue;
                };
                if !open.contains(&source) && is_read(view, target, value) {
                    open.push(source);
                }
            }
        }
        let Some(following) = open.get(next) else { return false };
        value = Some(*following);
        next += 1;
    }
}

/// Whether a value mentions what is assigned to a target, which may be a rate by itself.
fn is_read(view: &FileView<'_>, target: Id, value: Option<Id>) -> bool {
    let (k, index) = (kinds(), &view.index);
    let text = index.text_of(target);
    if text.ends_with("[\"lr\"]") || text.ends_with("['lr']") {
        return true;
    }
    let Some(value) = value else { return false };
    let of = view.function_of(target);
    let mentions = |kind| index.of_kind_in(kind, value).iter().any(|word| index.text_of(*word) == text);
    (of.is_none() || of == view.function_of(value)) && (mentions(k.identifier) || mentions(k.attribute))
}

#[cfg(test)]
mod tests {
    use super::sets_a_rate;
    use crate::marked;

    /// Whether the marked expression sets a learning rate.
    #[track_caller]
    fn check(program: &str, expected: bool) {
        marked::check(program, expected, |at| sets_a_rate(at.file().view, at.node()));
    }

    #[test]
    fn arguments_and_what_they_are_assigned() {
        check("opt = Adam(p, lr=0.1 * size)\n                       ^^^^\n", true);
        check("rate = 0.1 * size\n             ^^^^\nopt = Adam(p, lr=rate)\n", true);
        check("args.lr *= size\n           ^^^^\nopt = Adam(p, lr=args.lr)\n", true);
        check("args.lr *= size\n^^^^^^^^^^^^^^^\nopt = Adam(p, lr=args.lr)\n", true);
        check("for group in opt.param_groups:\n    group['lr'] = base * size\n                         ^^^^\n", true);
        check("total = batch * size\n                ^^^^\nopt = Adam(p, lr=0.1)\n", false);
        check("opt = Adam(p, lr=0.1)\nsampler = Sampler(data, size)\n                        ^^^^\n", false);
    }

    #[test]
    fn names_of_other_functions() {
        let other = "def one():\n    rate = size\n           ^^^^\n\n\ndef two(rate):\n    return Adam(p, lr=rate)\n";
        check(other, false);
    }
}
