//! Syntax colours: Python source as spans with classes.
//!
//! The tree is traversed once with a cursor, and every leaf is classified by its kind and its parent's; there are no
//! queries. A text that does not parse gets the colours of the parts as they were recognised. [`Highlight`] stores the
//! spans by line, so that a view of a long file processes only the lines that it shows; [`highlight_html`] writes whole
//! lines for static pages.

mod html;

use std::sync::OnceLock;
use tree_sitter::{Language, Node, Parser, Tree};

pub use html::{highlight_html, html_line};

/// The class of a span. The number is the third of a packed span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TokenClass {
    /// `def`, `if`, `and`, …
    Keyword = 1,
    /// A string with its quotes, without the code between the braces of an f-string.
    String = 2,
    /// From `#` to the end of the line.
    Comment = 3,
    /// An integer or a float.
    Number = 4,
    /// The name of a function where it is defined or called.
    Function = 5,
    /// The name of a class where it is defined or called, and names in annotations.
    Type = 6,
    /// `True`, `False`, `None`, `...` and names in capitals.
    Constant = 7,
    /// `=`, `+`, `->`, …
    Operator = 8,
    /// A decorator's `@` and name.
    Decorator = 9,
}

impl TokenClass {
    /// All classes, in the order of their numbers.
    pub const ALL: [TokenClass; 9] = [
        TokenClass::Keyword,
        TokenClass::String,
        TokenClass::Comment,
        TokenClass::Number,
        TokenClass::Function,
        TokenClass::Type,
        TokenClass::Constant,
        TokenClass::Operator,
        TokenClass::Decorator,
    ];

    /// The class of a packed span's number.
    pub fn from_number(number: u32) -> Option<TokenClass> {
        Self::ALL.get(number.checked_sub(1)? as usize).copied()
    }

    /// The CSS class that pages use for it.
    pub fn css(self) -> &'static str {
        match self {
            TokenClass::Keyword => "hk",
            TokenClass::String => "hs",
            TokenClass::Comment => "hc",
            TokenClass::Number => "hn",
            TokenClass::Function => "hf",
            TokenClass::Type => "ht",
            TokenClass::Constant => "hv",
            TokenClass::Operator => "ho",
            TokenClass::Decorator => "hd",
        }
    }
}

/// The coloured spans of a text, packed so that a worker can transfer them as two `Uint32Array`s.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlight {
    /// Start, end and class of every span, three numbers each, in order. Start and end count bytes (UTF-8) from the
    /// start of the span's line; a span never extends beyond its line and never includes the line ending.
    pub spans: Vec<u32>,
    /// For every line the index in `spans` where its spans start, and the length of `spans` at the end.
    pub lines: Vec<u32>,
}

impl Highlight {
    /// Colours Python source.
    pub fn python(text: &str) -> Highlight {
        let mut parser = Parser::new();
        match parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok().and_then(|()| parser.parse(text, None)) {
            Some(tree) => Self::of_tree(text, &tree),
            None => Self::plain(text),
        }
    }

    /// No colours: for texts that are not Python.
    pub fn plain(text: &str) -> Highlight {
        Highlight { spans: Vec::new(), lines: vec![0; text.split_inclusive('\n').count() + 1] }
    }

    /// Colours a text whose tree is known.
    pub fn of_tree(text: &str, tree: &Tree) -> Highlight {
        let mut lines = Lines::new(text);
        walk(tree, text, |start, end, class| lines.push(start, end, class));
        lines.finish()
    }

    /// Packed spans of line `index`, counted from 0; none beyond the end.
    pub fn line(&self, index: usize) -> &[u32] {
        match (self.lines.get(index), self.lines.get(index + 1)) {
            (Some(from), Some(to)) => &self.spans[*from as usize..*to as usize],
            _ => &[],
        }
    }
}

/// Splits spans of the whole text at line ends.
struct Lines<'a> {
    text: &'a str,
    /// Byte ranges of the lines, without line endings.
    starts: Vec<(u32, u32)>,
    current: usize,
    out: Highlight,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let mut at = 0;
        let mut starts = Vec::new();
        for line in text.split_inclusive('\n') {
            let body = line.trim_end_matches(['\n', '\r']);
            starts.push((at as u32, (at + body.len()) as u32));
            at += line.len();
        }
        let lines = Vec::with_capacity(starts.len() + 1);
        Lines { text, starts, current: 0, out: Highlight { spans: Vec::new(), lines } }
    }

    fn push(&mut self, start: usize, end: usize, class: TokenClass) {
        debug_assert!(end <= self.text.len());
        let (mut start, end) = (start as u32, end as u32);
        while start < end {
            while self.starts.get(self.current + 1).is_some_and(|next| next.0 <= start) {
                self.end_line();
                self.current += 1;
            }
            let Some(&(line, line_end)) = self.starts.get(self.current) else { return };
            let stop = end.min(line_end);
            if start < stop {
                self.add(start - line, stop - line, class as u32);
            }
            match self.starts.get(self.current + 1) {
                Some(next) => start = next.0.max(stop),
                None => return,
            }
            if stop == end {
                return;
            }
        }
    }

    /// Adjacent spans of one class are merged; a span that would overlap the previous one is dropped.
    fn add(&mut self, start: u32, end: u32, class: u32) {
        let first = *self.out.lines.last().unwrap_or(&0) as usize;
        let first = if self.out.lines.len() == self.current + 1 { first } else { self.out.spans.len() };
        if self.out.lines.len() == self.current {
            self.out.lines.push(self.out.spans.len() as u32);
        }
        if self.out.spans.len() > first {
            let last = self.out.spans.len() - 3;
            if self.out.spans[last + 1] == start && self.out.spans[last + 2] == class {
                self.out.spans[last + 1] = end;
                return;
            }
            if self.out.spans[last + 1] > start {
                return;
            }
        }
        self.out.spans.extend([start, end, class]);
    }

    fn end_line(&mut self) {
        if self.out.lines.len() == self.current {
            self.out.lines.push(self.out.spans.len() as u32);
        }
    }

    fn finish(mut self) -> Highlight {
        while self.out.lines.len() <= self.starts.len() {
            self.out.lines.push(self.out.spans.len() as u32);
        }
        self.out
    }
}

/// The meaning of a node kind for colouring.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// No class of its own.
    Plain,
    /// Always this class, with everything inside.
    Whole(TokenClass),
    Identifier,
    Attribute,
    Call,
    ClassDefinition,
    FunctionDefinition,
    Decorator,
    Annotation,
    Operator,
    Interpolation,
}

fn role(kind: &str, named: bool) -> Role {
    match (kind, named) {
        ("comment", true) => Role::Whole(TokenClass::Comment),
        ("string_start" | "string_content" | "string_end", true) => Role::Whole(TokenClass::String),
        ("integer" | "float", true) => Role::Whole(TokenClass::Number),
        ("true" | "false" | "none" | "ellipsis", true) => Role::Whole(TokenClass::Constant),
        ("identifier", true) => Role::Identifier,
        ("attribute", true) => Role::Attribute,
        ("call", true) => Role::Call,
        ("class_definition", true) => Role::ClassDefinition,
        ("function_definition", true) => Role::FunctionDefinition,
        ("decorator", true) => Role::Decorator,
        ("type", true) => Role::Annotation,
        ("interpolation", true) => Role::Interpolation,
        ("_" | "__future__", false) => Role::Plain,
        (word, false) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => Role::Whole(TokenClass::Keyword),
        ("(" | ")" | "[" | "]" | "{" | "}" | "," | ":" | "." | ";" | "\\", false) => Role::Plain,
        (_, false) => Role::Operator,
        _ => Role::Plain,
    }
}

/// Roles by kind id: names are compared once, not at every node.
fn roles() -> &'static [Role] {
    static ROLES: OnceLock<Vec<Role>> = OnceLock::new();
    ROLES.get_or_init(|| {
        let language: Language = tree_sitter_python::LANGUAGE.into();
        let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let role_of = |id| role(language.node_kind_for_id(id).unwrap_or(""), language.node_kind_is_named(id));
        (0..count).map(role_of).collect()
    })
}

/// Calls `emit` with start, end and class of every coloured leaf, in the order of the text.
fn walk(tree: &Tree, text: &str, mut emit: impl FnMut(usize, usize, TokenClass)) {
    let roles = roles();
    let role_of = |node: &Node<'_>| roles.get(node.kind_id() as usize).copied().unwrap_or(Role::Plain);
    let mut cursor = tree.walk();
    // Roles of the nodes above the cursor, with the class for names inside them.
    let mut above: Vec<(Role, Option<TokenClass>)> = Vec::new();
    loop {
        let node = cursor.node();
        let role = role_of(&node);
        let &(parent, inherited) = above.last().unwrap_or(&(Role::Plain, None));
        let grand = above.len().checked_sub(2).map_or(Role::Plain, |index| above[index].0);
        let mut descend = true;
        match role {
            Role::Whole(class) => {
                emit(node.start_byte(), node.end_byte(), class);
                descend = false;
            }
            Role::Operator => {
                let class = if parent == Role::Decorator { TokenClass::Decorator } else { TokenClass::Operator };
                emit(node.start_byte(), node.end_byte(), class);
            }
            Role::Identifier => {
                let name = text.get(node.byte_range()).unwrap_or("");
                let field = cursor.field_name();
                if let Some(class) = name_class(name, parent, field, grand, inherited) {
                    emit(node.start_byte(), node.end_byte(), class);
                }
            }
            _ => {}
        }
        if descend && cursor.goto_first_child() {
            above.push((role, inside(role, inherited, &above)));
            continue;
        }
        while !cursor.goto_next_sibling() {
            above.pop();
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The class of names below a node of `role`, if it is the same for all.
fn inside(role: Role, inherited: Option<TokenClass>, above: &[(Role, Option<TokenClass>)]) -> Option<TokenClass> {
    match role {
        Role::Annotation => Some(TokenClass::Type),
        Role::Decorator => Some(TokenClass::Decorator),
        Role::Call | Role::Interpolation => None,
        // `@a.b` is one name; the arguments of `@a.b(c)` are not.
        Role::Attribute if above.last().is_some_and(|(parent, _)| *parent == Role::Decorator) => inherited,
        _ => inherited.filter(|class| *class == TokenClass::Type),
    }
}

fn name_class(
    name: &str,
    parent: Role,
    field: Option<&str>,
    grand: Role,
    inherited: Option<TokenClass>,
) -> Option<TokenClass> {
    let called = match (parent, field) {
        (Role::FunctionDefinition, Some("name")) => return Some(TokenClass::Function),
        (Role::ClassDefinition, Some("name")) => return Some(TokenClass::Type),
        (Role::Call, Some("function")) => true,
        (Role::Attribute, Some("attribute")) => grand == Role::Call,
        _ => false,
    };
    let capital = name.starts_with(|c: char| c.is_uppercase());
    if inherited.is_some() {
        inherited
    } else if called {
        Some(if capital { TokenClass::Type } else { TokenClass::Function })
    } else if capital && name.len() > 1 && !name.contains(|c: char| c.is_lowercase()) {
        Some(TokenClass::Constant)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
