//! A branch for the target next to the vendor's.

use super::joined::{first_of, is_target_import, target_imports};
use crate::fix::Fix;
use crate::guards::Guards;
use python::edit::{Change, Splice, at_indent, dedent, order, splices, statement_end};
use python::lines::line_indent;
use python::lines::line_start;
use python::tree::{Id, ROOT, Tree, kinds};
use training::{FileView, ProjectFacts};

/// A branch for the target next to the vendor's: the vendor's body, ported in place.
pub(super) fn branch(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guards: &dyn Guards,
    chain: Id,
    (clause, test): (Id, &str),
    fixes: Vec<Fix>,
) -> Option<Fix> {
    let k = kinds();
    let index = &view.index;
    let text = index.text;
    let body = index.consequence(clause)?;
    let last = index.children(body).last()?;
    let (start, end) = (index.item(body).start, statement_end(view, last).max(index.item(body).end));
    let mut edits: Vec<Splice> = fixes
        .iter()
        .flat_map(|fix| fix.changes.iter().flat_map(|c| splices(view, c)))
        .filter(|s| s.range.start >= line_start(text, start).min(start) && s.range.end <= text.len())
        .collect();
    order(&mut edits);
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
    // Its first statement may be gone.
    let new = new.trim_start_matches([' ', '\t']);
    let flat = dedent(new, if own_line { &body_indent } else { indent });
    let flat = guards.retargeted(&simplified(flat.trim_end()));
    let imports: Vec<String> = target_imports(project, &fixes);
    let block_imports =
        fixes.iter().flat_map(|fix| fix.imports.iter()).filter(|i| !is_target_import(project, i)).cloned().collect();
    if is_empty_body(&flat) {
        return None;
    }
    // If `else` does the same, the target already uses it.
    let else_body = index.children(chain).find(|c| index.kind(*c) == k.else_clause).and_then(|c| index.body(c));
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
    // After the branches of other modes: none of them can be true if the target's is.
    let mut behind = end;
    for later in index.children(chain).filter(|c| index.kind(*c) == k.elif_clause && *c > clause) {
        let other = index.condition(later).is_some_and(|test| guards.excludes_target(view, test));
        let block = index.consequence(later);
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

/// `if a: x else: x` is `x`, as long as evaluating `a` has no effect.
fn simplified(body: &str) -> String {
    let k = kinds();
    let tree = Tree::parse(body);
    let index = tree.index();
    let statements: Vec<Id> = index.parts(ROOT).collect();
    let [only] = statements.as_slice() else { return body.to_owned() };
    if index.kind(*only) != k.if_statement {
        return body.to_owned();
    }
    let mut bodies: Vec<Id> = index.consequence(*only).into_iter().collect();
    let mut has_else = false;
    for clause in index.children(*only) {
        if index.kind(clause) == k.elif_clause {
            bodies.extend(index.consequence(clause));
        } else if index.kind(clause) == k.else_clause {
            has_else = true;
            bodies.extend(index.body(clause));
        }
    }
    let calls_in_tests =
        index.of_kind_in(k.call, *only).iter().any(|c| !bodies.iter().any(|b| index.is_within(*c, *b)));
    let Some(first) = bodies.first() else { return body.to_owned() };
    let same = bodies.iter().all(|b| bare(index.text_of(*b)) == bare(index.text_of(*first)));
    // A comment would be lost with its branch, but this is the copy and the original keeps it.
    if !has_else || !same || calls_in_tests {
        return body.to_owned();
    }
    let indent = line_indent(body, index.item(*first).start).to_owned();
    let without_comments =
        index.parts(*first).map(|s| index.text_of(s)).collect::<Vec<_>>().join(&format!("\n{indent}"));
    dedent(&without_comments, &indent)
}

#[cfg(test)]
mod tests {
    use super::simplified;

    #[test]
    fn branches_that_do_the_same_are_one() {
        let check = |before: &str, after: &str| assert_eq!(simplified(before), after);
        check("if fast:\n    run()\nelse:\n    run()  # slowly", "run()");
        check("if fast:\n    run()\nelif big:\n    run()\nelse:\n    run()", "run()");
        for kept in [
            "if fast:\n    run()\nelse:\n    walk()",
            "if fast:\n    run()\nelif big:\n    walk()\nelse:\n    run()",
            "if fast:\n    run()\nelif big:\n    run()",
            "if is_fast():\n    run()\nelse:\n    run()",
            "run()\nrun()",
        ] {
            check(kept, kept);
        }
    }
}
