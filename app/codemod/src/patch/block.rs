//! Statements of a fence as a pattern, with the `+` lines between them.

use super::lines::Line;
use super::shape::{Block, Clause, Compound, Form, Item, Statement};
use crate::template::{Lines, Part, variable_name};
use python::pattern::NodePattern;
use python::tree::{Id, Index, kinds};

/// Locations of a block's parts in the fence, in addition to [`Block`]: first and last line and the column.
pub(super) struct Extent {
    indent: usize,
    /// Per statement: first line, last line, extents of its body and of its clauses' bodies with their first lines.
    statements: Vec<Span>,
}

pub(super) struct Span {
    first: usize,
    last: usize,
    body: Option<Extent>,
    clauses: Vec<(usize, Extent)>,
}

pub(super) struct Builder<'r, 'l, 'c> {
    pub(super) index: &'r Index<'r>,
    pub(super) lines: &'l [&'l Line<'l>],
    pub(super) counter: &'c mut usize,
    /// Lines that [`wrap_clause`] added before.
    pub(super) offset: usize,
}

impl Builder<'_, '_, '_> {
    fn marker(&self, line: usize) -> char {
        line.checked_sub(self.offset).and_then(|l| self.lines.get(l)).map_or(' ', |l| l.marker)
    }

    pub(super) fn block(&mut self, statements: &[Id]) -> (Block, Extent) {
        let indent = statements.first().map_or(0, |s| self.index.column(*s));
        let mut block = Block::default();
        let mut extent = Extent { indent, statements: Vec::new() };
        for node in statements {
            let (statement, span) = self.statement(*node);
            block.items.push(Item::Statement(statement));
            extent.statements.push(span);
        }
        (block, extent)
    }

    fn statement(&mut self, node: Id) -> (Statement, Span) {
        let index = self.index;
        let (first, last) = (index.row(node), index.last_row(node));
        let text = index.text_of(node);
        let deleted_line = |b: &Self, l: usize| b.marker(l) == '-';
        let all_deleted = (first..=last).all(|l| deleted_line(self, l));
        if let Some(name) = text.strip_prefix("µµµ")
            && variable_name(name) == name
        {
            let form = Form::Many(name.to_owned());
            return (Statement { deleted: all_deleted, form }, Span { first, last, body: None, clauses: Vec::new() });
        }
        let inner = index.definition(node).unwrap_or(node);
        if let Some(body) = index.clause_body(inner)
            && index.kind(body) == kinds().block
        {
            let (compound, span) = self.compound(inner, body, first, last);
            return (Statement { deleted: all_deleted, form: Form::Compound(Box::new(compound)) }, span);
        }
        let pattern = NodePattern::of_node(index, node, self.counter);
        let span = Span { first, last, body: None, clauses: Vec::new() };
        (Statement { deleted: all_deleted, form: Form::Simple(pattern) }, span)
    }

    fn compound(&mut self, node: Id, body: Id, first: usize, last: usize) -> (Compound, Span) {
        let (index, k) = (self.index, kinds());
        let header = self.header(node, body);
        let (body, extent) = self.block(&statements_of(index, body));
        let mut clauses = Vec::new();
        let mut clause_spans = Vec::new();
        for clause in index.children(node).filter(|c| is_clause(index, *c)) {
            let Some(clause_body) = index.children(clause).find(|c| index.kind(*c) == k.block) else {
                continue;
            };
            let header = self.header(clause, clause_body);
            let (clause_block, clause_extent) = self.block(&statements_of(index, clause_body));
            clauses.push(Clause { kind: index.kind(clause), header, body: clause_block, before: None });
            clause_spans.push((index.row(clause), clause_extent));
        }
        let compound = Compound { kind: index.kind(node), header, new_header: None, body, clauses };
        (compound, Span { first, last, body: Some(extent), clauses: clause_spans })
    }

    fn header(&mut self, node: Id, body: Id) -> Vec<(u16, NodePattern)> {
        let index = self.index;
        index
            .parts(node)
            .filter(|child| *child != body && !is_clause(index, *child))
            .map(|child| (index.item(child).field, NodePattern::of_node(index, child, self.counter)))
            .collect()
    }
}

fn is_clause(index: &Index<'_>, id: Id) -> bool {
    let k = kinds();
    [k.elif_clause, k.else_clause, k.except_clause, k.finally_clause].contains(&index.kind(id))
}

fn statements_of(index: &Index<'_>, block: Id) -> Vec<Id> {
    index.parts(block).collect()
}

/// Inserts `+` lines: `at` is the pattern line that they follow.
pub(super) fn place(block: &mut Block, extent: &Extent, at: Option<usize>, indent: usize, lines: &Lines) -> bool {
    let Some(at) = at else {
        if indent == extent.indent {
            block.items.insert(0, Item::Insert(lines.clone()));
            return true;
        }
        return false;
    };
    // Index of the last statement that starts no later than the line.
    let Some(last) = extent.statements.iter().rposition(|s| s.first <= at) else {
        if indent == extent.indent {
            block.items.insert(0, Item::Insert(lines.clone()));
            return true;
        }
        return false;
    };
    let item = nth_statement(block, last);
    let span = &extent.statements[last];
    if let Item::Statement(Statement { form: Form::Compound(compound), deleted }) = &mut block.items[item]
        && let Some(body) = &span.body
    {
        // The clause (or the body) that contains the line.
        let clause = span.clauses.iter().rposition(|(row, _)| *row <= at);
        if indent == extent.indent && at < span.last {
            let first_text = lines.0.first().and_then(|(_, t)| t.parts.first());
            let clause_text = matches!(first_text, Some(Part::Text(t))
                if ["elif ", "else:", "except", "finally:"].iter().any(|w| t.starts_with(w)));
            let next = clause.map_or(0, |c| c + 1);
            if clause_text && let Some(next) = compound.clauses.get_mut(next) {
                next.before = Some(lines.clone());
                return true;
            }
            // `- with a:` / `+ with b:` before an unchanged body.
            if !*deleted && at == span.first && lines.0.len() == 1 {
                compound.new_header = Some(lines.0[0].1.clone());
                return true;
            }
            return false;
        }
        if indent > extent.indent {
            return match clause {
                Some(c) => place(&mut compound.clauses[c].body, &span.clauses[c].1, Some(at), indent, lines),
                None => place(&mut compound.body, body, Some(at), indent, lines),
            };
        }
    }
    if indent != extent.indent {
        return false;
    }
    block.items.insert(item + 1, Item::Insert(lines.clone()));
    true
}

/// Position in `items` of the n-th statement, counted without insertions.
fn nth_statement(block: &Block, n: usize) -> usize {
    block.items.iter().enumerate().filter(|(_, i)| matches!(i, Item::Statement(_))).nth(n).map_or(0, |(at, _)| at)
}
