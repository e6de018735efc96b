//! Semantic patches: the text of a `diff rule` fence, compiled to a pattern and what to put in its place.

use crate::order::Set;
use crate::pattern::{NodePattern, node_pattern};
use crate::template::{Lines, Template, variable_name};
use crate::tree::{EXPANDO, Root, Tree, TsNode, fields, kinds};

/// A compiled patch.
#[derive(Clone)]
pub(crate) struct Patch {
    pub(crate) shape: Shape,
    /// `+ import …` lines for the import block.
    pub(crate) imports: Vec<String>,
    /// No `+` and no `-` lines.
    pub(crate) report_only: bool,
}

/// What a patch matches.
#[derive(Clone)]
pub(crate) enum Shape {
    /// One expression, anywhere.
    Expression { pattern: NodePattern, layout: Template, replacement: Option<Template> },
    /// Consecutive statements of one block.
    Statements(Block),
}

/// Statements in order, with what is inserted between them.
#[derive(Clone, Default)]
pub(crate) struct Block {
    pub(crate) items: Vec<Item>,
}

#[derive(Clone)]
pub(crate) enum Item {
    Insert(Lines),
    Statement(Statement),
}

#[derive(Clone)]
pub(crate) struct Statement {
    pub(crate) deleted: bool,
    pub(crate) form: Form,
}

#[derive(Clone)]
pub(crate) enum Form {
    /// `$$$BODY` as statements.
    Many(String),
    /// A simple statement, or `$X` as one.
    Simple(NodePattern),
    Compound(Box<Compound>),
}

/// A statement with a block: matched by its header, part by part, then by its body.
#[derive(Clone)]
pub(crate) struct Compound {
    pub(crate) kind: u16,
    /// Parts of the header with the field (0: none) that they fill.
    pub(crate) header: Vec<(u16, NodePattern)>,
    /// `-`/`+` on the header alone: what to write up to the colon.
    pub(crate) new_header: Option<Template>,
    pub(crate) body: Block,
    pub(crate) clauses: Vec<Clause>,
}

/// `elif`, `else`, `except`, `finally`.
#[derive(Clone)]
pub(crate) struct Clause {
    pub(crate) kind: u16,
    pub(crate) header: Vec<(u16, NodePattern)>,
    pub(crate) body: Block,
    /// Clauses to write in front of this one.
    pub(crate) before: Option<Lines>,
}

/// Why a patch can't be compiled: the line within the fence and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatchError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

fn fault<T>(line: usize, message: impl Into<String>) -> Result<T, PatchError> {
    Err(PatchError { line, message: message.into() })
}

/// One line of the fence.
struct Line<'a> {
    marker: char,
    indent: usize,
    code: &'a str,
}

/// `+` lines that stand after the pattern line `after` (counted from 0; none before the first).
struct Insertion {
    after: Option<usize>,
    indent: usize,
    lines: Lines,
}

impl Patch {
    pub(crate) fn compile(text: &str) -> Result<Self, PatchError> {
        let lines = read_lines(text)?;
        let mut pattern_lines: Vec<&Line<'_>> = Vec::new();
        let mut insertions: Vec<Insertion> = Vec::new();
        let mut imports = Vec::new();
        let changes = lines.iter().any(|l| l.marker != ' ');
        let only_imports = lines.iter().all(|l| l.marker != '+' || is_import(l));
        let has_pattern = lines.iter().any(|l| l.marker != '+' && !l.code.is_empty());
        if !has_pattern {
            return fault(0, "the rule has only `+` lines: give it a line to match, as `-` or as context");
        }
        for (n, line) in lines.iter().enumerate() {
            if line.code.is_empty() && line.marker != '+' {
                continue;
            }
            if line.marker != '+' {
                pattern_lines.push(line);
                continue;
            }
            if is_import(line) && (only_imports || lines.len() > 1) {
                imports.push(line.code.to_owned());
                continue;
            }
            let after = pattern_lines.len().checked_sub(1);
            let entry = (line.indent, Template::parse(line.code));
            match insertions.last_mut() {
                Some(last) if last.after == after && n > 0 => last.lines.0.push(entry),
                _ => insertions.push(Insertion { after, indent: line.indent, lines: Lines(vec![entry]) }),
            }
            // A blank line in front has no indentation of its own.
            if let Some(last) = insertions.last_mut()
                && !line.code.is_empty()
                && last.lines.0.iter().filter(|(_, t)| !t.parts.is_empty()).count() == 1
            {
                last.indent = line.indent;
            }
        }
        let source: String =
            pattern_lines.iter().flat_map(|l| [" ".repeat(l.indent), expand(l.code), "\n".to_owned()]).collect();
        let (source, wrapped) = wrap_clause(source);
        let tree = Tree::parse(&source);
        if tree.has_error() {
            let at = tree.first_error().map_or(0, |r| source[..r.start].matches('\n').count());
            return fault(at.saturating_sub(if wrapped { 2 } else { 0 }), "the lines to match are not Python");
        }
        let root = Root::doc(ast_grep_core::tree_sitter::StrDoc::new(&source, crate::tree::Python));
        let mut counter = 0;
        let patch = Self {
            shape: shape(&root, &pattern_lines, insertions, wrapped, &mut counter)?,
            imports,
            report_only: !changes,
        };
        patch.check_bound(&lines)?;
        Ok(patch)
    }

    /// Every metavariable of a `+` line must be bound by the pattern.
    fn check_bound(&self, lines: &[Line<'_>]) -> Result<(), PatchError> {
        let mut bound = Set::new();
        for line in lines.iter().filter(|l| l.marker != '+') {
            bound.extend(Template::parse(line.code).variables().map(str::to_owned));
        }
        for (n, line) in lines.iter().enumerate().filter(|(_, l)| l.marker == '+') {
            if let Some(name) = Template::parse(line.code).variables().find(|v| !bound.contains(*v)) {
                return fault(
                    n,
                    format!("`${name}` is written but never matched: use it in a `-` or context line first"),
                );
            }
        }
        Ok(())
    }

    /// Words that a file must contain.
    pub(crate) fn words(&self) -> Vec<&str> {
        fn block<'a>(b: &'a Block, out: &mut Vec<&'a str>) {
            for item in &b.items {
                if let Item::Statement(s) = item {
                    match &s.form {
                        Form::Many(_) => {}
                        Form::Simple(p) => out.extend(p.words.iter().map(String::as_str)),
                        Form::Compound(c) => {
                            out.extend(c.header.iter().flat_map(|(_, p)| p.words.iter().map(String::as_str)));
                            block(&c.body, out);
                            for clause in &c.clauses {
                                out.extend(clause.header.iter().flat_map(|(_, p)| p.words.iter().map(String::as_str)));
                                block(&clause.body, out);
                            }
                        }
                    }
                }
            }
        }
        let mut out = Vec::new();
        match &self.shape {
            Shape::Expression { pattern, .. } => out.extend(pattern.words.iter().map(String::as_str)),
            Shape::Statements(b) => block(b, &mut out),
        }
        out
    }
}

fn is_import(line: &Line<'_>) -> bool {
    line.marker == '+' && line.indent == 0 && (line.code.starts_with("import ") || line.code.starts_with("from "))
}

fn read_lines(text: &str) -> Result<Vec<Line<'_>>, PatchError> {
    let mut lines = Vec::new();
    for (n, raw) in text.lines().enumerate() {
        if raw.trim().is_empty() {
            continue;
        }
        if raw.trim_end() == "+" {
            lines.push(Line { marker: '+', indent: 0, code: "" });
            continue;
        }
        let marker = raw.chars().next().unwrap_or(' ');
        if !matches!(marker, '+' | '-' | ' ') {
            return fault(n, "a rule's line starts with `-`, `+` or a space, then one space, then code");
        }
        let rest = &raw[1..];
        let Some(code) = rest.strip_prefix(' ').or_else(|| rest.is_empty().then_some("")) else {
            return fault(n, format!("put one space between `{marker}` and the code"));
        };
        let trimmed = code.trim_start_matches(' ');
        if trimmed.starts_with('\t') {
            return fault(n, "indent rules with spaces");
        }
        lines.push(Line { marker, indent: code.len() - trimmed.len(), code: trimmed.trim_end() });
    }
    Ok(lines)
}

/// `$X` to the stand-in that the parser takes for an identifier.
fn expand(code: &str) -> String {
    let mut out = String::with_capacity(code.len() + 4);
    let mut rest = code;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let dollars = rest[at..].bytes().take_while(|b| *b == b'$').count();
        let is_variable = dollars == 3 || (dollars == 1 && !variable_name(&rest[at + dollars..]).is_empty());
        for _ in 0..dollars {
            out.push(if is_variable { EXPANDO } else { '$' });
        }
        rest = &rest[at + dollars..];
    }
    out.push_str(rest);
    out
}

/// A clause alone gets the statement it belongs to.
fn wrap_clause(source: String) -> (String, bool) {
    let first = source.trim_start();
    let head = if first.starts_with("elif ") || first.starts_with("else:") {
        "if µ_:\n    µµµ\n"
    } else if first.starts_with("except") || first.starts_with("finally:") {
        "try:\n    µµµ\n"
    } else {
        return (source, false);
    };
    (format!("{head}{source}"), true)
}

fn shape(
    root: &Root,
    lines: &[&Line<'_>],
    insertions: Vec<Insertion>,
    wrapped: bool,
    counter: &mut usize,
) -> Result<Shape, PatchError> {
    let module = root.root().get_inner_node();
    let mut cursor = module.walk();
    let statements: Vec<TsNode<'_>> = module.named_children(&mut cursor).filter(|n| !n.is_extra()).collect();
    let k = kinds();
    // One expression, replaced by one expression (or only reported).
    if let [only] = statements.as_slice()
        && only.kind_id() == k.expression_statement
        && only.named_child_count() == 1
        && let Some(expression) = only.named_child(0)
        && expression.kind_id() != k.assignment
        && expression.kind_id() != k.augmented_assignment
    {
        let deleted = lines.iter().all(|l| l.marker == '-');
        let layout = Template::parse(&lines.iter().map(|l| l.code).collect::<Vec<_>>().join("\n"));
        let single = match insertions.as_slice() {
            [one] if deleted => match one.lines.0.as_slice() {
                [(_, template)] => Some(template.clone()),
                _ => None,
            },
            _ => None,
        };
        let report = insertions.is_empty() && !deleted;
        if report || single.as_ref().is_some_and(is_expression) {
            let pattern = node_pattern(root, expression, counter);
            return Ok(Shape::Expression { pattern, layout, replacement: single });
        }
    }
    let mut builder = Builder { root, lines, counter, offset: if wrapped { 2 } else { 0 } };
    let mut block = builder.block(&statements);
    for insertion in insertions {
        let at = insertion.after.map(|l| l + builder.offset);
        if !place(&mut block.0, &block.1, at, insertion.indent, &insertion.lines) {
            let line = insertion.after.map_or(0, |l| l + 1);
            return fault(line, "the `+` line's indentation fits no block of the lines to match");
        }
    }
    Ok(Shape::Statements(block.0))
}

fn is_expression(template: &Template) -> bool {
    let text: String = template
        .parts
        .iter()
        .map(|p| match p {
            crate::template::Part::Text(t) => t.clone(),
            crate::template::Part::One(n) => format!("{EXPANDO}{n}"),
            crate::template::Part::Many(n) => format!("{EXPANDO}{EXPANDO}{EXPANDO}{n}"),
            crate::template::Part::Fact(_) => "fact".to_owned(),
        })
        .collect();
    let tree = Tree::parse(&text);
    if tree.has_error() {
        return false;
    }
    let root = tree.ts_root();
    root.named_child_count() == 1
        && root.named_child(0).is_some_and(|s| {
            s.kind_id() == kinds().expression_statement
                && s.named_child_count() == 1
                && s.named_child(0).is_some_and(|e| e.kind_id() != kinds().assignment)
        })
}

/// Where the parts of a block stand in the fence, beside [`Block`]: first and last line and the column.
struct Extent {
    indent: usize,
    /// Per statement: first line, last line, extents of its body and of its clauses' bodies with their first lines.
    statements: Vec<Span>,
}

struct Span {
    first: usize,
    last: usize,
    body: Option<Extent>,
    clauses: Vec<(usize, Extent)>,
}

struct Builder<'r, 'l, 'c> {
    root: &'r Root,
    lines: &'l [&'l Line<'l>],
    counter: &'c mut usize,
    /// Lines that [`wrap_clause`] put in front.
    offset: usize,
}

impl Builder<'_, '_, '_> {
    fn marker(&self, line: usize) -> char {
        line.checked_sub(self.offset).and_then(|l| self.lines.get(l)).map_or(' ', |l| l.marker)
    }

    fn block(&mut self, statements: &[TsNode<'_>]) -> (Block, Extent) {
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
fn place(block: &mut Block, extent: &Extent, at: Option<usize>, indent: usize, lines: &Lines) -> bool {
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
            let clause_text = matches!(first_text, Some(crate::template::Part::Text(t))
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
