//! The left-hand side of a rule for one expression or one simple statement: an `ast-grep-core` pattern whose dotted
//! names match through imports and whose strings match in either quotes.

use crate::names::Names;
use crate::strings::{joined_string, plain_text};
use crate::syntax::Argument;
use crate::tree::{EXPANDO, Id, Index, ROOT, Tree, TsNode, fields, kinds, token_kind};
use ast_grep_core::language::Language;
use ast_grep_core::matcher::{Pattern, PatternNode};
use ast_grep_core::meta_var::{MetaVarEnv, MetaVariable};
use ast_grep_core::{MatchStrictness, Matcher};
use std::borrow::Cow;
use std::ops::Range;

/// The captures of a match.
#[derive(Clone, Default)]
pub struct Captures<'t> {
    env: MetaVarEnv<'t, crate::tree::Doc>,
    /// Positional arguments, as the byte where each begins, with their parameters.
    by_place: Vec<(usize, String)>,
    /// The arms of the conditional expressions are the other way round than in the pattern.
    pub is_swapped: bool,
}

impl<'t> Captures<'t> {
    /// For a match without captures so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// The node captured by `$NAME`.
    pub fn node(&self, index: &Index<'_>, name: &str) -> Option<Id> {
        index.find(self.env.get_match(name)?.get_inner_node())
    }

    /// The bytes captured by `$NAME`.
    pub fn range(&self, name: &str) -> Option<Range<usize>> {
        self.env.get_match(name).map(|node| node.range())
    }

    /// The bytes from the first to the last node captured by `$$$NAME`; none if it is empty.
    pub fn range_of_many(&self, name: &str) -> Option<Range<usize>> {
        // A comment at either end is not part of the capture.
        let nodes = self.env.get_multiple_matches(name);
        let named = || nodes.iter().filter(|n| n.is_named() && n.get_inner_node().kind_id() != kinds().comment);
        Some(named().next()?.range().start..named().next_back()?.range().end)
    }

    /// The rule's own names that are captured, and their bytes; those that a pattern makes begin with `_`.
    pub fn all(&self) -> Vec<(String, Range<usize>)> {
        let one = |name: String| {
            let range = self.range(&name).or_else(|| self.range_of_many(&name))?;
            Some((name, range))
        };
        let names = self.env.get_matched_variables().filter_map(|variable| match variable {
            MetaVariable::Capture(name, _) | MetaVariable::MultiCapture(name) => Some(name),
            _ => None,
        });
        names.filter(|name| !name.starts_with('_')).filter_map(one).collect()
    }

    /// The positional arguments captured by `$$$NAME`, as the byte where each begins, with their parameters.
    pub fn given_by_place(&self, name: &str) -> Vec<(usize, &str)> {
        let Some(range) = self.range_of_many(name) else { return Vec::new() };
        let inside = self.by_place.iter().filter(|(start, _)| range.contains(start));
        inside.map(|(start, parameter)| (*start, parameter.as_str())).collect()
    }

    /// Captures nodes for `$$$NAME`, unless it has captured others already.
    pub fn insert_many(&mut self, index: &Index<'t>, name: &str, nodes: &[Id]) -> bool {
        let nodes = nodes.iter().map(|id| index.match_node(*id)).collect();
        self.env.insert_multi(name, nodes).is_some()
    }
}

/// A constraint on a captured node, in addition to its place in the pattern.
#[derive(Debug)]
enum Constraint {
    /// It has this meaning, through imports.
    Qualified(String),
    /// It is a member of this module, through imports, and the metavariable captures its name.
    Member { module: String, variable: String },
    /// A plain string literal with this content.
    Literal(String),
}

impl Constraint {
    fn holds(&self, index: &Index<'_>, names: &Names, id: Id) -> bool {
        match self {
            Self::Qualified(name) => names.stands_for(index, id, name),
            Self::Member { module, .. } => names.member(index, id, module).is_some(),
            Self::Literal(content) => {
                let part_of_one = index.parent(id).is_some_and(|p| index.kind(p) == kinds().concatenated_string);
                !part_of_one && joined_string(index, id).is_some_and(|text| text == *content)
            }
        }
    }
}

/// A pattern for one node.
pub struct NodePattern {
    pattern: Pattern,
    constraints: Vec<(String, Constraint)>,
    /// Kind of the nodes that it can match; none for a bare metavariable.
    pub kind: Option<u16>,
    /// The metavariable that is the whole pattern.
    pub variable: Option<String>,
    /// For a call: the last part of its function's name.
    pub called: Option<Called>,
    /// Words that a file must contain for the pattern to match.
    pub words: Vec<String>,
    /// The same with the arms of its conditional expressions the other way round: `B if not T else A`.
    swapped: Option<Box<Pattern>>,
    /// The same call with some of its keyword arguments passed by position.
    by_place: Vec<ByPlace>,
    /// Parameters of the called function that may be passed by position, in order, as far as they are known.
    parameters: Vec<String>,
}

/// A call in a pattern, with some keyword arguments passed by position.
struct ByPlace {
    pattern: Pattern,
    /// Metavariables for single positional arguments.
    single: Vec<String>,
    /// `$$$NAME` of the pattern, and the hidden metavariables that capture its place.
    many: Vec<(String, Vec<String>)>,
}

/// How the function of a pattern's call is written.
#[derive(Debug)]
pub enum Called {
    /// `….cuda(…)`.
    Method(String),
    /// `torch.cuda.amp.autocast(…)`.
    Qualified(String),
    /// `$F(…)` or `$X.$F(…)`.
    Variable(String),
    /// `torch.$F(…)`: the module and the metavariable.
    Member(Box<[String; 2]>),
    /// One of these names, each dotted or as it is written.
    OneOf(Vec<String>),
}

impl Called {
    /// The function's metavariable, if it is one of `names`, replaced by them.
    pub fn one_of(&self, names: &dyn Fn(&str) -> Option<Vec<String>>) -> Option<Self> {
        match self {
            Self::Variable(variable) => names(variable).map(Self::OneOf),
            Self::Member(member) => {
                let [module, variable] = &**member;
                let of_module = |name: String| if name.contains('.') { name } else { format!("{module}.{name}") };
                names(variable).map(|names| Self::OneOf(names.into_iter().map(of_module).collect()))
            }
            Self::Method(_) | Self::Qualified(_) | Self::OneOf(_) => None,
        }
    }
}

/// Converts one node of a parsed pattern; numbers hidden metavariables with `counter`.
fn node_pattern(index: &Index<'_>, id: Id, counter: &mut usize) -> NodePattern {
    let (source, node) = (index.text, index.node(id));
    let mut build = Build { source, counter, constraints: Vec::new(), words: Vec::new() };
    let converted = build.convert(node);
    let (kind, variable) = match &converted {
        PatternNode::MetaVar { meta_var } => {
            let name = match meta_var {
                MetaVariable::Capture(name, _) => Some(name.clone()),
                _ => None,
            };
            let hidden = name.as_deref().is_some_and(|n| build.constraints.iter().any(|(c, _)| c == n));
            // A single dotted name or string still has a kind to search for.
            (hidden.then(|| node.kind_id()), if hidden { None } else { name })
        }
        PatternNode::Terminal { kind_id, .. } | PatternNode::Internal { kind_id, .. } => (Some(*kind_id), None),
    };
    let called = build.called(node);
    let Build { constraints, words, .. } = build;
    let mut pattern = Pattern::from(index.match_node(id));
    pattern.node = converted;
    pattern.strictness = MatchStrictness::Smart;
    let mut swapped = pattern.clone();
    let swapped = swap_arms(&mut swapped.node).then(|| Box::new(swapped));
    let (by_place, parameters) = Default::default();
    NodePattern { pattern, constraints, kind, variable, called, words, swapped, by_place, parameters }
}

/// Swaps the arms of conditional expressions and negates their tests; whether there are any.
fn swap_arms(pattern: &mut PatternNode) -> bool {
    let PatternNode::Internal { kind_id, children } = pattern else { return false };
    let inner = children.iter_mut().filter_map(|child| swap_arms(child).then_some(())).count() > 0;
    let [_, PatternNode::Terminal { .. }, _, PatternNode::Terminal { .. }, _] = children.as_slice() else {
        return inner;
    };
    if *kind_id != kinds().conditional_expression {
        return inner;
    }
    children.swap(0, 4);
    let not = PatternNode::Terminal { text: "not".to_owned(), is_named: false, kind_id: token_kind("not") };
    let test = std::mem::replace(&mut children[2], not.clone());
    children[2] = PatternNode::Internal { kind_id: kinds().not_operator, children: vec![not, test] };
    true
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
        if let Some((module, variable)) = self.member(node) {
            if !crate::names::has_several_homes(&module) {
                self.words.extend(module.split('.').map(str::to_owned));
            }
            return self.hidden(Constraint::Member { module, variable });
        }
        if node.kind_id() == k.string
            && let Some(content) = plain_text(self.text(node))
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
        // Without the commas around it, `$$$` also matches nothing.
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
        // `{$$$ENTRIES}` parses as a set, but only a dictionary has entries to leave open.
        let table = node.kind_id() == k.set && node.named_child_count() == 1;
        PatternNode::Internal { kind_id: if table { k.dictionary } else { node.kind_id() }, children }
    }

    /// A dotted chain of plain names that an import may define.
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

    /// A dotted chain of plain names that ends in a metavariable, `torch.cuda.$NAME`: the module and the metavariable.
    fn member(&self, node: TsNode<'_>) -> Option<(String, String)> {
        let attribute = (node.kind_id() == kinds().attribute).then(|| node.child_by_field_id(fields().attribute))??;
        let Some(MetaVariable::Capture(variable, _)) = crate::tree::Python.extract_meta_var(self.text(attribute))
        else {
            return None;
        };
        let object = node.child_by_field_id(fields().object)?;
        let plain = (object.kind_id() == kinds().identifier).then(|| self.text(object).to_owned());
        let module =
            self.qualified(object).or_else(|| plain.filter(|name| name != "self" && !name.contains(EXPANDO)))?;
        Some((module, variable))
    }

    fn called(&self, node: TsNode<'_>) -> Option<Called> {
        let k = kinds();
        let call = if node.kind_id() == k.expression_statement { node.named_child(0)? } else { node };
        if call.kind_id() != k.call {
            return None;
        }
        let function = call.child_by_field_id(fields().function)?;
        if let Some(MetaVariable::Capture(name, _)) = crate::tree::Python.extract_meta_var(self.text(function)) {
            return Some(Called::Variable(name));
        }
        if let Some(name) = self.qualified(function) {
            return Some(Called::Qualified(name));
        }
        if let Some((module, variable)) = self.member(function) {
            return Some(Called::Member(Box::new([module, variable])));
        }
        if function.kind_id() == k.attribute {
            let name = self.text(function.child_by_field_id(fields().attribute)?);
            return match crate::tree::Python.extract_meta_var(name) {
                Some(MetaVariable::Capture(variable, _)) => Some(Called::Variable(variable)),
                _ => (!name.contains(EXPANDO)).then(|| Called::Method(name.to_owned())),
            };
        }
        None
    }
}

impl NodePattern {
    /// The pattern for a node of a parsed rule. `counter` numbers hidden metavariables across the whole rule.
    pub fn of_node(index: &Index<'_>, id: Id, counter: &mut usize) -> Self {
        node_pattern(index, id, counter)
    }

    /// The pattern of one expression or one simple statement containing `$X`; none if the text is not Python.
    pub fn parse(text: &str) -> Option<Self> {
        let tree = Tree::parse(&text.replace('$', &EXPANDO.to_string()));
        if tree.has_error() {
            return None;
        }
        let index = tree.index();
        let mut node = ROOT;
        while node == ROOT || index.kind(node) == kinds().expression_statement {
            let mut children = index.children(node);
            match (children.next(), children.next()) {
                (Some(child), None) => node = child,
                _ => break,
            }
        }
        // Outside the range of numbers for a rule's hidden metavariables.
        Some(node_pattern(&index, node, &mut 1000))
    }

    /// Sets the functions that the metavariable of a call can be, if `names` knows them.
    pub fn call_one_of(&mut self, names: &dyn Fn(&str) -> Option<Vec<String>>) {
        if let Some(called) = self.called.as_ref().and_then(|called| called.one_of(names)) {
            self.called = Some(called);
        }
    }

    /// Lets the keyword arguments in a pattern for a call also match positional arguments. `parameters` are those that
    /// its function accepts by position, in order.
    pub fn take_by_place(&mut self, parameters: &[String]) {
        self.parameters = parameters.to_vec();
        let mut keywords: Vec<(usize, String)> = Vec::new();
        if let Some(arguments) = arguments_of(&mut self.pattern.node) {
            let places = arguments.iter().filter_map(|argument| {
                let (name, _) = keyword(argument)?;
                Some((parameters.iter().position(|parameter| parameter == name)?, name.to_owned()))
            });
            keywords.extend(places);
        }
        sorting::plain(&mut keywords);
        // If an argument is positional, so are those to the left of it.
        for count in 1..=keywords.len() {
            self.by_place.extend(self.with_places(&keywords[..count]));
        }
        if !self.by_place.is_empty() {
            self.words.retain(|word| !keywords.iter().any(|(_, name)| name == word));
        }
    }

    fn with_places(&self, given: &[(usize, String)]) -> Option<ByPlace> {
        let mut pattern = self.pattern.clone();
        let mut alternative = ByPlace { pattern: self.pattern.clone(), single: Vec::new(), many: Vec::new() };
        let mut given = given.iter().peekable();
        let mut at = 0;
        let hidden = |single: &mut Vec<String>| {
            let name = format!("_PLACE_{}", single.len());
            single.push(name.clone());
            name
        };
        let arguments = arguments_of(&mut pattern.node)?;
        let old = std::mem::take(arguments);
        for argument in old {
            let next = given.peek().map(|(place, _)| *place);
            match &argument {
                PatternNode::Terminal { is_named: false, text, .. } if text == "," => continue,
                PatternNode::Terminal { is_named: false, .. } => arguments.push(argument),
                PatternNode::MetaVar {
                    meta_var: meta_var @ (MetaVariable::Multiple | MetaVariable::MultiCapture(_)),
                } => {
                    let Some(place) = next else {
                        arguments.push(argument);
                        continue;
                    };
                    let mut names = Vec::new();
                    while at < place {
                        let name = hidden(&mut alternative.single);
                        arguments.push(PatternNode::MetaVar { meta_var: MetaVariable::Capture(name.clone(), true) });
                        names.push(name);
                        at += 1;
                    }
                    if let MetaVariable::MultiCapture(name) = meta_var {
                        alternative.many.push((name.clone(), names));
                    }
                }
                other => match (keyword(other), given.peek()) {
                    (Some((name, value)), Some((place, wanted))) if name == wanted => {
                        if at != *place {
                            return None;
                        }
                        if let PatternNode::MetaVar { meta_var: MetaVariable::Capture(name, _) } = value {
                            alternative.single.push(name.clone());
                        }
                        arguments.push(value.clone());
                        at += 1;
                        given.next();
                    }
                    (Some(_), Some(_)) => return None,
                    _ => {
                        arguments.push(argument);
                        at += 1;
                    }
                },
            }
        }
        *arguments = with_commas(std::mem::take(arguments));
        alternative.pattern = pattern;
        given.peek().is_none().then_some(alternative)
    }

    /// A comparison of kinds and names that is cheaper than a match and rejects most nodes.
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
                // After `$$$` a part of the pattern may match any of the remaining parts.
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

    /// The names by which a file may call the pattern's function; none if it may be any.
    pub fn called_names<'a>(&'a self, names: &'a Names) -> Option<Vec<&'a str>> {
        match self.called.as_ref()? {
            Called::Method(name) => Some(vec![name]),
            Called::Qualified(name) => Some(names.last_names(name).collect()),
            Called::OneOf(all) => Some(all.iter().flat_map(|name| names.last_names(name)).collect()),
            Called::Variable(_) | Called::Member(_) => None,
        }
    }

    /// Names of which every match contains one, in each list.
    pub fn required_names<'a>(&'a self, names: &'a Names) -> Vec<Vec<&'a str>> {
        let qualified = self.constraints.iter().filter_map(|(_, constraint)| match constraint {
            Constraint::Qualified(name) => Some(names.last_names(name).collect()),
            _ => None,
        });
        qualified.chain(self.called_names(names)).collect()
    }

    /// Its metavariables.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let mut open = vec![&self.pattern.node];
        std::iter::from_fn(move || {
            loop {
                match open.pop()? {
                    PatternNode::MetaVar {
                        meta_var: MetaVariable::Capture(name, _) | MetaVariable::MultiCapture(name),
                    } => return Some(name.as_str()),
                    PatternNode::Internal { children, .. } => open.extend(children),
                    _ => {}
                }
            }
        })
    }

    /// The dotted name that is the whole pattern.
    pub fn whole_name(&self) -> Option<&str> {
        let PatternNode::MetaVar { meta_var: MetaVariable::Capture(whole, _) } = &self.pattern.node else {
            return None;
        };
        self.constraints.iter().find_map(|(variable, constraint)| match constraint {
            Constraint::Qualified(name) if variable == whole => Some(name.as_str()),
            _ => None,
        })
    }

    /// The module whose members are the whole pattern.
    pub fn whole_module(&self) -> Option<&str> {
        let PatternNode::MetaVar { meta_var: MetaVariable::Capture(whole, _) } = &self.pattern.node else {
            return None;
        };
        self.constraints.iter().find_map(|(variable, constraint)| match constraint {
            Constraint::Member { module, .. } if variable == whole => Some(module.as_str()),
            _ => None,
        })
    }

    /// The hidden metavariable that replaces a dotted name of the pattern.
    pub fn qualified(&self, name: &str) -> Option<&str> {
        self.constraints.iter().find_map(|(variable, constraint)| match constraint {
            Constraint::Qualified(q) if q == name => Some(variable.as_str()),
            _ => None,
        })
    }

    /// Matches one node; metavariables are stored in `captures`.
    pub fn matches<'t>(&self, index: &Index<'t>, names: &Names, id: Id, captures: &mut Captures<'t>) -> bool {
        let found = self.matches_as(&self.pattern, index, names, id, captures)
            || self.by_place.iter().any(|alternative| self.matches_by_place(alternative, index, names, id, captures));
        let swapped = self.swapped.as_deref().filter(|_| !found);
        let swapped = swapped.is_some_and(|pattern| self.matches_as(pattern, index, names, id, captures));
        captures.is_swapped |= swapped;
        let found = found || swapped;
        if found && !self.parameters.is_empty() {
            captures.by_place.extend(self.arguments_by_place(index, id));
        }
        found
    }

    /// The positional arguments of the matched call, with their parameters.
    fn arguments_by_place(&self, index: &Index<'_>, id: Id) -> Vec<(usize, String)> {
        let call = if index.kind(id) == kinds().call { Some(id) } else { index.parts(id).next() };
        let arguments = call.into_iter().flat_map(|call| index.arguments(call).iter());
        let by_place = arguments.map_while(|argument| match argument {
            Argument::Positional(value) => Some(index.item(value).start),
            _ => None,
        });
        by_place.zip(self.parameters.iter().cloned()).collect()
    }

    fn matches_by_place<'t>(
        &self,
        alternative: &ByPlace,
        index: &Index<'t>,
        names: &Names,
        id: Id,
        captures: &mut Captures<'t>,
    ) -> bool {
        let mut trial = captures.clone();
        if !self.matches_as(&alternative.pattern, index, names, id, &mut trial) {
            return false;
        }
        let by_place = |name: &String| {
            let node = trial.node(index, name);
            node.is_some_and(|id| index.kind(id) != kinds().keyword_argument && !index.text_of(id).starts_with('*'))
        };
        if !alternative.single.iter().all(by_place) {
            return false;
        }
        for (name, hidden) in &alternative.many {
            let nodes: Vec<Id> = hidden.iter().filter_map(|name| trial.node(index, name)).collect();
            if !trial.insert_many(index, name, &nodes) {
                return false;
            }
        }
        *captures = trial;
        true
    }

    fn matches_as<'t>(
        &self,
        pattern: &Pattern,
        index: &Index<'t>,
        names: &Names,
        id: Id,
        captures: &mut Captures<'t>,
    ) -> bool {
        if !self.could_match(&pattern.node, index, names, id) {
            return false;
        }
        let mut trial = Cow::Borrowed(&captures.env);
        if pattern.match_node_with_env(index.match_node(id), &mut trial).is_none() {
            return false;
        }
        // `$X` in a call is a single argument, not `*xs` or `**table`.
        let splats = [kinds().list_splat, kinds().dictionary_splat];
        let unpacked = trial.get_matched_variables().any(|variable| match variable {
            MetaVariable::Capture(name, _) => {
                trial.get_match(&name).is_some_and(|node| splats.contains(&node.get_inner_node().kind_id()))
            }
            _ => false,
        });
        if unpacked {
            return false;
        }
        for (variable, constraint) in &self.constraints {
            let Some(captured) = trial.get_match(variable) else { return false };
            let Some(captured) = index.find(captured.get_inner_node()) else { return false };
            if !constraint.holds(index, names, captured) {
                return false;
            }
            if let Constraint::Member { module, variable } = constraint
                && let Some(member) = names.member(index, captured, module)
                && trial.to_mut().insert(variable, index.match_node(member)).is_none()
            {
                return false;
            }
        }
        if let Cow::Owned(changed) = trial {
            captures.env = changed;
        }
        true
    }
}

/// The arguments of the pattern's call, including brackets and commas.
fn arguments_of(pattern: &mut PatternNode) -> Option<&mut Vec<PatternNode>> {
    let k = kinds();
    let PatternNode::Internal { kind_id, children } = pattern else { return None };
    if *kind_id == k.expression_statement {
        return arguments_of(children.first_mut()?);
    }
    match children.last_mut()? {
        PatternNode::Internal { kind_id: list, children } if *kind_id == k.call && *list == k.argument_list => {
            Some(children)
        }
        _ => None,
    }
}

/// Commas between arguments, but not next to `$$$`, which also matches nothing.
fn with_commas(arguments: Vec<PatternNode>) -> Vec<PatternNode> {
    let is_single = |node: &PatternNode| match node {
        PatternNode::Terminal { is_named, .. } => *is_named,
        PatternNode::MetaVar { meta_var } => matches!(meta_var, MetaVariable::Capture(..) | MetaVariable::Dropped(_)),
        PatternNode::Internal { .. } => true,
    };
    let mut out: Vec<PatternNode> = Vec::new();
    for argument in arguments {
        if is_single(&argument) && out.last().is_some_and(is_single) {
            out.push(PatternNode::Terminal { text: ",".to_owned(), is_named: false, kind_id: token_kind(",") });
        }
        out.push(argument);
    }
    out
}

/// Name and value of a keyword argument.
fn keyword(argument: &PatternNode) -> Option<(&str, &PatternNode)> {
    match argument {
        PatternNode::Internal { kind_id, children } if *kind_id == kinds().keyword_argument => match &children[..] {
            [PatternNode::Terminal { text, .. }, _, value] => Some((text, value)),
            _ => None,
        },
        _ => None,
    }
}
