//! Updates of the weights, and the calls that belong to them.

use super::calls::arguments;
use super::dataflow::leaves;
use crate::project::FileInProject;
use crate::roles::Role;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// `optimizer.step()`, or `scaler.step(optimizer)`.
pub struct Update<'t> {
    /// The call of `step`.
    pub call: Id,
    /// The optimizer, as the program writes it.
    pub optimizer: &'t str,
    /// Whether a scaler performs the update.
    pub scaled: bool,
    /// Whether the optimizer receives a function that computes the loss.
    pub closure: bool,
}

/// The updates in a step, in the order of the text.
pub fn updates<'t>(file: FileInProject<'_, 't>, whole: Id) -> Vec<Update<'t>> {
    let index = &file.view.index;
    let read = |call: Id| {
        let object = file.index.receiver(call)?;
        let argument = arguments(&file, call).first().copied();
        match file.role(object) {
            Some(Role::Optimizer) => {
                Some(Update { call, optimizer: index.text_of(object), scaled: false, closure: argument.is_some() })
            }
            Some(Role::Scaler) => {
                let optimizer = argument.map_or("", |a| index.text_of(a));
                Some(Update { call, optimizer, scaled: true, closure: false })
            }
            _ => None,
        }
    };
    file.calls_in("step", whole).iter().copied().filter_map(read).collect()
}

/// The optimizers of updates as a list in a sentence: `a`, `b` and `c`.
pub(crate) fn optimizers_of_updates(updates: &[Update<'_>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in updates.iter().map(|update| format!("`{}`", update.optimizer)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}

/// Whether a statement is an update, clears gradients, clips them or belongs to a scaler's bookkeeping.
pub fn ends_step(file: FileInProject<'_, '_>, statement: Id) -> bool {
    ["zero_grad", "step", "update", "unscale_", "clip_grad_norm_", "clip_grad_norm"].iter().any(|name| {
        file.calls_in(name, statement).iter().any(|call| {
            let role = file.index.receiver(*call).and_then(|o| file.role(o));
            let ends = match *name {
                "zero_grad" | "clip_grad_norm_" | "clip_grad_norm" => true,
                "step" => matches!(role, Some(Role::Optimizer | Role::Scaler)),
                _ => role == Some(Role::Scaler),
            };
            ends && file.statement_of(*call) == Some(statement)
        })
    })
}

/// The statements that update the weights, from `end`, the first update, on, with those that belong to an update; in a
/// plain script this includes an `if` that contains nothing else. None is inside another.
pub fn update_statements(file: FileInProject<'_, '_>, whole: Id, end: Id, is_alive: &dyn Fn(Id) -> bool) -> Vec<Id> {
    let index = &file.view.index;
    let mut updates = SortedSet::from_iter([end]);
    updates.extend(leaves(&file, whole).into_iter().filter(|s| is_alive(*s) && ends_step(file, *s)));
    let mut found: SortedSet<Id> = SortedSet::new();
    for &statement in &updates {
        let mut at = statement;
        while let Some(block) = index.parent(at)
            && index.parts(block).all(|s| updates.contains(&s) || found.contains(&s))
            && let Some(owner) = index.parent(block).filter(|o| index.kind(*o) == kinds().if_statement)
            && index.otherwise(owner).is_none()
            && !file.project.has_compute_modes()
        {
            at = owner;
            found.insert(at);
        }
        found.insert(at);
    }
    let mut found: Vec<Id> = found.into_iter().collect();
    index.outermost(&mut found, |at| *at);
    found
}

#[cfg(test)]
mod tests {
    use super::{optimizers_of_updates, update_statements, updates};
    use crate::marked::{self, with_setup};

    #[test]
    fn updates_of_the_weights() {
        let check = |body: &str, expected: &str| {
            let program =
                format!("scaler = torch.amp.GradScaler()\nfor x, y in loader:\n    net(x).backward()\n{body}\n");
            marked::check(&with_setup(&program), expected, |at| {
                let found = updates(at.file(), at.whole());
                let kind = |scaled, closure| {
                    if scaled {
                        " scaled"
                    } else if closure {
                        " closure"
                    } else {
                        ""
                    }
                };
                let each = found.iter().map(|u| format!("{}{}", u.optimizer, kind(u.scaled, u.closure)));
                each.collect::<Vec<_>>().join("\n")
            });
        };
        check("    optimizer.step()", "optimizer");
        check("    scaler.step(optimizer)", "optimizer scaled");
        check("    optimizer.step(closure)", "optimizer closure");
        check("    scheduler.step()\n    plan.step()", "");
    }

    #[test]
    fn statements_that_belong_to_an_update() {
        let check = |body: &str, expected: &str| {
            let program = format!("for x, y in loader:\n    net(x).backward()\n{body}\n");
            marked::check(&with_setup(&program), expected, |at| {
                let first = updates(at.file(), at.whole()).first().expect("an update").call;
                let end = at.file().statement_of(first).expect("a statement");
                at.lines(update_statements(at.file(), at.whole(), end, &|_| true))
            });
        };
        let clip = "nn.utils.clip_grad_norm_(w, 1)";
        check(&format!("    {clip}\n    optimizer.step()\n    f(x)"), &format!("{clip}\noptimizer.step()"));
        check("    if a:\n        optimizer.step()\n        optimizer.zero_grad()", "if a:");
        check("    if a:\n        optimizer.step()\n        f(x)", "optimizer.step()");
    }

    #[test]
    fn a_list_of_optimizers() {
        let program = "for x, y in loader:\n    net(x).backward()\n    optimizer.step()\n    optimizer_b.step()\n";
        marked::check(&with_setup(program), "`optimizer` and `optimizer_b`", |at| {
            optimizers_of_updates(&updates(at.file(), at.whole()))
        });
    }
}
