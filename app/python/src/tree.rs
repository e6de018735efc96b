//! Parsed Python: the syntax tree, its nodes in pre-order with their parents, and where it fails to parse.

use crate::lines::{LineStarts, line_start};
use crate::readable::{called_subscripts, joined_comments, open_brackets, readable, spaced_tabs};
use ast_grep_core::language::Language;
use ast_grep_core::matcher::PatternBuilder;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use ast_grep_core::{Pattern, PatternError};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::OnceLock;
use tree_sitter::{InputEdit, Parser, Point};
use typed_arena::Arena;

pub(crate) type Doc = StrDoc<Python>;
pub(crate) type Root = ast_grep_core::AstGrep<Doc>;
pub(crate) type MatchNode<'t> = ast_grep_core::Node<'t, Doc>;
pub(crate) type TsNode<'t> = tree_sitter::Node<'t>;

/// Python for `ast-grep-core`: `$` is not an identifier character, so patterns are parsed with a letter in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Python;

/// Replaces `$` while a pattern is parsed.
pub const EXPANDO: char = 'µ';

impl Language for Python {
    fn kind_to_id(&self, kind: &str) -> u16 {
        self.get_ts_language().id_for_node_kind(kind, true)
    }
    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.get_ts_language().field_id_for_name(field).map(std::num::NonZero::get)
    }
    fn expando_char(&self) -> char {
        EXPANDO
    }
    fn build_pattern(&self, builder: &PatternBuilder) -> Result<Pattern, PatternError> {
        builder.build(|src| StrDoc::try_new(src, *self))
    }
}

impl LanguageExt for Python {
    fn get_ts_language(&self) -> TSLanguage {
        language()
    }
}

/// The grammar.
pub(crate) fn language() -> TSLanguage {
    tree_sitter_python::LANGUAGE.into()
}

/// A copy of this for each name would be most of their size.
#[inline(never)]
fn kind_id(language: &TSLanguage, name: &str) -> u16 {
    language.id_for_node_kind(name.trim_start_matches("r#"), true)
}

/// The kind of a word or sign of the grammar: the commas between arguments.
pub(crate) fn token_kind(token: &str) -> u16 {
    Python.get_ts_language().id_for_node_kind(token, false)
}

#[inline(never)]
fn field_id(language: &TSLanguage, name: &str) -> u16 {
    language.field_id_for_name(name.trim_start_matches("r#")).map_or(u16::MAX, std::num::NonZero::get)
}

macro_rules! kinds {
    ($($name:ident),* $(,)?) => {
        /// Ids of the node kinds that the engine queries.
        #[derive(Debug)]
        #[allow(missing_docs)]
        pub struct Kinds { $(pub $name: u16),* }
        impl Kinds {
            fn load() -> Self {
                let language = language();
                Self { $($name: kind_id(&language, stringify!($name))),* }
            }
        }
    };
}

kinds!(
    argument_list,
    as_pattern_target,
    assert_statement,
    assignment,
    attribute,
    augmented_assignment,
    binary_operator,
    block,
    boolean_operator,
    call,
    class_definition,
    comment,
    line_continuation,
    comparison_operator,
    concatenated_string,
    conditional_expression,
    decorated_definition,
    decorator,
    default_parameter,
    dictionary,
    dotted_name,
    aliased_import,
    elif_clause,
    else_clause,
    except_clause,
    exec_statement,
    expression_list,
    expression_statement,
    finally_clause,
    r#false,
    float,
    for_in_clause,
    for_statement,
    function_definition,
    future_import_statement,
    generic_type,
    identifier,
    if_statement,
    import_from_statement,
    import_statement,
    integer,
    keyword_argument,
    lambda,
    lambda_parameters,
    named_expression,
    not_operator,
    list,
    module,
    none,
    pair,
    parameters,
    parenthesized_expression,
    pass_statement,
    pattern_list,
    print_statement,
    return_statement,
    string,
    subscript,
    try_statement,
    tuple,
    r#true,
    unary_operator,
    tuple_pattern,
    typed_default_parameter,
    typed_parameter,
    raise_statement,
    case_clause,
    case_pattern,
    chevron,
    r#type,
    continue_statement,
    break_statement,
    while_statement,
    wildcard_import,
    with_clause,
    with_item,
    with_statement,
    as_pattern,
    list_splat,
    dictionary_splat,
    keyword_separator,
    positional_separator,
    set,
    r#await,
    r#yield,
    delete_statement,
    dictionary_comprehension,
    dictionary_splat_pattern,
    generator_expression,
    global_statement,
    interpolation,
    keyword_pattern,
    list_comprehension,
    list_pattern,
    list_splat_pattern,
    match_statement,
    nonlocal_statement,
    set_comprehension,
    slice,
    splat_pattern,
    type_alias_statement,
    type_parameter,
    union_type,
);

/// The ids, looked up once.
pub fn kinds() -> &'static Kinds {
    static KINDS: OnceLock<Kinds> = OnceLock::new();
    KINDS.get_or_init(Kinds::load)
}

/// A text and its syntax tree.
pub struct Tree {
    root: Root,
    /// Whether the text was parsed as it is, rather than a version that the grammar can parse better.
    as_it_is: bool,
}

/// Trees that live as long as the reader of a project: facts read from a file before a change can be used after it.
#[derive(Default)]
pub struct Trees(Arena<Tree>);

impl Trees {
    /// Parses a text and keeps its tree.
    pub fn parse(&self, text: &str) -> &Tree {
        self.keep(Tree::parse(text))
    }

    /// Keeps a tree.
    pub fn keep(&self, tree: Tree) -> &Tree {
        self.0.alloc(tree)
    }
}

/// Attempts to read annotations: one more for each level of nesting, and for each that hides behind another's error.
const DEEPEST_ANNOTATION: usize = 8;

impl Tree {
    /// Parses a text; what is not Python becomes error nodes.
    pub fn parse(text: &str) -> Self {
        Self::parse_with(text, None)
    }

    /// Parses `text`, which is this tree's text with other bytes in place of some ranges: each range, in order, and the
    /// number of bytes that are there now. What lies between them is not parsed again.
    pub fn reparse(&self, text: &str, replaced: &[(Range<usize>, usize)]) -> Self {
        let replaced = with_space_around(self.text(), fewer_ranges(replaced));
        // Little is kept of what was replaced for the most part, and copying that takes longer.
        if !self.as_it_is || replaced.iter().map(|(range, _)| range.len()).sum::<usize>() > self.text().len() / 2 {
            return Self::parse(text);
        }
        let mut old = self.doc().tree.clone();
        let starts = LineStarts::new(self.text());
        // From the last to the first, so that the places of those before it stay as they are.
        let mut new_end = text.len();
        let mut old_end = self.text().len();
        for (range, length) in replaced.into_iter().rev() {
            new_end -= old_end - range.end;
            old_end = range.start;
            let start_position = starts.point(range.start);
            old.edit(&InputEdit {
                start_byte: range.start,
                old_end_byte: range.end,
                new_end_byte: range.start + length,
                start_position,
                old_end_position: starts.point(range.end),
                new_end_position: point_after(start_position, &text[new_end - length..new_end]),
            });
            new_end -= length;
        }
        Self::parse_with(text, Some(&old))
    }

    fn parse_with(text: &str, old: Option<&tree_sitter::Tree>) -> Self {
        let mut parser = Parser::new();
        // The grammar is linked in and of a supported version, so neither call can fail.
        parser.set_language(&language()).expect("the Python grammar fits the parser");
        let mut parse =
            |text: &str, old| parser.parse(text, old).expect("a parser with a grammar and no timeout returns a tree");
        let spaced = spaced_tabs(text);
        let joined = joined_comments(spaced.as_deref().unwrap_or(text));
        let source = joined.as_deref().or(spaced.as_deref()).unwrap_or(text);
        let mut as_it_is = joined.is_none() && spaced.is_none();
        let mut tree = parse(source, old.filter(|_| as_it_is));
        // Something kept from another tree may be the cause of the error.
        if tree.root_node().has_error() && old.is_some() {
            tree = parse(source, None);
        }
        if tree.root_node().has_error() {
            let mut again = readable(source).map(|readable| (parse(&readable, None), readable));
            // What CPython can't read either takes no further attempts.
            let attempts =
                if open_brackets(source).is_some_and(|open| open.is_empty()) { DEEPEST_ANNOTATION } else { 0 };
            for _ in 0..attempts {
                let (last, source) = again.as_ref().map_or((&tree, source), |(tree, text)| (tree, text));
                let Some(called) = last.root_node().has_error().then(|| called_subscripts(source, last)).flatten()
                else {
                    break;
                };
                again = Some((parse(&called, None), called));
            }
            if let Some((again, _)) = again.filter(|(again, _)| !again.root_node().has_error()) {
                (tree, as_it_is) = (again, false);
            }
        }
        Self { root: Root::doc(StrDoc { src: text.to_owned(), lang: Python, tree }), as_it_is }
    }

    fn doc(&self) -> &Doc {
        self.root.root().get_doc()
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        self.root.source()
    }

    pub(crate) fn ts_root(&self) -> TsNode<'_> {
        self.root.root().get_inner_node()
    }

    /// Whether any part of the text is not Python.
    pub fn has_error(&self) -> bool {
        self.ts_root().has_error() || self.stray_indent().is_some()
    }

    /// A statement that is indented differently from the others of its block, which the grammar accepts and Python does
    /// not.
    fn stray_indent(&self) -> Option<Range<usize>> {
        let (k, text) = (kinds(), self.text());
        let mut open = vec![self.ts_root()];
        while let Some(node) = open.pop() {
            let mut margin = None;
            let holds = [k.module, k.block].contains(&node.kind_id());
            let mut cursor = node.walk();
            let mut row = None;
            for child in node.named_children(&mut cursor).filter(|c| c.kind_id() != k.comment) {
                // A statement after another one on the same line does not determine the indentation.
                let shares = row.replace(child.end_position().row) == Some(child.start_position().row);
                if holds && !shares {
                    let line = line_start(text, child.start_byte());
                    let before = text[line..child.start_byte()].rsplit('\u{c}').next().unwrap_or_default();
                    let leads = before.trim().is_empty() && !text[..line].trim_end().ends_with('\\');
                    let before = columns(before);
                    if leads && *margin.get_or_insert(before) != before {
                        return Some(child.byte_range());
                    }
                }
                // A simple statement contains no block, and a statement on one line no blocks of two lines.
                let lines = child.start_position().row..child.end_position().row;
                if child.kind_id() != k.expression_statement && !lines.is_empty() {
                    open.push(child);
                }
            }
        }
        None
    }

    /// The first place where the text is not Python.
    pub fn first_error(&self) -> Option<Range<usize>> {
        if !self.ts_root().has_error() {
            return self.stray_indent();
        }
        let mut cursor = self.ts_root().walk();
        loop {
            let node = cursor.node();
            if node.is_error() || node.is_missing() {
                // The innermost node is the location, the outermost only contains it.
                let deeper = node.has_error() && !node.is_missing() && has_error_child(node);
                if !deeper {
                    return Some(node.byte_range());
                }
            }
            if (node.has_error() && cursor.goto_first_child()) || cursor.goto_next_sibling() {
                continue;
            }
            loop {
                if !cursor.goto_parent() {
                    return None;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
            }
        }
    }

    /// Its nodes by number.
    pub fn index(&self) -> Index<'_> {
        Index::new(self)
    }
}

/// How far an indentation reaches with tabs to the next multiple of eight, and with tabs of one column: Python compares both.
fn columns(indentation: &str) -> (usize, usize) {
    let to_next = |column: usize, c| if c == '\t' { (column / 8 + 1) * 8 } else { column + 1 };
    (indentation.chars().fold(0, to_next), indentation.chars().count())
}

/// Each edit of a tree costs a walk to its place.
const MOST_EDITS: usize = 32;

/// The same ranges, those that are closest to one another as one.
fn fewer_ranges(replaced: &[(Range<usize>, usize)]) -> Vec<(Range<usize>, usize)> {
    let gaps = replaced.windows(2).map(|pair| pair[1].0.start - pair[0].0.end);
    let mut widest: Vec<usize> = gaps.clone().collect();
    sorting::by(&mut widest, |a, b| b.cmp(a));
    let least = widest.get(MOST_EDITS - 1).map_or(0, |gap| gap + 1);
    let mut out: Vec<(Range<usize>, usize)> = Vec::new();
    for ((range, length), gap) in replaced.iter().zip(std::iter::once(usize::MAX).chain(gaps)) {
        match out.last_mut() {
            Some((before, sum)) if gap < least => {
                before.end = range.end;
                *sum += gap + length;
            }
            _ => out.push((range.clone(), *length)),
        }
    }
    out
}

/// The same ranges, each with the space around it and the character before that. To the parser, the space before a statement
/// is part of it; at the end of a block it reads the dedent where that space begins, and would pass over the statement of the
/// old tree that begins there, with everything in it. So the space is made part of the code before.
fn with_space_around(text: &str, mut replaced: Vec<(Range<usize>, usize)>) -> Vec<(Range<usize>, usize)> {
    let mut done = 0;
    for n in 0..replaced.len() {
        let next = replaced.get(n + 1).map_or(text.len(), |(range, _)| range.start);
        let (range, length) = &mut replaced[n];
        let code = text[done..range.start].trim_end();
        let start = done + code.char_indices().next_back().map_or(0, |(at, _)| at);
        let after = &text[range.end..next];
        let end = range.end + after.len() - after.trim_start().len();
        *length += range.start - start + end - range.end;
        (*range, done) = (start..end, end);
    }
    replaced
}

/// The point at the end of a text that begins at another.
fn point_after(start: Point, text: &str) -> Point {
    let column = text.rfind('\n').map_or(start.column + text.len(), |last| text.len() - last - 1);
    Point { row: start.row + text.matches('\n').count(), column }
}

fn has_error_child(node: TsNode<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|c| c.is_error() || c.is_missing())
}

/// Number of a node in its [`Index`].
pub type Id = u32;

/// A named node with its place in the tree.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Its kind: one of [`Kinds`].
    pub kind: u16,
    /// Its role in its parent: one of [`Fields`], or 0.
    pub field: u16,
    /// Whether a child has a role in it. The children of a block or a list have none.
    has_fields: bool,
    /// The node around it.
    pub parent: Id,
    /// The statement that it is or belongs to, and the innermost function around it; the module if there is none.
    pub(crate) statement: Id,
    pub(crate) function: Id,
    /// First item after this one's subtree.
    pub next: Id,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

/// Where a node ends. For the grammar the CR of a line break is part of the comment before it, and of every block that ends
/// with that comment; here it never is, so that nothing is inserted between CR and LF.
fn end_of(node: TsNode<'_>, text: &str) -> usize {
    let end = node.end_byte();
    if text[node.start_byte()..end].ends_with('\r') && text[end..].starts_with('\n') { end - 1 } else { end }
}

/// The named nodes of a tree in pre-order: parents are a look-up away, and each kind has its list.
pub struct Index<'t> {
    /// The tree they belong to.
    pub tree: &'t Tree,
    /// The text of the tree.
    pub text: &'t str,
    /// The nodes' places, in pre-order: what most questions read, so they are close together in memory.
    pub items: Vec<Item>,
    nodes: Vec<TsNode<'t>>,
    by_kind: Vec<Vec<Id>>,
    lines: OnceCell<LineStarts>,
    /// Targets, in the order of their texts, and the statements that bind them.
    bindings: OnceCell<(Vec<Id>, Vec<Id>)>,
}

/// The module: the node that contains all others.
pub const ROOT: Id = 0;

impl<'t> Index<'t> {
    fn new(tree: &'t Tree) -> Self {
        let text = tree.text();
        let mut items: Vec<Item> = Vec::with_capacity(text.len() / 4 + 8);
        let mut nodes: Vec<TsNode<'t>> = Vec::with_capacity(text.len() / 4 + 8);
        let mut by_kind = vec![Vec::new(); language().node_kind_count() + 1];
        let mut open: Vec<Id> = Vec::new();
        let k = kinds();
        let mut cursor = tree.ts_root().walk();
        'walk: loop {
            let node = cursor.node();
            let named = node.is_named();
            if named {
                let id = items.len() as Id;
                let kind = node.kind_id();
                if let Some(list) = by_kind.get_mut(usize::from(kind)) {
                    list.push(id);
                }
                let field = cursor.field_id().map_or(0, std::num::NonZero::get);
                let parent = open.last().copied().unwrap_or(ROOT);
                let (mut statement, mut function) = (ROOT, ROOT);
                if let Some(around) = items.get_mut(parent as usize) {
                    around.has_fields |= field != 0;
                    statement = if [k.block, k.module].contains(&around.kind) { id } else { around.statement };
                    function = if around.kind == k.function_definition { parent } else { around.function };
                }
                nodes.push(node);
                items.push(Item {
                    kind,
                    field,
                    has_fields: false,
                    parent,
                    statement,
                    function,
                    next: 0,
                    start: node.start_byte(),
                    end: end_of(node, text),
                });
                if cursor.goto_first_child() {
                    open.push(id);
                    continue;
                }
                items[id as usize].next = id + 1;
            }
            loop {
                if cursor.goto_next_sibling() {
                    continue 'walk;
                }
                if !cursor.goto_parent() {
                    break 'walk;
                }
                if let Some(id) = open.pop() {
                    items[id as usize].next = items.len() as Id;
                }
            }
        }
        while let Some(id) = open.pop() {
            items[id as usize].next = items.len() as Id;
        }
        Self { tree, text, items, nodes, by_kind, lines: OnceCell::new(), bindings: OnceCell::new() }
    }

    /// Whether a block is empty: the parser accepts that, Python does not.
    pub fn has_empty_block(&self) -> bool {
        let empty = |id: &Id| self.parts(*id).next().is_none();
        let headless = |id: &Id| self.children(*id).all(|c| self.kind(c) != kinds().block);
        let k = kinds();
        self.of_kind(k.block).iter().any(empty)
            || [k.if_statement, k.for_statement, k.while_statement, k.with_statement, k.function_definition]
                .iter()
                .any(|kind| self.of_kind(*kind).iter().any(headless))
    }

    /// A node with its place in the tree.
    pub fn item(&self, id: Id) -> &Item {
        &self.items[id as usize]
    }
    /// The parser's node.
    pub(crate) fn node(&self, id: Id) -> TsNode<'t> {
        self.nodes[id as usize]
    }
    /// The line on which a node begins, from 1.
    pub fn line(&self, id: Id) -> usize {
        self.lines.get_or_init(|| LineStarts::new(self.text)).row(self.item(id).start).0 + 1
    }
    /// The kind of a node: one of [`Kinds`].
    pub fn kind(&self, id: Id) -> u16 {
        self.item(id).kind
    }
    /// The bytes of a node.
    pub fn range(&self, id: Id) -> Range<usize> {
        let item = self.item(id);
        item.start..item.end
    }
    /// The text of a node.
    pub fn text_of(&self, id: Id) -> &'t str {
        &self.text[self.range(id)]
    }
    /// The parent of a node; none for the module.
    pub fn parent(&self, id: Id) -> Option<Id> {
        (id != ROOT).then(|| self.item(id).parent)
    }
    /// The ancestors of a node, from the inside out.
    pub fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(self.parent(id), |id| self.parent(*id))
    }
    /// The row, from 0, in which a node begins.
    pub fn row(&self, id: Id) -> usize {
        self.node(id).start_position().row
    }
    /// The column, in bytes from 0, at which a node begins.
    pub fn column(&self, id: Id) -> usize {
        self.node(id).start_position().column
    }
    /// The last row, from 0, that contains a byte of a node.
    pub fn last_row(&self, id: Id) -> usize {
        let (start, end) = (self.node(id).start_position(), self.node(id).end_position());
        if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row }
    }
    /// Every node of a kind, in the order of the text.
    pub fn of_kind(&self, kind: u16) -> &[Id] {
        self.by_kind.get(usize::from(kind)).map_or(&[], Vec::as_slice)
    }
    /// Nodes of a kind inside a node.
    pub fn of_kind_in(&self, kind: u16, within: Id) -> &[Id] {
        self.within(self.of_kind(kind), within)
    }
    /// The part of a list of nodes, in the order of the text, that is inside a node.
    pub fn within<'l>(&self, sorted: &'l [Id], within: Id) -> &'l [Id] {
        let from = sorted.partition_point(|id| *id < within);
        let to = sorted.partition_point(|id| *id < self.item(within).next);
        &sorted[from..to]
    }
    /// Assignments, then augmented ones, then loops, whose targets include one of this text: a name, an attribute or an entry.
    pub fn bindings(&self, target: &str) -> &[Id] {
        let (targets, statements) = self.bindings.get_or_init(|| {
            let k = kinds();
            let binding = [k.assignment, k.augmented_assignment, k.for_statement].map(|kind| self.of_kind(kind));
            let targets = |id: &Id| self.target(*id).map_or_else(Vec::new, |target| self.unpacked(target));
            let pairs =
                binding.into_iter().flatten().flat_map(|id| targets(id).into_iter().map(|target| (target, *id)));
            let mut pairs: Vec<(Id, Id)> = pairs.collect();
            sorting::by(&mut pairs, |a, b| self.text_of(a.0).cmp(self.text_of(b.0)));
            pairs.dedup_by(|a, b| a.1 == b.1 && self.text_of(a.0) == self.text_of(b.0));
            pairs.into_iter().unzip()
        });
        let from = targets.partition_point(|id| self.text_of(*id) < target);
        let to = targets.partition_point(|id| self.text_of(*id) <= target);
        &statements[from..to]
    }
    /// Named children, comments included.
    pub fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.item(id).next;
        let mut child = id + 1;
        std::iter::from_fn(move || {
            (child < end).then(|| {
                let this = child;
                child = self.item(child).next;
                this
            })
        })
    }
    /// A node and its siblings after it, without comments.
    pub fn parts_from(&self, first: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.parent(first).map_or(0, |parent| self.item(parent).next);
        let siblings = std::iter::successors(Some(first), move |id| Some(self.item(*id).next).filter(|id| *id < end));
        siblings.filter(|id| self.is_part(*id))
    }
    /// Named children without comments and the ends of continued lines.
    pub fn parts(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.children(id).filter(|child| self.is_part(*child))
    }
    fn is_part(&self, child: Id) -> bool {
        let kind = self.kind(child);
        kind != kinds().comment && kind != kinds().line_continuation
    }
    /// The child of a node with this role.
    pub fn field(&self, id: Id, field: u16) -> Option<Id> {
        self.children(id).take_while(|_| self.item(id).has_fields).find(|c| self.item(*c).field == field)
    }
    /// The node with exactly this extent and kind.
    pub(crate) fn find(&self, node: TsNode<'_>) -> Option<Id> {
        let (start, end, kind) = (node.start_byte(), end_of(node, self.text), node.kind_id());
        let from = self.items.partition_point(|i| i.start < start);
        self.items[from..]
            .iter()
            .take_while(|i| i.start == start)
            .position(|i| i.end == end && i.kind == kind)
            .map(|n| (from + n) as Id)
    }
    /// The innermost node that contains the range.
    pub fn innermost(&self, range: &Range<usize>) -> Option<Id> {
        let last = self.items.partition_point(|i| i.start <= range.start).checked_sub(1)? as Id;
        std::iter::once(last).chain(self.ancestors(last)).find(|id| self.item(*id).end >= range.end)
    }
    /// Whether a is in b's subtree (or is b).
    pub fn is_within(&self, a: Id, b: Id) -> bool {
        a >= b && a < self.item(b).next
    }
    /// Whether a is one of these nodes, which are in the order of the text, or in the subtree of one.
    pub fn is_within_any(&self, a: Id, sorted: &[Id]) -> bool {
        std::iter::once(a).chain(self.ancestors(a)).any(|around| sorted.binary_search(&around).is_ok())
    }
    /// Keeps the nodes that are not inside others of `sorted`, which are in the order of the text.
    pub fn outermost<T>(&self, sorted: &mut Vec<T>, id_of: impl Fn(&T) -> Id) {
        let mut end = 0;
        sorted.retain(|item| {
            let id = id_of(item);
            let is_outermost = id >= end;
            end = end.max(self.item(id).next);
            is_outermost
        });
    }
    pub(crate) fn match_node(&self, id: Id) -> MatchNode<'t> {
        self.tree.root.adopt(self.node(id))
    }
}

macro_rules! fields {
    ($($name:ident),* $(,)?) => {
        /// Ids of the field names that the engine queries.
        #[derive(Debug)]
        #[allow(missing_docs)]
        pub struct Fields { $(pub $name: u16),* }
        impl Fields {
            fn load() -> Self {
                let language = language();
                Self { $($name: field_id(&language, stringify!($name))),* }
            }
        }
    };
}

fields!(
    alias,
    alternative,
    arguments,
    attribute,
    body,
    condition,
    consequence,
    definition,
    function,
    key,
    left,
    module_name,
    name,
    object,
    parameters,
    right,
    subscript,
    r#type,
    superclasses,
    type_parameters,
    value,
);

/// The ids, looked up once.
pub fn fields() -> &'static Fields {
    static FIELDS: OnceLock<Fields> = OnceLock::new();
    FIELDS.get_or_init(Fields::load)
}

#[cfg(test)]
mod tests {
    use super::{MOST_EDITS, Tree, fewer_ranges};
    use std::ops::Range;

    #[test]
    fn a_changed_text_has_the_tree_that_a_new_text_has() {
        let check = |before: &str, edits: &[(Range<usize>, &str)]| {
            let (mut after, mut done) = (String::new(), 0);
            for (range, text) in edits {
                after += &before[done..range.start];
                after += text;
                done = range.end;
            }
            after += &before[done..];
            let replaced: Vec<_> = edits.iter().map(|(range, text)| (range.clone(), text.len())).collect();
            let tree = Tree::parse(before).reparse(&after, &replaced);
            let (reparsed, parsed) = (tree.ts_root(), Tree::parse(&after));
            assert_eq!(reparsed.to_sexp(), parsed.ts_root().to_sexp(), "{after}");
            let place = |tree: &Tree| -> Vec<_> {
                let index = tree.index();
                (0..index.items.len() as u32).map(|id| (index.range(id), index.row(id), index.column(id))).collect()
            };
            assert_eq!(place(&tree), place(&parsed), "{after}");
        };
        let text = "import torch\n\n\ndef f(x):\n    y = x.cuda()\n    return y\n\n\nprint(f(1))\n";
        let of = |word: &str| text.find(word).map_or(0..0, |at| at..at + word.len());
        check(text, &[]);
        check(text, &[(0..0, "import sys\n"), (of("cuda()"), "to(\"hpu\")"), (of("f(1)"), "f(\n    1,\n    2)")]);
        check(text, &[(of("torch"), "a\nimport b"), (of("    return y\n"), "    if y:\n        return y\n")]);
        check(text, &[(of("def f(x):\n"), ""), (of("    y = x.cuda()\n    return y\n"), "y = 1\n")]);
        check(text, &[(of("x.cuda()"), "\"\"\"\nä\n\"\"\""), (text.len()..text.len(), "class A:\n    pass\n")]);
        let block = "if x:\n    if y:\n        z\n";
        check(
            text,
            &[(of("def"), block), (of("print"), block)].map(|(range, block)| (range.start..range.start, block)),
        );
        check(text, &[(of("\n\n\ndef"), "\n# one\n\n# two\n"), (of("\n\n\nprint"), "\n\n    # three\n\n")]);
        let lines: String = (0..100).map(|n| format!("x{n} = {n}\n")).collect();
        let edits: Vec<(Range<usize>, &str)> =
            lines.match_indices(" = ").map(|(at, _)| (at..at + 3, " = (\n    ) + ")).collect();
        check(&lines, &edits);
    }

    #[test]
    fn what_follows_a_change_is_not_parsed_again() {
        let check = |before: &str, at: &str, insert: &str, kept: &str| {
            let place = before.find(at).unwrap();
            let after = format!("{}{insert}{}", &before[..place], &before[place..]);
            let old = Tree::parse(before);
            let new = old.reparse(&after, &[(place..place, insert.len())]);
            let node = |tree: &Tree| {
                let start = tree.text().find(kept).unwrap();
                let end = start + kept.len();
                tree.ts_root().named_descendant_for_byte_range(start, end).map(|node| node.id())
            };
            assert_eq!(node(&old), node(&new), "{after}");
        };
        let method = "def f(self):\n        return (1, 2, 3)";
        let text = format!("import torch\n\n\nclass A:\n    {method}\n");
        let block = "try:\n    import a\nexcept ImportError:\n    a = None\n\n\n";
        check(&text, "class", block, method);
        check(&text, "\n\n\nclass", "\n\n\nif x:\n    y", method);
        check(&text, "torch", "a, ", method);
    }

    #[test]
    fn close_ranges_become_one() {
        let check = |gaps: &[usize], expected: usize| {
            let mut at = 0;
            let mut ranges = vec![(0..1, 3)];
            for gap in gaps {
                at += gap + 1;
                ranges.push((at..at + 1, 3));
            }
            let fewer = fewer_ranges(&ranges);
            assert_eq!(fewer.len(), expected, "{fewer:?}");
            let change =
                |of: &[(Range<usize>, usize)]| of.iter().map(|(r, n)| *n as isize - r.len() as isize).sum::<isize>();
            assert_eq!(change(&fewer), change(&ranges));
            assert_eq!(fewer.last().map(|(range, _)| range.end), Some(at + 1));
        };
        check(&[5], 2);
        check(&[5; MOST_EDITS - 1], MOST_EDITS);
        check(&[5; MOST_EDITS], 1);
        let mut gaps = [5; 100];
        gaps[50] = 6;
        check(&gaps, 2);
    }
}
