//! Finds where a patch matches in a file, and which nodes each part of the patch matched.

use crate::patch::{Block, Form, Item, Patch, Shape, Statement};
use python::pattern::{Captures, NodePattern};
use python::tree::{Id, fields, kinds};
use sorting::SortedSet;
use training::FileView;

/// A place where a patch matches.
pub(crate) struct Match<'t> {
    /// The expression, or the first statement.
    pub(crate) node: Id,
    pub(crate) env: Captures<'t>,
    pub(crate) met: Met,
}

/// The captures of a patch's parts.
pub(crate) enum Met {
    Expression,
    /// One entry per statement of the patch's block.
    Statements(Vec<Aligned>),
}

/// The captures of one statement of a patch.
#[derive(Clone, Debug)]
pub(crate) enum Aligned {
    /// Consecutive statements, none for an empty `$$$`.
    Plain(Vec<Id>),
    /// A compound statement; entries of its body and of its clauses in the order of the patch.
    Compound { id: Id, body: Vec<Aligned>, clauses: Vec<(Id, Vec<Aligned>)> },
}

impl Aligned {
    pub(crate) fn first(&self) -> Option<Id> {
        match self {
            Self::Plain(ids) => ids.first().copied(),
            Self::Compound { id, .. } => Some(*id),
        }
    }
    pub(crate) fn last(&self) -> Option<Id> {
        match self {
            Self::Plain(ids) => ids.last().copied(),
            Self::Compound { id, .. } => Some(*id),
        }
    }
}

/// Every match of a patch, in the order of the text. `typed` lists the candidates of a bare metavariable.
pub(crate) fn matches<'t>(
    view: &FileView<'t>,
    patch: &Patch,
    typed: &dyn Fn(&str) -> Option<Vec<Id>>,
) -> Vec<Match<'t>> {
    let mut found = Vec::new();
    match &patch.shape {
        Shape::Expression { pattern, .. } => {
            for id in candidates(view, pattern, typed) {
                let mut env = Captures::new();
                if pattern.matches(&view.index, &view.names, id, &mut env) {
                    found.push(Match { node: id, env, met: Met::Expression });
                }
            }
        }
        Shape::Statements(block) => {
            for statements in starts(view, block, typed) {
                let mut env = Captures::new();
                if let Some((_, aligned)) = sequence(view, &statements_in(block), &statements, 0, &mut env, false) {
                    let node = aligned.iter().find_map(Aligned::first).unwrap_or(statements[0]);
                    found.push(Match { node, env, met: Met::Statements(aligned) });
                }
            }
        }
    }
    sorting::by_key(&mut found, |m| m.node);
    found.dedup_by_key(|m| m.node);
    found
}

/// Nodes that a pattern could match.
fn candidates(view: &FileView<'_>, pattern: &NodePattern, typed: &dyn Fn(&str) -> Option<Vec<Id>>) -> Vec<Id> {
    let k = kinds();
    if let Some(variable) = &pattern.variable {
        return typed(variable).unwrap_or_default();
    }
    let Some(names) = pattern.called_names(&view.names) else {
        let Some(name) = pattern.whole_name() else {
            let mut ids = view.index.of_kind(pattern.kind.unwrap_or(0)).to_vec();
            if pattern.kind == Some(k.string) {
                ids.extend(view.index.of_kind(k.concatenated_string));
            }
            ids.extend(pattern.whole_module().into_iter().flat_map(|module| imported_members(view, module)));
            return ids;
        };
        let mut ids = Vec::new();
        for id in view.names.last_names(name).flat_map(|n| view.identifiers(n).iter().copied()) {
            let Some(parent) = view.index.parent(id) else { continue };
            let kind = view.index.kind(parent);
            if kind == k.attribute && view.index.item(id).field == fields().attribute {
                ids.push(parent);
            } else if kind != k.dotted_name && kind != k.aliased_import && kind != k.keyword_argument {
                // A dotted name may be imported as a plain one.
                ids.push(id);
            }
        }
        return ids;
    };
    let called: Vec<Id> = names.into_iter().flat_map(|name| view.calls(name).iter().copied()).collect();
    if pattern.kind == Some(k.call) {
        called
    } else {
        called.into_iter().filter_map(|c| view.statement_of(c)).collect()
    }
}

/// Plain names in the code that were imported from a module.
fn imported_members(view: &FileView<'_>, module: &str) -> Vec<Id> {
    let k = kinds();
    let used = |id: &Id| {
        let parent = view.index.parent(*id).map(|p| view.index.kind(p));
        !view.index.is_label(*id) && parent != Some(k.dotted_name) && parent != Some(k.aliased_import)
    };
    view.names
        .members(module)
        .into_iter()
        .flat_map(|name| view.identifiers(name).iter().copied())
        .filter(used)
        .collect()
}

fn statements_in(block: &Block) -> Vec<&Statement> {
    block
        .items
        .iter()
        .filter_map(|i| match i {
            Item::Statement(s) => Some(s),
            Item::Insert(_) => None,
        })
        .collect()
}

/// Consecutive statements of which the first ones may match.
fn starts(view: &FileView<'_>, block: &Block, typed: &dyn Fn(&str) -> Option<Vec<Id>>) -> Vec<Vec<Id>> {
    let index = &view.index;
    let statements = statements_in(block);
    let is_many = |s: &&Statement| matches!(s.form, Form::Many(_));
    let Some(anchor) = statements.iter().position(|s| !is_many(s)) else { return Vec::new() };
    let ids: Vec<Id> = match &statements[anchor].form {
        Form::Simple(pattern) => candidates(view, pattern, typed),
        Form::Compound(compound) => index.of_kind(compound.kind).to_vec(),
        Form::Many(_) => Vec::new(),
    };
    let most = if statements.iter().any(is_many) { usize::MAX } else { statements.len() };
    let mut out: Vec<Vec<Id>> = Vec::new();
    let mut searched: SortedSet<Id> = SortedSet::new();
    for id in ids {
        let id = decorated(view, id);
        let Some(parent) = index.parent(id) else { continue };
        if statements.len() == 1 {
            if [kinds().block, kinds().module].contains(&index.kind(parent)) {
                out.push(vec![id]);
            }
        } else if anchor == 0 {
            out.push(index.parts_from(id).take(most).collect());
        } else if searched.insert(parent) {
            out.push(index.parts(parent).collect());
        }
    }
    out
}

/// A definition including its decorators, if it has any.
pub(crate) fn decorated(view: &FileView<'_>, id: Id) -> Id {
    match view.index.parent(id) {
        Some(p) if view.index.kind(p) == kinds().decorated_definition => p,
        _ => id,
    }
}

/// Matches statements of a patch from `at` on; returns the end and the captures of each.
fn sequence<'t>(
    view: &FileView<'t>,
    patterns: &[&Statement],
    statements: &[Id],
    at: usize,
    env: &mut Captures<'t>,
    to_end: bool,
) -> Option<(usize, Vec<Aligned>)> {
    let Some((first, rest)) = patterns.split_first() else {
        return (!to_end || at == statements.len()).then(|| (at, Vec::new()));
    };
    if let Form::Many(name) = &first.form {
        let most = statements.len() - at;
        let lengths: Vec<usize> = if rest.is_empty() { vec![most] } else { (0..=most).collect() };
        for len in lengths {
            let mut trial = env.clone();
            let taken = &statements[at..at + len];
            if !name.is_empty() && !trial.insert_many(&view.index, name, taken) {
                continue;
            }
            if let Some((end, mut aligned)) = sequence(view, rest, statements, at + len, &mut trial, to_end) {
                aligned.insert(0, Aligned::Plain(taken.to_vec()));
                *env = trial;
                return Some((end, aligned));
            }
        }
        return None;
    }
    let statement = *statements.get(at)?;
    let mut trial = env.clone();
    let met = one(view, first, statement, &mut trial)?;
    let (end, mut aligned) = sequence(view, rest, statements, at + 1, &mut trial, to_end)?;
    aligned.insert(0, met);
    *env = trial;
    Some((end, aligned))
}

fn one<'t>(view: &FileView<'t>, pattern: &Statement, id: Id, env: &mut Captures<'t>) -> Option<Aligned> {
    match &pattern.form {
        Form::Many(_) => None,
        Form::Simple(node) => node.matches(&view.index, &view.names, id, env).then(|| Aligned::Plain(vec![id])),
        Form::Compound(compound) => {
            let k = kinds();
            let inner = view.index.definition(id).unwrap_or(id);
            if view.index.kind(inner) != compound.kind || !header(view, &compound.header, inner, env) {
                return None;
            }
            let body = within(view, &compound.body, view.index.clause_body(inner)?, env)?;
            let clause_kinds = [k.elif_clause, k.else_clause, k.except_clause, k.finally_clause];
            let actual: Vec<Id> =
                view.index.children(inner).filter(|c| clause_kinds.contains(&view.index.kind(*c))).collect();
            let mut clauses = Vec::new();
            let mut next = 0;
            for wanted in &compound.clauses {
                let (n, aligned) = (next..actual.len()).find_map(|n| {
                    let clause = actual[n];
                    if view.index.kind(clause) != wanted.kind {
                        return None;
                    }
                    let mut trial = env.clone();
                    let block = view.index.parts(clause).find(|c| view.index.kind(*c) == k.block)?;
                    let ok = header(view, &wanted.header, clause, &mut trial);
                    let aligned = ok.then(|| within(view, &wanted.body, block, &mut trial)).flatten()?;
                    *env = trial;
                    Some((n, aligned))
                })?;
                clauses.push((actual[n], aligned));
                next = n + 1;
            }
            Some(Aligned::Compound { id, body, clauses })
        }
    }
}

fn header<'t>(view: &FileView<'t>, parts: &[(u16, NodePattern)], id: Id, env: &mut Captures<'t>) -> bool {
    parts.iter().all(|(field, pattern)| {
        if *field != 0 {
            return view.index.field(id, *field).is_some_and(|c| pattern.matches(&view.index, &view.names, c, env));
        }
        let candidates: Vec<Id> = view.index.parts(id).filter(|c| view.index.item(*c).field == 0).collect();
        candidates.into_iter().any(|c| pattern.matches(&view.index, &view.names, c, env))
    })
}

/// Matches a body: as a whole if it has `$$$` at its ends, otherwise as consecutive statements anywhere in it.
fn within<'t>(view: &FileView<'t>, block: &Block, body: Id, env: &mut Captures<'t>) -> Option<Vec<Aligned>> {
    let patterns = statements_in(block);
    let statements: Vec<Id> = view.index.parts(body).collect();
    let fixed_start = matches!(patterns.first().map(|p| &p.form), Some(Form::Many(_)));
    let ends = if fixed_start { 0..=0 } else { 0..=statements.len() };
    for at in ends {
        let mut trial = env.clone();
        if let Some((_, aligned)) = sequence(view, &patterns, &statements, at, &mut trial, false) {
            *env = trial;
            return Some(aligned);
        }
    }
    None
}
