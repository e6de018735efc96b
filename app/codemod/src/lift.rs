//! Branch style: recipes are written as if the file were the target's alone; here their changes are put under the
//! project's own test for the target, so that every other compute mode keeps the code it had.

use crate::change::{
    Change, Fix, Lift, Splice, at_indent, dedent, line_start, lines_in_strings, owns_its_lines, splices, statement_end,
};
use crate::facts::modes::{Modes, Region};
use crate::facts::{FileView, ProjectFacts, line_indent};
use crate::order::Map;
use crate::order::sort_by_key;
use crate::tree::{Id, Tree, fields, kinds};

/// A fix that found no place under a guard, with the reason.
pub(crate) struct Stranded {
    pub(crate) fix: Fix,
    pub(crate) reason: &'static str,
}

/// Moves an insertion that every branch of an `if`/`else` makes behind the `if`. Branches that the target never takes
/// have no say.
pub(crate) fn hoist(view: &FileView<'_>, modes: Option<&Modes>, fixes: &mut Vec<Fix>) {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    loop {
        let mut groups: Map<(String, String), Vec<(usize, Id)>> = Map::new();
        for (n, fix) in fixes.iter().enumerate() {
            if let [Change::Insert { at, after: true, text }] = fix.changes.as_slice() {
                groups.get_or_default((fix.recipe.clone(), text.clone())).push((n, *at));
            }
        }
        let mut moved = false;
        'groups: for ((_, text), members) in groups {
            for (_, at) in &members {
                let Some(block) = index.parent(*at).filter(|b| index.kind(*b) == k.block) else { continue };
                let Some(owner) = index.parent(block) else { continue };
                let chain = match index.kind(owner) {
                    kind if kind == k.if_statement => owner,
                    kind if kind == k.elif_clause || kind == k.else_clause => index.parent(owner).unwrap_or(owner),
                    _ => continue,
                };
                if index.kind(chain) != k.if_statement {
                    continue;
                }
                let clauses: Vec<Id> = std::iter::once(chain)
                    .chain(index.children(chain).filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c))))
                    .collect();
                let has_else = clauses.iter().any(|c| index.kind(*c) == k.else_clause);
                let mut inside: Vec<usize> = Vec::new();
                let all = clauses.iter().all(|clause| {
                    let body =
                        index.field(*clause, if index.kind(*clause) == k.else_clause { f.body } else { f.consequence });
                    let reached = index
                        .field(*clause, f.condition)
                        .is_none_or(|c| modes.is_none_or(|m| m.tested(index, c).is_none_or(|t| t.contains(&m.target))));
                    let here: Vec<usize> = members
                        .iter()
                        // Behind the last statement of the branch: nothing of the branch may come after it.
                        .filter(|(_, at)| body.is_some_and(|b| index.parts(b).last() == Some(*at)))
                        .map(|(n, _)| *n)
                        .collect();
                    let ok = !reached || !here.is_empty();
                    inside.extend(here);
                    ok
                });
                if !has_else || !all {
                    continue;
                }
                let keep = *inside.iter().min().unwrap_or(&0);
                fixes[keep].changes = vec![Change::Insert { at: chain, after: true, text }];
                let mut n = 0;
                fixes.retain(|_| {
                    n += 1;
                    n - 1 == keep || !inside.contains(&(n - 1))
                });
                moved = true;
                break 'groups;
            }
        }
        if !moved {
            return;
        }
    }
}

/// Drops insertions that stand there already.
pub(crate) fn drop_present(view: &FileView<'_>, fixes: &mut Vec<Fix>) {
    let bare = |text: &str| text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
    fixes.retain(|fix| {
        !fix.changes.iter().any(|change| {
            let Change::Insert { at, after, text } = change else { return false };
            let index = &view.index;
            let Some(block) = index.parent(*at) else { return false };
            let siblings: Vec<Id> = index.parts(block).collect();
            let Some(n) = siblings.iter().position(|s| s == at) else { return false };
            let near =
                if *after { &siblings[n + 1..siblings.len().min(n + 5)] } else { &siblings[n.saturating_sub(4)..n] };
            let (Some(first), Some(last)) = (near.first(), near.last()) else { return false };
            bare(&index.text[index.item(*first).start..index.item(*last).end]).contains(&bare(text))
        })
    });
}

/// Puts the fixes of one file under the guard.
pub(crate) fn lift(
    view: &FileView<'_>,
    project: &ProjectFacts,
    modes: &Modes,
    fixes: Vec<Fix>,
) -> (Vec<Fix>, Vec<Stranded>) {
    let mut out = Vec::new();
    let mut stranded = Vec::new();
    let mut open: Vec<Fix> = Vec::new();
    let mut vendor: Map<(Id, Id), Vec<Fix>> = Map::new();
    for fix in fixes {
        let Some(node) = fix.changes.first().and_then(Change::node) else {
            out.push(fix);
            continue;
        };
        match (modes.region(&view.index, node), fix.lift) {
            (_, Lift::Shared) | (Region::Target, _) => out.push(fix),
            (Region::Foreign, _) | (Region::Vendor { .. }, Lift::AsWritten) => {}
            (Region::Unclear, _) => {
                stranded.push(Stranded {
                    fix,
                    reason: "whether this mode comes here is decided in a way that is not followed",
                });
            }
            (Region::Open, Lift::AsWritten) => out.push(fix),
            (Region::Vendor { clause, chain }, Lift::Guarded) => {
                if !modes.has_target_branch(&view.index, chain) {
                    vendor.get_or_default((chain, clause)).push(fix);
                }
            }
            (Region::Open, Lift::Guarded) => open.push(fix),
        }
    }
    for ((chain, clause), fixes) in vendor {
        out.extend(branch(view, project, modes, chain, clause, fixes));
    }
    guard_all(view, project, modes, open, &mut out, &mut stranded);
    (out, stranded)
}

/// A branch for the target beside the vendor's: the vendor's body, ported in place.
fn branch(
    view: &FileView<'_>,
    project: &ProjectFacts,
    modes: &Modes,
    chain: Id,
    clause: Id,
    fixes: Vec<Fix>,
) -> Option<Fix> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let text = index.text;
    let body = index.field(clause, f.consequence)?;
    let test = modes.retarget(index, index.field(clause, f.condition)?)?;
    let last = index.children(body).last()?;
    let (start, end) = (index.item(body).start, statement_end(view, last).max(index.item(body).end));
    let mut edits: Vec<Splice> = fixes
        .iter()
        .flat_map(|fix| fix.changes.iter().flat_map(|c| splices(view, c)))
        .filter(|s| s.range.start >= line_start(text, start).min(start) && s.range.end <= text.len())
        .collect();
    sort_by_key(&mut edits, |s| (s.range.start, s.range.end));
    let mut new = String::new();
    let mut at = start;
    for edit in edits {
        if edit.range.end < start || edit.range.start > end {
            continue;
        }
        let from = edit.range.start.max(start);
        if from < at {
            continue;
        }
        new.push_str(&text[at..from]);
        new.push_str(&edit.text);
        at = edit.range.end.max(from);
    }
    if at < end {
        new.push_str(&text[at..end]);
    }
    let own_line = text[line_start(text, start)..start].trim().is_empty();
    let indent = line_indent(text, index.item(chain).start);
    let inner = format!("{indent}{}", view.layout.indent);
    let body_indent = if own_line { line_indent(text, start).to_owned() } else { inner.clone() };
    let flat = dedent(&new, if own_line { &body_indent } else { indent });
    let flat = modes.retargeted(&simplified(flat.trim_end()));
    let imports: Vec<String> = target_imports(project, &fixes);
    let block_imports =
        fixes.iter().flat_map(|fix| fix.imports.iter()).filter(|i| !is_target_import(project, i)).cloned().collect();
    if is_empty_body(&flat) {
        return None;
    }
    // Where `else` does the same, the target takes it already.
    let else_body =
        index.children(chain).find(|c| index.kind(*c) == k.else_clause).and_then(|c| index.field(c, f.body));
    if imports.is_empty() && else_body.is_some_and(|e| bare(index.text_of(e)) == bare(&flat)) {
        return None;
    }
    let mut lines = imports.join("\n");
    if !lines.is_empty() {
        lines.push('\n');
    }
    lines.push_str(&flat);
    let newline = view.layout.newline;
    let lines = at_indent(&lines.replace("\r\n", "\n"), &body_indent, newline);
    let written = format!("{newline}{indent}elif {test}:{newline}{body_indent}{lines}");
    // Behind the branches of other modes: none of them can hold when the target's does.
    let mut behind = end;
    for later in index.children(chain).filter(|c| index.kind(*c) == k.elif_clause && *c > clause) {
        let other = index
            .field(later, f.condition)
            .and_then(|c| modes.tested(index, c))
            .is_some_and(|members| !members.contains(&modes.target));
        let block = index.field(later, f.consequence);
        let Some(last) = block.filter(|_| other).and_then(|b| index.children(b).last()) else { break };
        behind = statement_end(view, last).max(index.item(later).end);
    }
    let mut fix = first_of(&fixes);
    fix.changes = vec![Change::Raw { range: behind..behind, text: written }];
    fix.imports = block_imports;
    Some(fix)
}

/// Whether a body does nothing.
fn is_empty_body(body: &str) -> bool {
    body.lines().all(|l| {
        let l = l.trim();
        l.is_empty() || l.starts_with('#') || l == "pass"
    })
}

fn bare(text: &str) -> String {
    text.lines()
        .map(|l| l.split(" #").next().unwrap_or(l).trim())
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .collect::<Vec<_>>()
        .join("\n")
}

/// `if a: x else: x` is `x`, as long as asking for `a` does nothing.
fn simplified(body: &str) -> String {
    let (k, f) = (kinds(), fields());
    let tree = Tree::parse(body);
    let index = tree.index();
    let statements: Vec<Id> = index.parts(crate::tree::ROOT).collect();
    let [only] = statements.as_slice() else { return body.to_owned() };
    if index.kind(*only) != k.if_statement {
        return body.to_owned();
    }
    let mut bodies: Vec<Id> = index.field(*only, f.consequence).into_iter().collect();
    let mut has_else = false;
    for clause in index.children(*only) {
        if index.kind(clause) == k.elif_clause {
            bodies.extend(index.field(clause, f.consequence));
        } else if index.kind(clause) == k.else_clause {
            has_else = true;
            bodies.extend(index.field(clause, f.body));
        }
    }
    let calls_in_tests =
        index.of_kind_in(k.call, *only).iter().any(|c| !bodies.iter().any(|b| index.is_within(*c, *b)));
    let Some(first) = bodies.first() else { return body.to_owned() };
    let same = bodies.iter().all(|b| bare(index.text_of(*b)) == bare(index.text_of(*first)));
    // A comment would be lost with its branch, but the original keeps it: this is the copy.
    if !has_else || !same || calls_in_tests {
        return body.to_owned();
    }
    let indent = line_indent(body, index.item(*first).start).to_owned();
    let without_comments =
        index.parts(*first).map(|s| index.text_of(s)).collect::<Vec<_>>().join(&format!("\n{indent}"));
    dedent(&without_comments, &indent)
}

fn first_of(fixes: &[Fix]) -> Fix {
    let mut fix = fixes.iter().min_by_key(|f| (f.rank, f.at)).cloned().unwrap_or_else(|| fixes[0].clone());
    fix.applicability = fixes.iter().map(|f| f.applicability).max().unwrap_or(fix.applicability);
    fix.lift = Lift::AsWritten;
    fix.owned = fix.at..fix.at;
    fix
}

/// Imports of packages that only the target's machine has.
pub(crate) fn is_target_import(project: &ProjectFacts, line: &str) -> bool {
    let module = line.split_whitespace().nth(1).unwrap_or("");
    let head = module.split('.').next().unwrap_or(module);
    project.target_modules.iter().any(|m| m == head)
}

fn target_imports(project: &ProjectFacts, fixes: &[Fix]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for import in fixes.iter().flat_map(|f| &f.imports).filter(|i| is_target_import(project, i)) {
        if !out.contains(import) {
            out.push(import.clone());
        }
    }
    out
}

/// What happens to one statement.
#[derive(Default)]
struct Unit {
    before: Vec<String>,
    after: Vec<String>,
    /// The statement as the target has it; an empty text where it goes.
    new: Option<String>,
    last: Id,
    fixes: Vec<Fix>,
}

fn guard_all(
    view: &FileView<'_>,
    project: &ProjectFacts,
    modes: &Modes,
    fixes: Vec<Fix>,
    out: &mut Vec<Fix>,
    stranded: &mut Vec<Stranded>,
) {
    let index = &view.index;
    let mut units: Map<Id, Unit> = Map::new();
    let mut rewrites: Map<Id, Vec<(Fix, Vec<Splice>)>> = Map::new();
    for fix in fixes {
        let Some(node) = fix.changes.first().and_then(Change::node) else { continue };
        let Some(statement) = view.statement_of(node) else {
            stranded.push(Stranded { fix, reason: "it stands in no statement that could be put under a test" });
            continue;
        };
        let Some(guard) = guard_for(view, project, modes, statement) else {
            stranded.push(Stranded { fix, reason: "the compute mode can't be read at this place" });
            continue;
        };
        let expressions = fix.changes.iter().all(|c| matches!(c, Change::Expression { .. }));
        let compound = index.children(statement).any(|c| index.kind(c) == kinds().block)
            || index.kind(statement) == kinds().decorated_definition;
        if expressions && (compound || !owns_its_lines(view, statement, statement)) {
            match conditional(view, modes, &fix, &guard, statement) {
                Some(fix) => out.push(fix),
                None => stranded.push(Stranded { fix, reason: "a test can't be written here" }),
            }
            continue;
        }
        if expressions {
            let edits = fix.changes.iter().flat_map(|c| splices(view, c)).collect();
            rewrites.get_or_default(statement).push((fix, edits));
            continue;
        }
        let mut ok = true;
        for change in &fix.changes {
            match change {
                Change::Insert { at, after, text } => {
                    let unit = units.get_or_default(*at);
                    if *after {
                        unit.after.push(text.clone())
                    } else {
                        unit.before.push(text.clone())
                    }
                    unit.last = unit.last.max(*at);
                }
                Change::Replace { first, last, text } => {
                    if !owns_its_lines(view, *first, *last) {
                        ok = false;
                        break;
                    }
                    let unit = units.get_or_default(*first);
                    unit.new = Some(text.clone());
                    unit.last = *last;
                }
                _ => ok = false,
            }
        }
        let first = fix.changes.iter().filter_map(Change::node).min().unwrap_or(statement);
        if ok {
            units.get_or_default(first).fixes.push(fix);
        } else {
            units.remove(&first);
            stranded.push(Stranded { fix, reason: "it shares its line with other code" });
        }
    }
    for (statement, group) in rewrites {
        let unit = units.get_or_default(statement);
        if unit.new.is_some() {
            continue;
        }
        let range = index.range(statement);
        let mut edits: Vec<Splice> = group.iter().flat_map(|(_, e)| e.clone()).collect();
        sort_by_key(&mut edits, |s| (s.range.start, s.range.end));
        let mut new = String::new();
        let mut at = range.start;
        for edit in edits {
            if edit.range.start < at {
                continue;
            }
            new.push_str(&index.text[at..edit.range.start]);
            new.push_str(&edit.text);
            at = edit.range.end;
        }
        new.push_str(&index.text[at..range.end]);
        let indent = line_indent(index.text, range.start);
        unit.new = Some(modes.retargeted(&dedent(&new.replace("\r\n", "\n"), indent)));
        unit.last = unit.last.max(statement);
        unit.fixes.extend(group.into_iter().map(|(f, _)| f));
    }
    // Neighbours under one guard share one `if`.
    let starts: Vec<Id> = units.keys().copied().collect();
    let mut done = Vec::new();
    for first in starts {
        if done.contains(&first) {
            continue;
        }
        let mut run = vec![first];
        let guard = guard_for(view, project, modes, first);
        loop {
            let last = run[run.len() - 1];
            let end = units[&last].last.max(last);
            let Some(block) = index.parent(last) else { break };
            let Some(next) = index.parts(block).find(|s| *s > end) else { break };
            let joins = units.contains_key(&next)
                && guard_for(view, project, modes, next) == guard
                // An insertion behind a statement that stays ends a run, unless what follows only inserts before.
                && (units[&last].new.is_some() && units[&next].new.is_some());
            if !joins {
                break;
            }
            run.push(next);
        }
        done.extend(run.iter().copied());
        let Some(guard) = guard else { continue };
        out.extend(write_run(view, project, &guard, &run, &mut units));
    }
}

/// One `if` for a run of neighbouring statements.
fn write_run(
    view: &FileView<'_>,
    project: &ProjectFacts,
    guard: &str,
    run: &[Id],
    units: &mut Map<Id, Unit>,
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
        format!("if {test}:\n{}", indent_all(&body, unit_indent))
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
    let old = dedent(&text[start..end].replace("\r\n", "\n"), indent);
    let written = if new.is_empty() {
        format!("if {}:\n{}", negated(guard), indent_all(&old, unit_indent))
    } else {
        format!("{}\nelse:\n{}", under(&new, guard), indent_all(&old, unit_indent))
    };
    fix.changes = vec![Change::Raw { range: start..end, text: at_indent(&written, indent, newline) }];
    vec![fix]
}

/// `a == B` to `a != B`.
fn negated(guard: &str) -> String {
    match guard.split_once(" == ") {
        Some((a, b)) if !guard.contains(" and ") => format!("{a} != {b}"),
        _ => format!("not ({guard})"),
    }
}

/// One more level for every line; lines that begin inside a string keep their place.
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

/// The test for the target, where it can be read: not before `self` has its arguments.
fn guard_for(view: &FileView<'_>, project: &ProjectFacts, modes: &Modes, statement: Id) -> Option<String> {
    let guard = modes.guard_at(view, project, statement)?;
    if guard.starts_with("self.")
        && let Some(function) = view.function_of(statement)
        && view.name_of(function) == "__init__"
        && !initialised(view, function, statement, guard.split('.').nth(1).unwrap_or(""))
    {
        return None;
    }
    // A class body and the parameters of a function are no place for a test of `self`.
    Some(guard)
}

/// Whether `__init__` has handed `self` its attribute before a statement: by assignment or through a base class.
pub(crate) fn initialised(view: &FileView<'_>, init: Id, statement: Id, attribute: &str) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let before = |id: Id| index.item(id).end <= index.item(statement).start;
    let name = format!("self.{}", attribute.split(['[', '(', ' ']).next().unwrap_or(attribute));
    index
        .of_kind_in(k.assignment, init)
        .iter()
        .any(|a| before(*a) && index.field(*a, f.left).is_some_and(|l| index.text_of(l) == name))
        || view.calls("__init__").iter().any(|c| index.is_within(*c, init) && before(*c))
}

/// `(new if guard else old)` for an expression in the header of a compound statement.
fn conditional(view: &FileView<'_>, modes: &Modes, fix: &Fix, guard: &str, statement: Id) -> Option<Fix> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let node = fix.changes.first().and_then(Change::node)?;
    if index.kind(statement) == k.decorated_definition
        || index.kind(statement) == k.class_definition
        || (index.kind(statement) == k.function_definition
            && index.field(statement, f.parameters).is_some_and(|p| index.is_within(node, p)))
    {
        return None;
    }
    if [k.expression_statement, k.assignment, k.with_item].contains(&index.kind(node)) {
        return None;
    }
    let range = index.range(node);
    let mut edits: Vec<Splice> = fix.changes.iter().flat_map(|c| splices(view, c)).collect();
    sort_by_key(&mut edits, |s| (s.range.start, s.range.end));
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
    let old = index.text_of(node);
    lifted.changes = vec![Change::Raw { range, text: format!("({} if {guard} else {old})", modes.retargeted(&new)) }];
    Some(lifted)
}
