//! The test for the target around code that every mode runs.

use super::Stranded;
use super::joined::{first_of, is_target_import, target_imports};
use crate::fix::Fix;
use crate::guards::Guards;
use crate::messages;
use python::edit::{
    Change, Splice, at_indent, dedent, lines_in_strings, order, owns_its_lines, spliced, splices, statement_end,
};
use python::lines::line_indent;
use python::refactor::settled;
use python::tree::{Id, ROOT, Tree, kinds};
use sorting::{SortedMap, SortedSet};
use training::modes::Region;
use training::{FileView, ProjectFacts};

/// The change of one statement.
#[derive(Default)]
struct Unit {
    before: Vec<String>,
    after: Vec<String>,
    /// The statement for the target; an empty text if it is removed.
    new: Option<String>,
    last: Id,
    fixes: Vec<Fix>,
}

/// Puts code that every mode runs under the test, a statement or a run of neighbours at a time.
pub(super) fn guard_all(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guards: &dyn Guards,
    fixes: Vec<Fix>,
    out: &mut Vec<Fix>,
    stranded: &mut Vec<Stranded>,
) {
    let mut units: SortedMap<Id, Unit> = SortedMap::new();
    let mut rewrites: SortedMap<Id, Vec<(Fix, Vec<Splice>)>> = SortedMap::new();
    let mut imported = SortedSet::new();
    for fix in fixes {
        let Some(node) = fix.changes.first().and_then(Change::node) else { continue };
        // A type is for people and type checkers, which accept no choice in it.
        if guards.is_agnostic() && view.index.is_in_annotation(node) {
            continue;
        }
        let Some(statement) = view.statement_of(node) else {
            stranded.push(Stranded { fix, reason: messages::no_statement_for_a_test() });
            continue;
        };
        let Some(guard) = guards.guard_at(view, project, statement) else {
            stranded.push(Stranded { fix, reason: messages::no_mode_for_a_test() });
            continue;
        };
        if !fix.changes.iter().all(|c| matches!(c, Change::Expression { .. })) {
            stranded.extend(add_statements(view, &mut units, fix, statement));
            continue;
        }
        let needs_expression = is_compound(view, statement) || !owns_its_lines(view, statement, statement);
        let lifted = if needs_expression || guards.is_agnostic() {
            // Asked at the expression itself: in an f-string it has other quotes.
            // A default is evaluated where the function is defined, which knows no parameter.
            let at = if is_evaluated_before(view, node, statement) { statement } else { node };
            guards
                .guard_at(view, project, at)
                .and_then(|guard| conditional(view, guards, &fix, &guard, statement, needs_expression))
        } else {
            None
        };
        if let Some(mut fix) = lifted {
            import_under(view, project, &guard, statement, &mut fix, &mut imported);
            out.push(fix);
        } else if needs_expression {
            stranded.push(Stranded { fix, reason: messages::no_test_here() });
        } else {
            let edits = fix.changes.iter().flat_map(|c| splices(view, c)).collect();
            rewrites.entry(statement).or_default().push((fix, edits));
        }
    }
    for (statement, group) in rewrites {
        let unit = units.entry(statement).or_default();
        if unit.new.is_none() {
            rewrite_statement(view, guards, unit, statement, group);
        }
    }
    for (guard, run) in runs(view, project, guards, &units) {
        out.extend(write_run(view, project, &guard, &run, &mut units));
    }
}

/// A fix in an arm for the target: it asks for the target no more, and above its statement its imports need a test of their own.
pub(super) fn in_target_branch(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guards: &dyn Guards,
    node: Id,
    mut fix: Fix,
) -> Fix {
    let statement =
        view.statement_of(node).filter(|s| guards.is_agnostic() && guards.region(view, *s) != Region::Target);
    if let Some((statement, guard)) = statement.and_then(|s| Some((s, guards.guard_at(view, project, s)?))) {
        import_under(view, project, &guard, statement, &mut fix, &mut SortedSet::new());
    }
    for change in fix.changes.iter_mut().filter(|_| guards.is_agnostic()) {
        if let Change::Expression { text, .. } | Change::Replace { text, .. } | Change::Insert { text, .. } = change {
            *text = guards.retargeted(text);
        }
    }
    fix
}

/// Puts the imports that only the target's machine has under the test, above the statement that needs them: once for each
/// block.
fn import_under(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guard: &str,
    statement: Id,
    fix: &mut Fix,
    imported: &mut SortedSet<(Option<Id>, String)>,
) {
    let (own, others): (Vec<String>, Vec<String>) =
        std::mem::take(&mut fix.imports).into_iter().partition(|line| is_target_import(project, line));
    fix.imports = others;
    let block = view.index.parent(statement);
    let new: Vec<String> = own.into_iter().filter(|line| imported.insert((block, line.clone()))).collect();
    if !new.is_empty() {
        let text = format!("if {guard}:\n{}", indent_all(&new.join("\n"), view.layout.indent.as_str()));
        fix.changes.push(Change::Insert { at: statement, after: false, text });
    }
}

fn is_compound(view: &FileView<'_>, statement: Id) -> bool {
    let index = &view.index;
    index.children(statement).any(|c| index.kind(c) == kinds().block)
        || index.kind(statement) == kinds().decorated_definition
}

/// Adds a fix that inserts or replaces whole statements; returns it if a statement shares its line with another.
fn add_statements(view: &FileView<'_>, units: &mut SortedMap<Id, Unit>, fix: Fix, statement: Id) -> Option<Stranded> {
    let mut ok = true;
    for change in &fix.changes {
        match change {
            Change::Insert { at, after, text } => {
                let unit = units.entry(*at).or_default();
                let lines = if *after { &mut unit.after } else { &mut unit.before };
                lines.push(text.clone());
                unit.last = unit.last.max(*at);
            }
            Change::Replace { first, last, text } => {
                if !owns_its_lines(view, *first, *last) {
                    ok = false;
                    break;
                }
                let unit = units.entry(*first).or_default();
                unit.new = Some(text.clone());
                unit.last = *last;
            }
            _ => ok = false,
        }
    }
    let first = fix.changes.iter().filter_map(Change::node).min().unwrap_or(statement);
    if ok {
        units.entry(first).or_default().fixes.push(fix);
        return None;
    }
    units.remove(&first);
    Some(Stranded { fix, reason: messages::shares_its_line_in_a_branch() })
}

/// Makes one new statement of all rewrites inside a statement.
fn rewrite_statement(
    view: &FileView<'_>,
    guards: &dyn Guards,
    unit: &mut Unit,
    statement: Id,
    group: Vec<(Fix, Vec<Splice>)>,
) {
    let index = &view.index;
    let range = index.range(statement);
    let edits: Vec<Splice> = group.iter().flat_map(|(_, e)| e.clone()).collect();
    let new = spliced(index.text, range.clone(), edits);
    let indent = line_indent(index.text, range.start);
    unit.new = Some(guards.retargeted(&dedent(&new, indent)));
    unit.last = unit.last.max(statement);
    unit.fixes.extend(group.into_iter().map(|(f, _)| f));
}

/// Neighbours under one guard, which share one `if`.
fn runs(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guards: &dyn Guards,
    units: &SortedMap<Id, Unit>,
) -> Vec<(String, Vec<Id>)> {
    let index = &view.index;
    let mut out: Vec<(String, Vec<Id>)> = Vec::new();
    let mut done = SortedSet::new();
    for &first in units.keys() {
        if done.contains(&first) {
            continue;
        }
        let mut run = vec![first];
        let guard = guards.guard_at(view, project, first);
        loop {
            let last = run[run.len() - 1];
            let end = units[&last].last.max(last);
            let Some(block) = index.parent(last) else { break };
            let Some(next) = index.parts(block).find(|s| *s > end) else { break };
            let joins = units.contains_key(&next)
                && !done.contains(&next)
                && guards.guard_at(view, project, next) == guard
                // An insertion after an unchanged statement ends a run, unless the following change only inserts
                // before.
                && (units[&last].new.is_some() && units[&next].new.is_some());
            if !joins {
                break;
            }
            run.push(next);
        }
        done.extend(run.iter().copied());
        out.extend(guard.map(|guard| (guard, run)));
    }
    out
}

/// One `if` for a run of neighbouring statements.
fn write_run(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guard: &str,
    run: &[Id],
    units: &mut SortedMap<Id, Unit>,
) -> Vec<Fix> {
    let index = &view.index;
    let text = index.text;
    let (newline, unit_indent) = (view.layout.newline, view.layout.indent.as_str());
    let indent = line_indent(text, index.item(run[0]).start);
    let mut taken: Vec<(Id, Unit)> = run.iter().filter_map(|id| units.remove(id).map(|u| (*id, u))).collect();
    let fixes: Vec<Fix> = taken.iter_mut().flat_map(|(_, u)| std::mem::take(&mut u.fixes)).collect();
    if fixes.is_empty() {
        return Vec::new();
    }
    let imports = target_imports(project, &fixes);
    let mut fix = first_of(&fixes);
    fix.imports =
        fixes.iter().flat_map(|f| f.imports.iter()).filter(|i| !is_target_import(project, i)).cloned().collect();
    let under = |lines: &[String], test: &str| -> String {
        let body = imports.iter().chain(lines).cloned().collect::<Vec<_>>().join("\n");
        format!("if {test}:\n{}", indent_all(&decided(&body, test, true), unit_indent))
    };
    if taken.iter().all(|(_, u)| u.new.is_none()) {
        let (id, unit) = &taken[0];
        let mut changes = Vec::new();
        if !unit.before.is_empty() {
            changes.push(Change::Insert { at: *id, after: false, text: under(&unit.before, guard) });
        }
        if !unit.after.is_empty() {
            changes.push(Change::Insert { at: *id, after: true, text: under(&unit.after, guard) });
        }
        fix.changes = changes;
        return vec![fix];
    }
    let mut new: Vec<String> = Vec::new();
    for (_, unit) in &taken {
        new.extend(unit.before.iter().cloned());
        new.extend(unit.new.iter().filter(|n| !n.is_empty()).cloned());
        new.extend(unit.after.iter().cloned());
    }
    let last = taken.last().map_or(run[0], |(id, u)| u.last.max(*id));
    let start = index.item(run[0]).start;
    let end = statement_end(view, last);
    let old = decided(&dedent(&text[start..end], indent), guard, false);
    let written = if new.iter().all(|line| line.trim() == "pass") {
        format!("if {}:\n{}", negated(guard), indent_all(&old, unit_indent))
    } else {
        format!("{}\nelse:\n{}", under(&new, guard), indent_all(&old, unit_indent))
    };
    fix.changes = vec![Change::Raw { range: start..end, text: at_indent(&written, indent, newline) }];
    vec![fix]
}

/// Code below a test in which nothing asks the same again: `f(a if test else b)` is `f(a)` where the test is true.
fn decided(code: &str, test: &str, answer: bool) -> String {
    if !code.contains(&format!(" if {test} else ")) {
        return code.to_owned();
    }
    settled(code, |index, [yes, asked, no]| index.is_text(asked, test).then_some(if answer { yes } else { no }))
}

/// `a == B` to `a != B`.
pub(crate) fn negated(guard: &str) -> String {
    match guard.split_once(" == ") {
        Some((a, b)) if !guard.contains(" and ") => format!("{a} != {b}"),
        None if is_name(guard) => format!("not {guard}"),
        _ => format!("not ({guard})"),
    }
}

fn is_name(guard: &str) -> bool {
    guard.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

/// Indents every line by one level; lines that begin inside a string are unchanged.
fn indent_all(text: &str, unit: &str) -> String {
    let inside = lines_in_strings(text);
    let mut out = String::new();
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        if !line.is_empty() && !inside.contains(&n) {
            out.push_str(unit);
        }
        out.push_str(line);
    }
    out
}

/// `(new if guard else old)` for an expression, such as one in the header of a compound statement.
fn conditional(
    view: &FileView<'_>,
    guards: &dyn Guards,
    fix: &Fix,
    guard: &str,
    statement: Id,
    needs_expression: bool,
) -> Option<Fix> {
    let k = kinds();
    let index = &view.index;
    let node = fix.changes.first().and_then(Change::node)?;
    let is_in_parameters =
        || index.function(statement).and_then(|f| f.parameter_list()).is_some_and(|list| index.is_within(node, list));
    let is_of_definition =
        [k.decorated_definition, k.class_definition].contains(&index.kind(statement)) || is_in_parameters();
    // A default is evaluated when the file is loaded: what only type checkers import is not there then.
    let mut imported = view.names.bindings.iter().filter(|binding| binding.local == "torch").peekable();
    let is_there = imported.peek().is_none()
        || imported.any(|binding| index.parent(binding.statement).is_some_and(|p| index.kind(p) == k.module));
    if is_of_definition && !(guards.is_agnostic() && is_there && is_evaluated_before(view, node, statement)) {
        return None;
    }
    if [k.expression_statement, k.assignment, k.with_item].contains(&index.kind(node)) {
        return None;
    }
    let range = index.range(node);
    let mut edits: Vec<Splice> = fix.changes.iter().flat_map(|c| splices(view, c)).collect();
    order(&mut edits);
    let mut new = String::new();
    let mut at = range.start;
    for edit in edits {
        if edit.range.start < at || edit.range.end > range.end {
            return None;
        }
        new.push_str(&index.text[at..edit.range.start]);
        new.push_str(&edit.text);
        at = edit.range.end;
    }
    new.push_str(&index.text[at..range.end]);
    let mut lifted = fix.clone();
    lifted.owned = lifted.at..lifted.at;
    let (new, old) = (guards.retargeted(&new), index.text_of(node));
    if guards.is_agnostic() && is_a_choice(view, node) {
        // What may be chosen is the same on every machine.
        lifted.changes = vec![Change::Raw { range, text: format!("{old}, {new}") }];
        return Some(lifted);
    }
    let kept = &old[old.len() - shared_end(&new, old)..];
    // A statement that shares nothing with the new one is clearer below a test.
    let is_statement = index.parent(node).is_some_and(|parent| index.kind(parent) == k.expression_statement);
    if is_statement && kept.is_empty() && !needs_expression {
        return None;
    }
    let (new, old) = (&new[..new.len() - kept.len()], &old[..old.len() - kept.len()]);
    let text = match new {
        "True" => format!("{guard} or {}", operand(old)),
        _ => format!("{} if {guard} else {old}", operand(new)),
    };
    let is_delimited = kept.is_empty() && stands_alone(view, node);
    let text = if is_delimited { text } else { format!("({text}){kept}") };
    let added = text.chars().count().saturating_sub(index.text_of(node).chars().count());
    if !needs_expression && is_long(view, node, statement, added) {
        return None;
    }
    lifted.changes = vec![Change::Raw { range, text }];
    Some(lifted)
}

/// Whether a node is evaluated before its function exists: in a default, or in what a decorator is given.
fn is_evaluated_before(view: &FileView<'_>, node: Id, definition: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let mut inside = index.ancestors(node).take_while(|a| *a != definition).map(|a| index.kind(a));
    let is_given = inside.any(|kind| kind == k.argument_list) && inside.any(|kind| kind == k.decorator);
    is_given || is_default(view, node, definition)
}

/// Whether a node is in the default of a parameter of a function, which may have decorators.
fn is_default(view: &FileView<'_>, node: Id, definition: Id) -> bool {
    let index = &view.index;
    let is_decorated = index.kind(definition) == kinds().decorated_definition;
    let function = if is_decorated { index.parts(definition).last() } else { Some(definition) };
    let function = function.and_then(|function| index.function(function));
    let mut defaults = function.into_iter().flat_map(|f| f.parameters()).filter_map(|p| p.default);
    defaults.any(|default| index.is_within(node, default))
}

/// Whether a choice in place of all that a statement computes is hard to read: over several lines, or in one that gets too long.
fn is_long(view: &FileView<'_>, node: Id, statement: Id, added: usize) -> bool {
    let (k, index) = (kinds(), &view.index);
    let is_whole = index
        .parent(node)
        .is_some_and(|parent| [k.assignment, k.return_statement, k.expression_statement].contains(&index.kind(parent)));
    let text = index.text_of(statement);
    let indent = line_indent(index.text, index.item(statement).start);
    is_whole && (text.contains('\n') || indent.len() + text.chars().count() + added > LINE)
}

/// Characters in a line, from which on two statements are easier to read than one with a choice.
const LINE: usize = 120;

/// How many bytes two expressions share at their end, from the dot behind two dotted names on: `.synchronize()` of
/// `a.b.synchronize()` and `a.c.synchronize()`, which is `(a.b if test else a.c).synchronize()`.
fn shared_end(a: &str, b: &str) -> usize {
    let is_name =
        |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.".contains(&c));
    let dots = b.match_indices('.').map(|(at, _)| at);
    let package = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let is_beside = |other: &str, name: &str| is_name(other) && package(other) == package(name);
    let ends = dots
        .filter(|at| is_name(&b[..*at]) && a.strip_suffix(&b[*at..]).is_some_and(|other| is_beside(other, &b[..*at])));
    ends.map(|at| b.len() - at).next().unwrap_or_default()
}

/// Whether a value is one of those that an option allows, or a member of a test: `choices=["cuda", "cpu"]`, `x in ("cuda", "mps")`.
fn is_a_choice(view: &FileView<'_>, node: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let Some(list) = index.parent(node).filter(|p| [k.list, k.tuple, k.set].contains(&index.kind(*p))) else {
        return false;
    };
    let Some(holder) = index.parent(list) else { return false };
    let is_asked = index.kind(holder) == k.comparison_operator && matches!(index.operator(holder), "in" | "not in");
    is_asked || index.keyword_name(holder) == Some("choices")
}

/// An expression in front of an `if`: another choice or a `lambda` needs parentheses there.
pub(super) fn operand(expression: &str) -> String {
    let k = kinds();
    let tree = Tree::parse(expression);
    let index = tree.index();
    let inner = index.parts(ROOT).next().and_then(|statement| index.parts(statement).next());
    let binds_weakly = inner.is_some_and(|id| [k.conditional_expression, k.lambda].contains(&index.kind(id)));
    if binds_weakly { format!("({expression})") } else { expression.to_owned() }
}

/// Whether a conditional expression in place of a node needs no parentheses.
fn stands_alone(view: &FileView<'_>, node: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let Some(parent) = index.parent(node) else { return false };
    let kind = index.kind(parent);
    let is_value = [k.keyword_argument, k.assignment, k.default_parameter, k.typed_default_parameter].contains(&kind)
        && index.value(parent).or(index.source(parent)) == Some(node);
    is_value || [k.argument_list, k.parenthesized_expression, k.return_statement, k.list, k.tuple].contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::decided;

    #[test]
    fn below_a_test_nothing_asks_it_again() {
        let check = |before: &str, yes: &str, no: &str| {
            assert_eq!((decided(before, "USE", true).as_str(), decided(before, "USE", false).as_str()), (yes, no));
        };
        check("x = f(a if USE else b, c)", "x = f(a, c)", "x = f(b, c)");
        check("x = (g if USE else h).y\nz = 1 if USE else 2", "x = g.y\nz = 1", "x = h.y\nz = 2");
        check("x = a if USED else b", "x = a if USED else b", "x = a if USED else b");
        check("x = a if not USE else b", "x = a if not USE else b", "x = a if not USE else b");
    }
}
