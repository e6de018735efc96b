//! Tests and loops that are decided before there is any data. The graph is built by running them once, so they may stand
//! between the model and the loss as they are.

use super::slice::reads;
use super::{Input, Role};
use crate::facts::FileView;
use crate::names::{called_name, dotted};
use crate::tree::{Id, fields, kinds};

/// Statements with the outermost fixed test or loop in place of what stands in it, in the order of the text.
pub(super) fn units(input: &Input<'_, '_>, view: &FileView<'_>, body: Id, leaves: &[Id]) -> Vec<Id> {
    let mut out: Vec<Id> = Vec::new();
    for &leaf in leaves {
        let outer = view
            .index
            .ancestors(leaf)
            .take_while(|a| *a != body)
            .filter(|a| input.project.modes.is_none() && is_fixed(input, view, body, *a))
            .last();
        let unit = outer.unwrap_or(leaf);
        if out.last() != Some(&unit) {
            out.push(unit);
        }
    }
    out
}

/// Whether a test or a loop goes the same way at every step and only assigns.
fn is_fixed(input: &Input<'_, '_>, view: &FileView<'_>, body: Id, id: Id) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let only_assigns = |block: Id| {
        index.parts(block).all(|s| {
            let plain = index.kind(s) == k.pass_statement
                || index.kind(s) == k.expression_statement
                    && index.parts(s).all(|e| [k.assignment, k.augmented_assignment].contains(&index.kind(e)));
            plain || is_fixed(input, view, body, s)
        })
    };
    if index.kind(id) == k.for_statement {
        let over = index.field(id, f.right);
        let loads =
            over.is_none_or(|r| reads(view, r).into_iter().any(|n| input.project.role(view, n) == Some(Role::Loader)));
        return !loads && index.field(id, f.body).is_some_and(only_assigns) && index.field(id, f.alternative).is_none();
    }
    if index.kind(id) != k.if_statement {
        return false;
    }
    let clauses: Vec<Id> =
        index.children(id).filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c))).collect();
    let tests = std::iter::once(id).chain(clauses.iter().copied()).filter_map(|c| index.field(c, f.condition));
    let blocks = index
        .field(id, f.consequence)
        .into_iter()
        .chain(clauses.iter().filter_map(|c| index.field(*c, f.consequence).or_else(|| index.field(*c, f.body))));
    tests.into_iter().all(|t| is_constant(input, view, body, t)) && blocks.into_iter().all(only_assigns)
}

/// Whether an expression has one value for the whole run: settings, the model's own numbers, the form of a value.
pub(super) fn is_constant(input: &Input<'_, '_>, view: &FileView<'_>, body: Id, test: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let asks_form = |call: Id| called_name(index, call).is_some_and(|n| matches!(n, "isinstance" | "len" | "hasattr"));
    if !index.of_kind_in(k.call, test).iter().all(|c| asks_form(*c)) {
        return false;
    }
    reads(view, test).into_iter().all(|id| {
        let of_form = index.ancestors(id).take_while(|a| *a >= test).any(|a| index.kind(a) == k.call);
        if of_form {
            return true;
        }
        let name = index.text_of(id);
        let parent = index.parent(id).filter(|p| [k.attribute, k.subscript].contains(&index.kind(*p)));
        match parent {
            Some(attribute) if name == "self" => set_once(view, attribute),
            Some(part) => dotted(index, part).is_none_or(|d| !d.ends_with(".training")) && !binds_in(view, body, name),
            None => {
                input.project.role(view, id) == Some(Role::Model)
                    || view.binds_at_top(name, 0, true)
                        && bindings(view, name).len() == 1
                        && !binds_in(view, body, name)
            }
        }
    })
}

/// Whether an attribute of `self` is assigned in the constructor only.
fn set_once(view: &FileView<'_>, attribute: Id) -> bool {
    let index = &view.index;
    let text = index.text_of(attribute);
    text != "self.training"
        && bindings(view, text).into_iter().all(|a| view.function_of(a).is_none_or(|d| view.name_of(d) == "__init__"))
}

/// Assignments, and loops, that bind a name.
pub(super) fn bindings(view: &FileView<'_>, name: &str) -> Vec<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    [k.assignment, k.augmented_assignment, k.for_statement]
        .iter()
        .flat_map(|kind| index.of_kind(*kind).iter().copied())
        .filter(|a| {
            index.field(*a, f.left).is_some_and(|l| {
                index.text_of(l) == name
                    || [k.pattern_list, k.tuple_pattern].contains(&index.kind(l))
                        && index.parts(l).any(|p| index.text_of(p) == name)
            })
        })
        .collect()
}

pub(super) fn binds_in(view: &FileView<'_>, body: Id, name: &str) -> bool {
    bindings(view, name).into_iter().any(|b| view.index.is_within(b, body))
}

/// Names that a statement binds before it reads them; for a plain statement none, since it reads first.
pub(super) fn bound_first(view: &FileView<'_>, statement: Id) -> Vec<String> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut out: Vec<String> = Vec::new();
    let mut outer: Vec<&str> = Vec::new();
    if ![k.if_statement, k.for_statement].contains(&index.kind(statement)) {
        return out;
    }
    for kind in [k.assignment, k.augmented_assignment, k.for_statement] {
        for &binding in index.of_kind_in(kind, statement) {
            let (Some(left), Some(right)) = (index.field(binding, f.left), index.field(binding, f.right)) else {
                continue;
            };
            let names: Vec<&str> = std::iter::once(left)
                .chain(index.of_kind_in(k.identifier, left).iter().copied())
                .filter(|l| index.kind(*l) == k.identifier)
                .map(|l| index.text_of(l))
                .collect();
            let before = |n: &str| {
                reads(view, statement).into_iter().any(|r| {
                    index.text_of(r) == n
                        && (r < left || index.is_within(r, right) || kind == k.augmented_assignment)
                        && !out.iter().any(|o| o == n)
                })
            };
            let taken: Vec<&str> = names.iter().copied().filter(|n| before(n)).collect();
            outer.extend(&taken);
            out.extend(names.iter().filter(|n| !outer.contains(n)).map(|n| (*n).to_owned()));
        }
    }
    out
}
