//! Statements of a fence as a pattern, and the `+` lines put between them.

use super::lines::Line;
use super::shape::{Block, Clause, Compound, Form, Item, Statement};
use crate::pattern::{NodePattern, node_pattern};
use crate::template::{Lines, Part, variable_name};
use crate::tree::{Root, TsNode, fields, kinds};

/// Where the parts of a block stand in the fence, beside [`Block`]: first and last line and the column.
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
    pub(super) root: &'r Root,
    pub(super) lines: &'l [&'l Line<'l>],
    pub(super) counter: &'c mut usize,
    /// Lines that [`wrap_clause`] put in front.
    pub(super) offset: usize,
}

impl Builder<'_, '_, '_> {
    fn marker(&self, line: usize) -> char {
        line.checked_sub(self.offset).and_then(|l| self.lines.get(l)).map_or(' ', |l| l.marker)
    }

    pub(super) fn block(&mut self, statements: &[TsNode<'_>]) -> (Block, Extent) {
        let indent = statements.first().map_or(0, |s| s.start_position().column);
        let mut block = Block::default();
        let mut extent = Extent { indent, statements: Vec::new() };
        for node in statements {
            let (statement, span) = self.statement(*node);
            block.items.push(Item::Statement(statement));
            extent.statements.push(span);
        }
        (block, extent)
    }

    fn statement(&mut self, node: TsNode<'_>) -> (Statement, Span) {
        let (first, last) = (node.start_position().row, last_row(node));
        let source = self.root.source();
        let text = &source[node.byte_range()];
        let deleted_line = |b: &Self, l: usize| b.marker(l) == '-';
        let all_deleted = (first..=last).all(|l| deleted_line(self, l));
        if let Some(name) = text.strip_prefix("µµµ")
            && variable_name(name) == name
        {
            let form = Form::Many(name.to_owned());
            return (Statement { deleted: all_deleted, form }, Span { first, last, body: None, clauses: Vec::new() });
        }
        let inner = if node.kind_id() == kinds().decorated_definition {
            node.child_by_field_id(fields().definition).unwrap_or(node)
        } else {
            node
        };
        let body_field = if inner.kind_id() == kinds().if_statement { fields().consequence } else { fields().body };
        if let Some(body) = inner.child_by_field_id(body_field)
            && body.kind_id() == kinds().block
        {
            let (compound, span) = self.compound(inner, body, first, last);
            return (Statement { deleted: all_deleted, form: Form::Compound(Box::new(compound)) }, span);
        }
        let pattern = node_pattern(self.root, node, self.counter);
        let span = Span { first, last, body: None, clauses: Vec::new() };
        (Statement { deleted: all_deleted, form: Form::Simple(pattern) }, span)
    }

    fn compound(&mut self, node: TsNode<'_>, body: TsNode<'_>, first: usize, last: usize) -> (Compound, Span) {
        let header = self.header(node, body);
        let (body, extent) = self.block(&statements_of(body));
        let mut clauses = Vec::new();
        let mut clause_spans = Vec::new();
        let mut cursor = node.walk();
        let k = kinds();
        for clause in node.named_children(&mut cursor) {
            if ![k.elif_clause, k.else_clause, k.except_clause, k.finally_clause].contains(&clause.kind_id()) {
                continue;
            }
            let mut inner = clause.walk();
            let Some(clause_body) = clause.named_children(&mut inner).find(|c| c.kind_id() == k.block) else {
                continue;
            };
            let header = self.header(clause, clause_body);
            let (clause_block, clause_extent) = self.block(&statements_of(clause_body));
            clauses.push(Clause { kind: clause.kind_id(), header, body: clause_block, before: None });
            clause_spans.push((clause.start_position().row, clause_extent));
        }
        let compound = Compound { kind: node.kind_id(), header, new_header: None, body, clauses };
        (compound, Span { first, last, body: Some(extent), clauses: clause_spans })
    }

    fn header(&mut self, node: TsNode<'_>, body: TsNode<'_>) -> Vec<(u16, NodePattern)> {
        let k = kinds();
        let mut out = Vec::new();
        let mut cursor = node.walk();
        if cursor.goto_first_child() {
            loop {
                let child = cursor.node();
                let clause =
                    [k.elif_clause, k.else_clause, k.except_clause, k.finally_clause].contains(&child.kind_id());
                if child.is_named() && child.id() != body.id() && !clause && child.kind_id() != k.comment {
                    let field = cursor.field_id().map_or(0, std::num::NonZero::get);
                    out.push((field, node_pattern(self.root, child, self.counter)));
                }
                if !cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        out
    }
}

fn last_row(node: TsNode<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row }
}

fn statements_of(block: TsNode<'_>) -> Vec<TsNode<'_>> {
    let mut cursor = block.walk();
    block.named_children(&mut cursor).filter(|n| !n.is_extra()).collect()
}

/// Puts `+` lines at their place: `at` is the pattern line they follow.
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
        // The clause (or the body) that the line stands in.
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
            // `- with a:` / `+ with b:` in front of a body that stays.
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
