//! What learning rates are set to.

use crate::project::FileInProject;
use python::origins::Place;
use python::tree::{Id, kinds};

/// Whether an expression is part of what a learning rate is set to: in an argument `lr` or a group's `["lr"]`, or in what such a
/// value is computed from.
pub fn sets_a_rate(file: FileInProject<'_, '_>, id: Id) -> bool {
    let (k, index, origins) = (kinds(), &file.view.index, &file.project.origins);
    let Some(number) = origins.number(&file.view.file) else { return false };
    // Of `rate *= size`, its value.
    let is_statement = [k.augmented_assignment, k.expression_statement].contains(&index.kind(id));
    let update = index.of_kind_in(k.augmented_assignment, id).first().filter(|_| is_statement);
    let id = update.and_then(|update| index.source(*update)).unwrap_or(id);
    // What a value is computed from, if it comes from nowhere else.
    let through = |place: Place| -> Vec<Id> {
        let index = &origins.files()[place.file].index;
        let kind = index.kind(place.id);
        if [k.binary_operator, k.unary_operator].contains(&kind) {
            return index.parts(place.id).collect();
        }
        if kind == k.call {
            return index.arguments(place.id).ids().collect();
        }
        Vec::new()
    };
    origins.files().iter().enumerate().any(|(rated, python)| {
        let index = &python.index;
        let arguments = index.calls().filter_map(|call| call.arguments().keyword("lr"));
        let is_rate = |target: Id| [r#"["lr"]"#, "['lr']"].iter().any(|end| index.text_of(target).ends_with(end));
        let statements = [k.assignment, k.augmented_assignment].into_iter().flat_map(|kind| index.of_kind(kind));
        let assigned = statements.filter(|a| index.target(**a).is_some_and(is_rate)).filter_map(|a| index.source(*a));
        arguments.chain(assigned).any(|rate| {
            let mut is_part = false;
            origins.walk(Place { file: rated, id: rate }, &through, &mut |value, _| {
                let at = value.place;
                is_part |= value.is_whole() && at.file == number && file.view.index.is_within(id, at.id);
            });
            is_part
        })
    })
}

#[cfg(test)]
mod tests {
    use super::sets_a_rate;
    use crate::marked;

    /// Whether the marked expression sets a learning rate.
    #[track_caller]
    fn check(program: &str, expected: bool) {
        marked::check(program, expected, |at| sets_a_rate(at.file(), at.node()));
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

    #[test]
    fn what_another_function_is_given() {
        let made = "def two(rate):\n    return Adam(p, lr=rate)\n";
        check(&format!("{made}two(0.1 * size)\n          ^^^^\n"), true);
        check(&format!("{made}rate = 0.1\nrate *= size\n        ^^^^\ntwo(max(rate, 1))\n"), true);
        check(&format!("#- made.py\n{made}#- train.py\nfrom made import two\ntwo(0.1 * size)\n          ^^^^\n"), true);
        check(
            "class A:\n    def f(self):\n        self.rate *= size\n                     ^^^^\n    def g(self):\n        Adam(p, lr=self.rate)\n",
            true,
        );
    }
}
