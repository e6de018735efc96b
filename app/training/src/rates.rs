//! What learning rates are set to.

use crate::view::FileView;
use python::tree::{Id, kinds};
use std::collections::BTreeSet;

/// Whether an expression is part of what a learning rate is set to: in an argument `lr` or a group's `["lr"]`, or in what a
/// name or attribute there is assigned, as far as the file shows.
pub fn sets_a_rate(view: &FileView<'_>, id: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    // Of `rate *= size`, its value.
    let is_statement = [k.augmented_assignment, k.expression_statement].contains(&index.kind(id));
    let update = index.of_kind_in(k.augmented_assignment, id).first().filter(|_| is_statement);
    let id = update.and_then(|update| index.source(*update)).unwrap_or(id);
    let assignments: Vec<(Id, Id)> = [k.assignment, k.augmented_assignment]
        .into_iter()
        .flat_map(|kind| index.of_kind(kind).iter().copied())
        .filter_map(|statement| index.target(statement).zip(index.source(statement)))
        .collect();
    let is_of_a_group = |target: Id| {
        let text = index.text_of(target);
        text.ends_with("[\"lr\"]") || text.ends_with("['lr']")
    };
    let given = index.of_kind(k.call).iter().filter_map(|call| index.arguments(*call).keyword("lr"));
    let of_groups = assignments.iter().filter(|(target, _)| is_of_a_group(*target)).map(|(_, value)| *value);
    let mut open: Vec<Id> = given.chain(of_groups).collect();
    let mut seen = BTreeSet::new();
    while let Some(value) = open.pop() {
        if index.is_within(id, value) {
            return true;
        }
        if !seen.insert(value) {
            continue;
        }
        let words = [k.identifier, k.attribute].into_iter().flat_map(|kind| index.of_kind_in(kind, value).to_vec());
        let names: BTreeSet<&str> = words.map(|word| index.text_of(word)).collect();
        let is_read = |target: Id| {
            let of = view.function_of(target);
            names.contains(index.text_of(target)) && (of.is_none() || of == view.function_of(value))
        };
        open.extend(assignments.iter().filter(|(target, _)| is_read(*target)).map(|(_, value)| *value));
    }
    false
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
