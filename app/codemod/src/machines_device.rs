//! Programs that ask `torch.accelerator` which device the machine has: their comparisons with CUDA stay, so that on the
//! target the answer is no.

use crate::condition::{asks_any_device, names_cuda_device};
use python::names::called_name;
use python::scopes::Scopes;
use python::strings::plain_string;
use python::tree::{Id, kinds};
use training::FileView;

/// What follows from the comparisons of a file.
#[derive(Default)]
pub(crate) struct MachinesDevice {
    /// Code that is only evaluated where CUDA is the answer.
    pub(crate) only_with_cuda: Vec<Id>,
    /// Tests at which the program ends without CUDA.
    pub(crate) ends: Vec<Id>,
}

/// Names with the answer that are followed: `is_cuda = kind == "cuda"`.
const MOST_NAMES: u8 = 3;

impl MachinesDevice {
    /// Reads a file for a target whose own device has this name. Without one, comparisons with several devices say nothing.
    pub(crate) fn read(view: &FileView<'_>, device: Option<&str>) -> Self {
        let (k, index) = (kinds(), &view.index);
        let mut found = Self::default();
        for &comparison in index.of_kind(k.comparison_operator) {
            let parts: Vec<Id> = index.parts(comparison).collect();
            let [left, right] = parts.as_slice() else { continue };
            let strings = [*left, *right].into_iter().flat_map(|side| {
                let own = Some(side).filter(|side| index.kind(*side) == k.string);
                own.into_iter()
                    .chain(index.of_kind_in(k.string, side).iter().copied().filter(move |part| *part != side))
            });
            let is_others = |string: Id| match device {
                Some(device) => plain_string(index, string) != Some(device),
                None => names_cuda_device(view, string),
            };
            let (mut names_cuda, mut excludes_target) = (false, true);
            strings.for_each(|string| {
                names_cuda |= names_cuda_device(view, string);
                excludes_target &= is_others(string);
            });
            if !names_cuda || !excludes_target || !asks_any_device(view, comparison) {
                continue;
            }
            let operator = index.text[index.range(*left).end..index.range(*right).start].trim();
            let operator = operator.split_whitespace().collect::<Vec<_>>().join(" ");
            match operator.as_str() {
                "==" | "in" => found.follow(view, comparison, true, MOST_NAMES),
                "!=" | "not in" => found.follow(view, comparison, false, MOST_NAMES),
                _ => {}
            }
        }
        found
    }

    /// Follows an expression that has the value `yes` only with CUDA to the code that depends on it.
    fn follow(&mut self, view: &FileView<'_>, test: Id, mut yes: bool, names: u8) {
        let (k, index) = (kinds(), &view.index);
        let mut at = test;
        while let Some(parent) = index.parent(at) {
            let kind = index.kind(parent);
            if kind == k.not_operator {
                yes = !yes;
            } else if kind == k.boolean_operator {
                let parts: Vec<Id> = index.parts(parent).collect();
                let [left, right] = parts[..] else { return };
                let decides = if yes { "and" } else { "or" };
                if index.text[index.range(left).end..index.range(right).start].trim() != decides {
                    return;
                }
                self.only_with_cuda.extend((at == left).then_some(right));
            } else if kind != k.parenthesized_expression {
                return self.depend(view, at, parent, yes, names);
            }
            at = parent;
        }
    }

    /// Notes what depends on a test in its parent, a statement or an expression.
    fn depend(&mut self, view: &FileView<'_>, test: Id, parent: Id, yes: bool, names: u8) {
        let (k, index) = (kinds(), &view.index);
        let kind = index.kind(parent);
        let is_condition = index.condition(parent) == Some(test);
        if kind == k.conditional_expression {
            if let [value, tested, other] = index.parts(parent).collect::<Vec<_>>()[..]
                && tested == test
            {
                self.only_with_cuda.push(if yes { value } else { other });
            }
        } else if kind == k.while_statement && is_condition {
            self.only_with_cuda.extend(index.body(parent).filter(|_| yes));
        } else if (kind == k.if_statement || kind == k.elif_clause) && is_condition {
            let chain = if kind == k.elif_clause { index.parent(parent).unwrap_or(parent) } else { parent };
            let clauses = [k.elif_clause, k.else_clause];
            let others = index.children(chain).filter(|c| clauses.contains(&index.kind(*c)) && *c > test);
            let others: Vec<Id> = others.collect();
            let block = index.consequence(parent);
            let is_else = |id: &Id| index.kind(*id) == k.else_clause;
            let without = match others.as_slice() {
                [only] if yes => Some(*only).filter(is_else).and_then(|only| index.body(only)),
                _ => block.filter(|_| !yes),
            };
            // Before an `elif` there may be a test for the target.
            let stops = without.filter(|without| parent == chain && ends(view, *without));
            self.ends.extend(stops.map(|_| test));
            if yes {
                self.only_with_cuda.extend(block);
                return;
            }
            // A result for other machines: what is below is CUDA's.
            let gives = |last: Id| index.kind(last) == k.return_statement && index.parts(last).next().is_some();
            if others.is_empty() && block.and_then(|block| index.parts(block).last()).is_some_and(gives) {
                let below = index.parent(chain).into_iter().flat_map(|block| index.parts(block));
                self.only_with_cuda.extend(below.filter(|s| *s > chain));
            }
            self.only_with_cuda.extend(others);
        } else if kind == k.assert_statement {
            self.ends.extend((yes && index.parts(parent).next() == Some(test)).then_some(test));
        } else if index.keyword_name(parent) == Some("enabled") && yes {
            self.only_with_cuda.extend(index.parent(parent).and_then(|arguments| index.parent(arguments)));
        } else if let Some(assignment) = index.assignment(parent).filter(|a| a.value() == Some(test))
            && let (Some(target), Some(names)) = (assignment.target(), names.checked_sub(1))
            && index.kind(target) == k.identifier
        {
            let scopes = Scopes::of(index);
            let is_only = |read: &Id| matches!(scopes.bindings(index, *read), [only] if only.id == target);
            let reads = view.identifiers(index.text_of(target)).iter().copied();
            reads.filter(|id| scopes.reads(*id)).filter(is_only).for_each(|read| self.follow(view, read, yes, names));
        }
    }
}

/// Whether the program ends in a block: with an error, or a call that exits.
fn ends(view: &FileView<'_>, block: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let exits = |call: Id| {
        matches!(called_name(index, call), Some("exit" | "_exit" | "error" | "abort")) && index.kind(call) == k.call
    };
    index.parts(block).any(|s| index.kind(s) == k.raise_statement || index.parts(s).next().is_some_and(exits))
}
