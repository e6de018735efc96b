//! Brackets around captures that would bind differently in the replacement than in the user's code, and around a replacement
//! that would bind differently in its place than the matched expression did.

use super::filler::{Filler, Refusal};
use crate::template::{Part, Template};
use python::tree::{Id, Index, ROOT, Tree, kinds};

/// How tightly an expression or a place binds, in the order of Python's grammar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    /// `x := 1` and `yield x`, which stand between brackets.
    Bracketed,
    /// `a if b else c` and `lambda: x`, as on the right of `=`.
    Expression,
    /// `a or b`, as around `if` and `else`.
    Boolean,
    /// `not a`, as beside `and` and `or`.
    Not,
    /// Beside `==`, `in` and the like.
    Comparison,
    /// Beside `+`, `*` and the like.
    Arithmetic,
    /// Behind `-` and `await`.
    Unary,
    /// Before `.x`, `(x)` and `[x]`.
    Primary,
}

impl Filler<'_, '_, '_, '_> {
    /// The template with brackets around captures that the text beside them would take apart: `loss / n` before `.backward()`.
    pub(super) fn bracketed(&self, template: &Template) -> Template {
        let mut parts = Vec::new();
        for (n, part) in template.parts.iter().enumerate() {
            let text = |at: Option<usize>| match at.and_then(|at| template.parts.get(at)) {
                Some(Part::Text(text)) => text.as_str(),
                _ => "",
            };
            let place = before(text(n.checked_sub(1))).max(behind(text(Some(n + 1))));
            self.push(&mut parts, part, place);
        }
        Template { parts }
    }

    /// The same for a replacement of the matched expression, which binds as its place demands.
    pub(super) fn bracketed_in_place(&self, replacement: &Template) -> Result<Template, Refusal> {
        let mut template = self.bracketed(replacement);
        let place = around(&self.cx.view.index, self.found.node);
        if place > Binding::Bracketed && binding_of(&self.fill(&template)?) < place {
            template.parts.insert(0, Part::Text("(".to_owned()));
            template.parts.push(Part::Text(")".to_owned()));
        }
        Ok(template)
    }

    /// Adds a part, with brackets if it binds less tightly than its place.
    fn push(&self, parts: &mut Vec<Part>, part: &Part, place: Binding) {
        let index = &self.cx.view.index;
        let captured = match part {
            Part::One(name) => self.found.env.node(index, name),
            _ => None,
        };
        if captured.is_none_or(|id| binding(index, id) >= place) {
            parts.push(part.clone());
        } else {
            parts.extend([Part::Text("(".to_owned()), part.clone(), Part::Text(")".to_owned())]);
        }
    }
}

/// How tightly code binds that is an expression.
fn binding_of(code: &str) -> Binding {
    let tree = Tree::parse(code);
    let index = tree.index();
    let expression = index.parts(ROOT).next().and_then(|statement| index.parts(statement).next());
    expression.map_or(Binding::Primary, |id| binding(&index, id))
}

/// How tightly an expression binds.
fn binding(index: &Index<'_>, id: Id) -> Binding {
    let (k, kind) = (kinds(), index.kind(id));
    match kind {
        _ if [k.named_expression, k.r#yield].contains(&kind) => Binding::Bracketed,
        _ if [k.conditional_expression, k.lambda].contains(&kind) => Binding::Expression,
        _ if kind == k.boolean_operator => Binding::Boolean,
        _ if kind == k.not_operator => Binding::Not,
        _ if kind == k.comparison_operator => Binding::Comparison,
        // One binds tighter than another, which only costs superfluous brackets.
        _ if kind == k.binary_operator => Binding::Arithmetic,
        _ if [k.unary_operator, k.r#await].contains(&kind) => Binding::Unary,
        _ => Binding::Primary,
    }
}

/// What the expression around a node demands of it.
fn around(index: &Index<'_>, id: Id) -> Binding {
    let k = kinds();
    let Some(parent) = index.parent(id) else { return Binding::Bracketed };
    let kind = index.kind(parent);
    let is_first = index.item(parent).start == index.item(id).start;
    match kind {
        _ if [k.attribute, k.call, k.subscript].contains(&kind) && is_first => Binding::Primary,
        _ if [k.unary_operator, k.r#await, k.binary_operator].contains(&kind) => Binding::Unary,
        _ if [k.comparison_operator, k.list_splat, k.dictionary_splat].contains(&kind) => Binding::Arithmetic,
        _ if [k.not_operator, k.boolean_operator].contains(&kind) => Binding::Not,
        _ if kind == k.conditional_expression => Binding::Boolean,
        _ if kind == k.keyword_argument => Binding::Expression,
        _ => Binding::Bracketed,
    }
}

const ARITHMETIC: [char; 9] = ['+', '-', '*', '/', '%', '@', '&', '|', '^'];

/// What a template's text demands of a capture behind it.
fn before(text: &str) -> Binding {
    let text = text.trim_end_matches(' ');
    let word = text.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let unpacks = text.trim_end_matches('*').trim_end_matches(' ').ends_with(['(', ',', '[', '{']);
    match word {
        "and" | "or" | "not" => Binding::Not,
        "in" | "is" => Binding::Arithmetic,
        "await" => Binding::Unary,
        "if" => Binding::Boolean,
        _ if text.is_empty() || text.ends_with(['(', ',', '[', '{', '\n']) || text.ends_with('*') && unpacks => {
            Binding::Bracketed
        }
        _ if ["<<", ">>"].iter().any(|sign| text.ends_with(sign)) => Binding::Unary,
        _ if text.ends_with("->") => Binding::Expression,
        _ if ["==", "!=", "<=", ">=", "<", ">"].iter().any(|sign| text.ends_with(sign)) => Binding::Arithmetic,
        _ if text.ends_with(ARITHMETIC) => Binding::Unary,
        _ => Binding::Expression,
    }
}

/// What a template's text demands of a capture before it.
fn behind(text: &str) -> Binding {
    if text.starts_with(['.', '(', '[']) || text.trim_start_matches(' ').starts_with("**") {
        return Binding::Primary;
    }
    let text = text.trim_start_matches(' ');
    let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    match word {
        "and" | "or" => Binding::Not,
        "in" | "is" | "not" => Binding::Arithmetic,
        "if" | "else" => Binding::Boolean,
        _ if ["<<", ">>"].iter().any(|sign| text.starts_with(sign)) => Binding::Unary,
        _ if ["==", "!=", "<", ">"].iter().any(|sign| text.starts_with(sign)) => Binding::Arithmetic,
        // `$X += 1` is a statement.
        _ if text.starts_with(ARITHMETIC) && !text[1..].trim_start_matches(ARITHMETIC).starts_with('=') => {
            Binding::Unary
        }
        _ => Binding::Bracketed,
    }
}
