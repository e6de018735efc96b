//! The left-hand side of a rule for one expression or one simple statement: an `ast-grep-core` pattern whose dotted
//! names match through imports and whose strings match in either quotes.

use crate::names::Names;
use crate::tree::{EXPANDO, Id, Index, MatchNode, Root, TsNode, fields, kinds};
use ast_grep_core::language::Language;
use ast_grep_core::matcher::{Pattern, PatternNode};
use ast_grep_core::meta_var::{MetaVarEnv, MetaVariable};
use ast_grep_core::{MatchStrictness, Matcher};
use std::borrow::Cow;

/// Captures of a match.
pub(crate) type Env<'t> = MetaVarEnv<'t, crate::tree::Doc>;

/// What a captured node must be, beyond its place in the pattern.
#[derive(Debug)]
enum Constraint {
    /// Stands for this name, through imports.
    Qualified(String),
    /// A plain string literal with this content.
    Literal(String),
}

impl Constraint {
    fn holds(&self, index: &Index<'_>, names: &Names, id: Id) -> bool {
        match self {
            Self::Qualified(name) => names.stands_for(index, id, name),
            Self::Literal(content) => {
                index.kind(id) == kinds().string && plain_string(index.text, index.item(id).node) == Some(content)
            }
        }
    }
}

/// A pattern for one node.
pub(crate) struct NodePattern {
    pattern: Pattern,
    constraints: Vec<(String, Constraint)>,
    /// Kind of the nodes it can match; none for a bare metavariable.
    pub(crate) kind: Option<u16>,
    /// The metavariable that is the whole pattern.
    pub(crate) variable: Option<String>,
    /// For a call: the last name of its function.
    pub(crate) called: Option<Called>,
    /// Words that a file must contain for the pattern to match in it.
    pub(crate) words: Vec<String>,
}

/// How the function of a pattern's call is written.
#[derive(Debug)]
pub(crate) enum Called {
    /// `….cuda(…)`.
    Method(String),
    /// `torch.cuda.amp.autocast(…)`.
    Qualified(String),
}

/// Converts one node of a parsed pattern; numbers hidden metavariables with `counter`.
pub(crate) fn node_pattern(root: &Root, node: TsNode<'_>, counter: &mut usize) -> NodePattern {
    let source = root.source();
    let mut build = Build { source, counter, constraints: Vec::new(), words: Vec::new() };
    let converted = build.convert(node);
    let (kind, variable) = match &converted {
        PatternNode::MetaVar { meta_var } => {
            let name = match meta_var {
                MetaVariable::Capture(name, _) => Some(name.clone()),
                _ => None,
            };
            let hidden = name.as_deref().is_some_and(|n| build.constraints.iter().any(|(c, _)| c == n));
            // A dotted name or a string alone still has a kind to look for.
            (hidden.then(|| node.kind_id()), if hidden { None } else { name })
        }
        PatternNode::Terminal { kind_id, .. } | PatternNode::Internal { kind_id, .. } => (Some(*kind_id), None),
    };
    let called = build.called(node);
    let Build { constraints, words, .. } = build;
    let mut pattern = Pattern::from(root.adopt(node));
    pattern.node = converted;
    pattern.strictness = MatchStrictness::Smart;
    NodePattern { pattern, constraints, kind, variable, called, words }
}

struct Build<'s, 'c> {
    source: &'s str,
    counter: &'c mut usize,
    constraints: Vec<(String, Constraint)>,
    words: Vec<String>,
}

impl Build<'_, '_> {
    fn text(&self, node: TsNode<'_>) -> &str {
        &self.source[node.byte_range()]
    }

    fn hidden(&mut self, constraint: Constraint) -> PatternNode {
        *self.counter += 1;
        let name = format!("_HIDDEN_{}", self.counter);
        self.constraints.push((name.clone(), constraint));
        PatternNode::MetaVar { meta_var: MetaVariable::Capture(name, true) }
    }

    fn convert(&mut self, node: TsNode<'_>) -> PatternNode {
        let k = kinds();
        if let Some(meta_var) = crate::tree::Python.extract_meta_var(self.text(node)) {
            return PatternNode::MetaVar { meta_var };
        }
        if let Some(name) = self.qualified(node) {
            if crate::names::has_several_homes(&name) {
                self.words.extend(name.rsplit('.').next().map(str::to_owned));
            } else {
                self.words.extend(name.split('.').map(str::to_owned));
            }
            return self.hidden(Constraint::Qualified(name));
        }
        if node.kind_id() == k.string
            && let Some(content) = plain_string(self.source, node)
        {
            return self.hidden(Constraint::Literal(content.to_owned()));
        }
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).filter(|c| !c.is_missing()).collect();
        if children.is_empty() {
            if node.kind_id() == k.identifier {
                self.words.push(self.text(node).to_owned());
            }
            return PatternNode::Terminal {
                text: self.text(node).to_owned(),
                is_named: node.is_named(),
                kind_id: node.kind_id(),
            };
        }
        // Without the commas around it, `$$$` also matches when there is nothing for it.
        let listed = [k.argument_list, k.list, k.tuple, k.parameters, k.dictionary, k.set].contains(&node.kind_id());
        let open = |c: Option<&TsNode<'_>>| c.is_some_and(|c| self.source[c.byte_range()].starts_with("µµµ"));
        let kept: Vec<TsNode<'_>> = (0..children.len())
            .filter(|n| {
                let comma = !children[*n].is_named() && self.source[children[*n].byte_range()] == *",";
                let beside = open(children.get(n + 1)) || open(n.checked_sub(1).and_then(|p| children.get(p)));
                !(listed && comma && beside)
            })
            .map(|n| children[n])
            .collect();
        let children = kept.into_iter().map(|c| self.convert(c)).collect();
        // `{$$$ENTRIES}` reads as a set, but only a table has entries to leave open.
        let table = node.kind_id() == k.set && node.named_child_count() == 1;
        PatternNode::Internal { kind_id: if table { k.dictionary } else { node.kind_id() }, children }
    }

    /// A dotted chain of plain names that an import may stand for.
    fn qualified(&self, node: TsNode<'_>) -> Option<String> {
        let k = kinds();
        if node.kind_id() != k.attribute {
            return None;
        }
        let text = self.text(node);
        let plain = text.split('.').all(|p| {
            !p.is_empty()
                && !p.starts_with(|c: char| c.is_ascii_digit())
                && p.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        (plain && !text.starts_with("self.")).then(|| text.to_owned())
    }

    fn called(&self, node: TsNode<'_>) -> Option<Called> {
        let k = kinds();
        let call = if node.kind_id() == k.expression_statement { node.named_child(0)? } else { node };
        if call.kind_id() != k.call {
            return None;
        }
        let function = call.child_by_field_id(fields().function)?;
        if let Some(name) = self.qualified(function) {
            return Some(Called::Qualified(name));
        }
        if function.kind_id() == k.attribute {
            let name = self.text(function.child_by_field_id(fields().attribute)?);
            return (!name.contains(EXPANDO)).then(|| Called::Method(name.to_owned()));
        }
        None
    }
}

/// The content of a string literal without prefix, escapes or interpolation.
pub(crate) fn plain_string<'s>(source: &'s str, node: TsNode<'_>) -> Option<&'s str> {
    let text = &source[node.byte_range()];
    let quote = text.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains(['\\', quote])).then_some(inner)
}

impl NodePattern {
    /// A look at kinds and names that costs less than a match and refuses most nodes.
    fn could_match(&self, pattern: &PatternNode, index: &Index<'_>, names: &Names, id: Id) -> bool {
        match pattern {
            PatternNode::MetaVar { meta_var: MetaVariable::Capture(name, _) } if name.starts_with("_HIDDEN_") => {
                self.constraints.iter().filter(|(n, _)| n == name).all(|(_, c)| c.holds(index, names, id))
            }
            PatternNode::MetaVar { .. } => true,
            PatternNode::Terminal { text, is_named, kind_id } => {
                !*is_named || (*kind_id == index.kind(id) && *text == index.text_of(id))
            }
            PatternNode::Internal { kind_id, children } => {
                if *kind_id != index.kind(id) {
                    return false;
                }
                let mut parts = index.parts(id);
                // Behind `$$$` a part of the pattern may meet any of the parts that are left.
                let mut open = false;
                for child in children {
                    match child {
                        PatternNode::Terminal { is_named: false, .. } => continue,
                        PatternNode::MetaVar { meta_var: MetaVariable::Multiple | MetaVariable::MultiCapture(_) } => {
                            open = true;
                            continue;
                        }
                        _ => {}
                    }
                    let mut meets = |part| self.could_match(child, index, names, part);
                    if !(if open { parts.any(meets) } else { parts.next().is_some_and(&mut meets) }) {
                        return false;
                    }
                }
                true
            }
        }
    }

    /// The dotted name that is the whole pattern.
    pub(crate) fn whole_name(&self) -> Option<&str> {
        let PatternNode::MetaVar { meta_var: MetaVariable::Capture(whole, _) } = &self.pattern.node else {
            return None;
        };
        self.constraints.iter().find_map(|(variable, constraint)| match constraint {
            Constraint::Qualified(name) if variable == whole => Some(name.as_str()),
            _ => None,
        })
    }

    /// The hidden metavariable that stands for a dotted name of the pattern.
    pub(crate) fn qualified(&self, name: &str) -> Option<&str> {
        self.constraints.iter().find_map(|(variable, constraint)| match constraint {
            Constraint::Qualified(q) if q == name => Some(variable.as_str()),
            _ => None,
        })
    }

    /// Matches one node; captures go to `env`.
    pub(crate) fn matches<'t>(&self, index: &Index<'t>, names: &Names, id: Id, env: &mut Env<'t>) -> bool {
        if !self.could_match(&self.pattern.node, index, names, id) {
            return false;
        }
        let mut trial = Cow::Borrowed(&*env);
        if self.pattern.match_node_with_env(index.match_node(id), &mut trial).is_none() {
            return false;
        }
        for (variable, constraint) in &self.constraints {
            let Some(captured) = trial.get_match(variable) else { return false };
            let Some(captured) = index.find(captured.get_inner_node()) else { return false };
            if !constraint.holds(index, names, captured) {
                return false;
            }
        }
        if let Cow::Owned(changed) = trial {
            *env = changed;
        }
        true
    }
}

/// The extent of a captured list, from its first to its last named node.
pub(crate) fn extent(nodes: &[MatchNode<'_>]) -> Option<std::ops::Range<usize>> {
    let named = || nodes.iter().filter(|n| n.is_named());
    Some(named().next()?.range().start..named().next_back()?.range().end)
}
