//! Equivalent rewrites: an expression is assigned to a name, statements that share a line get one each, and a choice whose
//! answer is known is the arm that it selects.

use crate::edit::{Change, Splice, dedent, spliced, unindented};
use crate::file::PythonFile;
use crate::lines::line_indent;
use crate::tree::{Id, Index, Tree, kinds};
use std::ops::Range;

/// A statement whose part `expression` is assigned to `name` in a statement above it; none if there is no place for
/// one.
pub fn extracted(file: &PythonFile<'_>, statement: Id, expression: Id, name: &str) -> Option<Change> {
    let index = &file.index;
    let mut bracketed = expression;
    while let Some(outer) = index.parent(bracketed).filter(|p| index.kind(*p) == kinds().parenthesized_expression) {
        bracketed = outer;
    }
    let (whole, part) = (index.range(statement), index.range(bracketed));
    // Brackets that join lines are kept.
    let given = if index.text_of(bracketed).contains('\n') { part.clone() } else { index.range(expression) };
    let plain = |range: Range<usize>| dedent(&index.text[range], line_indent(index.text, whole.start));
    let rest = [whole.start..part.start, part.end..whole.end].map(plain).join(name);
    let text = format!("{name} = {}\n{rest}", plain(given));
    let change = Change::Replace { first: statement, last: statement, text };
    (!change.has_no_place(file)).then_some(change)
}

/// The lines inside `parts` that contain several statements, each statement on its own line, in the order of the text.
/// A line with a comment that would be lost is unchanged.
pub fn statements_split(file: &PythonFile<'_>, parts: &[Id]) -> Vec<Change> {
    let index = &file.index;
    let shares_line = |a: &Id, b: &Id| !index.text[index.item(*a).end..index.item(*b).start].contains('\n');
    let mut changes = Vec::new();
    for block in parts.iter().flat_map(|part| index.of_kind_in(kinds().block, *part)) {
        let statements: Vec<Id> = index.parts(*block).collect();
        for line in statements.chunk_by(shares_line).filter(|line| line.len() > 1) {
            let (first, last) = (line[0], line[line.len() - 1]);
            let each = line.iter().map(|statement| unindented(index.text, index.range(*statement)));
            changes.push(Change::Replace { first, last, text: each.collect::<Vec<_>>().join("\n") });
        }
    }
    changes.retain(|change| !change.has_no_place(file) && !change.swallows_comment(file));
    sorting::by_key(&mut changes, Change::node);
    changes
}

/// Code with one arm of each choice for which there is only that one, among the arm before its test, the test, and the other arm.
pub fn settled(code: &str, arm: impl Fn(&Index<'_>, [Id; 3]) -> Option<Id>) -> String {
    let (tree, k) = (Tree::parse(code), kinds());
    let index = tree.index();
    let arm_of = |choice: &Id| arm(&index, index.parts(*choice).collect::<Vec<_>>().try_into().ok()?);
    let mut asked: Vec<Id> = index.of_kind(k.conditional_expression).to_vec();
    asked.retain(|choice| arm_of(choice).is_some());
    index.outermost(&mut asked, |choice| *choice);
    let edits = asked.iter().filter_map(|choice| {
        let arm = arm_of(choice)?;
        let brackets = index.parent(*choice).filter(|around| index.kind(*around) == k.parenthesized_expression);
        let needs_none = [k.identifier, k.attribute, k.string, k.call].contains(&index.kind(arm));
        let whole = brackets.filter(|_| needs_none).unwrap_or(*choice);
        Some(Splice { range: index.range(whole), text: index.text_of(arm).to_owned() })
    });
    spliced(code, 0..code.len(), edits.collect())
}
