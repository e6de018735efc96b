//! Semantic patches: the text of a `diff rule` fence, compiled to a pattern and its replacement.

mod block;
mod lines;
mod shape;

pub(crate) use lines::PatchError;
pub(crate) use shape::{Block, Form, Item, Shape, Statement};

use crate::template::{Lines, Part, Template, variable_name};
use block::{Builder, place};
use lines::{Line, block_of, fault, is_import, read_lines};
use python::pattern::{Called, NodePattern};
use python::tree::{EXPANDO, Id, Index, ROOT, Tree, kinds};
use sorting::SortedSet;

/// A compiled patch.
pub(crate) struct Patch {
    pub(crate) shape: Shape,
    /// `+ import …` lines for the import block.
    pub(crate) imports: Vec<String>,
    /// `+ {{block NAME}}` lines: functions to add.
    pub(crate) blocks: Vec<String>,
    /// No `+` and no `-` lines.
    pub(crate) report_only: bool,
}

/// `+` lines after the pattern line `after` (counted from 0; none before the first).
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
        let mut blocks = Vec::new();
        let changes = lines.iter().any(|l| l.marker != ' ');
        let only_imports = lines.iter().all(|l| l.marker != '+' || is_import(l) || block_of(l).is_some());
        let has_pattern = lines.iter().any(|l| l.marker != '+' && !l.code.is_empty());
        if !has_pattern {
            return fault(0, "the rule has only `+` lines: add a `-` or context line to match");
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
            if let Some(block) = block_of(line) {
                blocks.push(block.to_owned());
                continue;
            }
            let after = pattern_lines.len().checked_sub(1);
            let entry = (line.indent, Template::parse(line.code));
            match insertions.last_mut() {
                Some(last) if last.after == after && n > 0 => last.lines.0.push(entry),
                _ => insertions.push(Insertion { after, indent: line.indent, lines: Lines(vec![entry]) }),
            }
            // A leading blank line has no indentation of its own.
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
            return fault(at.saturating_sub(if wrapped { 2 } else { 0 }), "the lines to match are not valid Python");
        }
        let index = tree.index();
        let mut counter = 0;
        let patch = Self {
            shape: shape(&index, &pattern_lines, insertions, wrapped, &mut counter)?,
            imports,
            blocks,
            report_only: !changes,
        };
        patch.check_bound(&lines)?;
        Ok(patch)
    }

    /// Whether it only adds imports.
    pub(crate) fn only_imports(&self) -> bool {
        !self.report_only && matches!(self.shape, Shape::Expression { replacement: None, .. })
    }

    /// Every metavariable of a `+` line must be bound by the pattern.
    fn check_bound(&self, lines: &[Line<'_>]) -> Result<(), PatchError> {
        let mut bound = SortedSet::new();
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

    /// Lets keyword arguments in calls also match positional ones; `parameters` of a function are those that it accepts
    /// by position.
    pub(crate) fn take_by_place<'p>(&mut self, parameters: &dyn Fn(&str) -> Option<&'p [String]>) {
        self.each_pattern(&mut |pattern| pattern_by_place(pattern, parameters));
    }

    /// Sets the functions that the metavariables of calls can be, if that is known.
    pub(crate) fn call_one_of(&mut self, names: &dyn Fn(&str) -> Option<Vec<String>>) {
        self.each_pattern(&mut |pattern| pattern.call_one_of(names));
    }

    fn each_pattern(&mut self, change: &mut dyn FnMut(&mut NodePattern)) {
        fn block(b: &mut Block, change: &mut dyn FnMut(&mut NodePattern)) {
            for item in &mut b.items {
                let Item::Statement(statement) = item else { continue };
                match &mut statement.form {
                    Form::Many(_) => {}
                    Form::Simple(pattern) => change(pattern),
                    Form::Compound(compound) => {
                        compound.header.iter_mut().for_each(|(_, pattern)| change(pattern));
                        block(&mut compound.body, change);
                        for clause in &mut compound.clauses {
                            clause.header.iter_mut().for_each(|(_, pattern)| change(pattern));
                            block(&mut clause.body, change);
                        }
                    }
                }
            }
        }
        match &mut self.shape {
            Shape::Expression { pattern, .. } => change(pattern),
            Shape::Statements(b) => block(b, change),
        }
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

/// The same of one pattern.
pub(crate) fn pattern_by_place<'p>(pattern: &mut NodePattern, parameters: &dyn Fn(&str) -> Option<&'p [String]>) {
    let called = match &pattern.called {
        Some(Called::Qualified(name)) => parameters(name),
        // Several functions, if all accept the same arguments.
        Some(Called::OneOf(names)) => {
            let mut all = names.iter().map(|name| parameters(name));
            all.next().flatten().filter(|first| all.all(|other| other == Some(*first)))
        }
        Some(Called::Method(_) | Called::Variable(_) | Called::Member(_)) | None => None,
    };
    if let Some(parameters) = called {
        pattern.take_by_place(parameters);
    }
}

/// `$X` as a placeholder that the parser accepts as an identifier.
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

/// Completes a clause with the statement it belongs to.
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
    index: &Index<'_>,
    lines: &[&Line<'_>],
    insertions: Vec<Insertion>,
    wrapped: bool,
    counter: &mut usize,
) -> Result<Shape, PatchError> {
    let statements: Vec<Id> = index.parts(ROOT).collect();
    let k = kinds();
    // One expression, replaced by one expression (or only reported).
    if let [only] = statements.as_slice()
        && let Some(expression) = only_expression(index, *only)
        && index.kind(expression) != k.augmented_assignment
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
            let pattern = NodePattern::of_node(index, expression, counter);
            return Ok(Shape::Expression { pattern, layout, replacement: single });
        }
    }
    let mut builder = Builder { index, lines, counter, offset: if wrapped { 2 } else { 0 } };
    let mut block = builder.block(&statements);
    for insertion in insertions {
        let at = insertion.after.map(|l| l + builder.offset);
        if !place(&mut block.0, &block.1, at, insertion.indent, &insertion.lines) {
            let line = insertion.after.map_or(0, |l| l + 1);
            return fault(line, "the `+` line's indentation matches no block of the lines to match");
        }
    }
    Ok(Shape::Statements(block.0))
}

fn is_expression(template: &Template) -> bool {
    let text: String = template
        .parts
        .iter()
        .map(|p| match p {
            Part::Text(t) => t.clone(),
            Part::One(n) => format!("{EXPANDO}{n}"),
            Part::Many(n) => format!("{EXPANDO}{EXPANDO}{EXPANDO}{n}"),
            Part::Fact(_) => "fact".to_owned(),
        })
        .collect();
    let tree = Tree::parse(&text);
    if tree.has_error() {
        return false;
    }
    let index = tree.index();
    let mut statements = index.children(ROOT);
    statements.next().is_some_and(|s| only_expression(&index, s).is_some()) && statements.next().is_none()
}

/// The expression of a statement that consists of it, if it is not an assignment.
fn only_expression(index: &Index<'_>, statement: Id) -> Option<Id> {
    let k = kinds();
    let mut parts = index.children(statement).filter(|_| index.kind(statement) == k.expression_statement);
    let expression = parts.next().filter(|e| index.kind(*e) != k.assignment)?;
    parts.next().is_none().then_some(expression)
}
