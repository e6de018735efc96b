//! From a match to a fix: the rule's right-hand side, filled in and laid over the user's text.

use crate::change::Change;
use crate::facts::{FileView, ProjectFacts, line_indent};
use crate::matching::{Aligned, Match, Met};
use crate::patch::{Block, Form, Item, Patch, Shape};
use crate::pattern::extent;
use crate::settings::Settings;
use crate::template::{Lines, Part, Template};
use crate::tree::{Id, kinds};
use std::cell::RefCell;
use std::ops::Range;

/// What a rewrite needs to know beside the match.
pub(crate) struct Context<'a, 't> {
    pub(crate) view: &'a FileView<'t>,
    pub(crate) project: &'a ProjectFacts,
    pub(crate) settings: &'a Settings<'a>,
    /// The target's configuration fields that the project has or gets.
    pub(crate) fields: &'a [String],
}

/// Why a match can't be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A fact that the rule writes is unknown at this place.
    UnknownFact(String),
}

/// The changes of a match and the imports they need.
pub(crate) fn rewrite(
    cx: &Context<'_, '_>,
    patch: &Patch,
    found: &Match<'_>,
) -> Result<(Vec<Change>, Vec<String>), Refusal> {
    let imports = RefCell::new(patch.imports.clone());
    let filler = Filler { patch, cx, found, imports: &imports };
    let changes = match (&patch.shape, &found.met) {
        (Shape::Expression { layout, replacement: Some(replacement), .. }, Met::Expression) => {
            filler.expression(layout, replacement)?
        }
        (Shape::Statements(block), Met::Statements(aligned)) => filler.statements(block, aligned)?,
        _ => Vec::new(),
    };
    Ok((changes, imports.into_inner()))
}

struct Filler<'a, 'c, 't, 'm> {
    patch: &'a Patch,
    cx: &'a Context<'c, 't>,
    found: &'a Match<'m>,
    imports: &'a RefCell<Vec<String>>,
}

/// Bytes between two captures, and what stands there instead.
type Gap = (Range<usize>, String);

/// Modules that a replacement may name without saying how they are imported.
const KNOWN_MODULES: [&str; 4] = ["torch", "os", "contextlib", "sys"];

impl Filler<'_, '_, '_, '_> {
    fn captured(&self, part: &Part) -> Option<Range<usize>> {
        match part {
            Part::One(name) => self.found.env.get_match(name).map(|n| n.range()),
            Part::Many(name) => extent(&self.found.env.get_multiple_matches(name)),
            _ => None,
        }
    }

    fn value(&self, part: &Part) -> Option<String> {
        let text = self.cx.view.index.text;
        match part {
            Part::One(_) => self.captured(part).map(|r| text[r].to_owned()),
            Part::Many(_) => Some(self.captured(part).map_or(String::new(), |r| text[r].to_owned())),
            Part::Fact(name) => fact(self.cx, self.found.node, name),
            Part::Text(text) => Some(text.clone()),
        }
    }

    fn fill(&self, template: &Template) -> Result<String, Refusal> {
        let template = self.in_file_style(template);
        template.fill(&|part| self.value(part)).ok_or_else(|| {
            let missing = template.facts().find(|f| fact(self.cx, self.found.node, f).is_none()).unwrap_or("a fact");
            Refusal::UnknownFact(missing.to_owned())
        })
    }

    /// The file's quote; inside an f-string the other one, which every Python 3 takes.
    fn quote(&self) -> char {
        let index = &self.cx.view.index;
        let k = kinds();
        let within = index
            .ancestors(self.found.node)
            .take_while(|a| index.kind(*a) != k.block)
            .find(|a| index.kind(*a) == k.string)
            .and_then(|s| index.text_of(s).chars().find(|c| *c == '"' || *c == '\''));
        match within {
            Some('"') => '\'',
            Some(_) => '"',
            None => self.cx.view.layout.quote,
        }
    }

    /// The template with the file's quotes and its way to spell imported names.
    fn in_file_style(&self, template: &Template) -> Template {
        let quote = self.quote();
        let parts = template
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => Part::Text(self.spelled(&requote(text, quote))),
                other => other.clone(),
            })
            .collect();
        Template { parts }
    }

    /// Known modules under the names that the file gives them; asks for the import where there is none.
    fn spelled(&self, text: &str) -> String {
        let names = &self.cx.view.names;
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let end = rest[at..]
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
                .map_or(rest.len(), |n| at + n);
            out.push_str(&rest[..at]);
            let word = &rest[at..end];
            let boundary = !out.ends_with(['.', '"', '\'']) && !out.ends_with(|c: char| c.is_ascii_alphanumeric());
            let head = word.split('.').next().unwrap_or(word);
            let in_string = out.matches(['"', '\'']).count() % 2 == 1;
            let import_line = out.trim_end().ends_with("import")
                || text.trim_start().starts_with("import ")
                || text.trim_start().starts_with("from ");
            // `hasattr(torch, "hpu")` names the module alone.
            let named = word == "torch"
                || (word.contains('.') && (KNOWN_MODULES.contains(&head) || self.own_spelling(word).is_some()));
            if boundary && named && !in_string && !import_line {
                if let Some(spelled) =
                    self.own_spelling(word).or_else(|| names.spelling(&self.cx.view.index, self.found.node, word))
                {
                    out.push_str(&spelled);
                } else {
                    self.need(format!("import {head}"));
                    out.push_str(word);
                }
            } else {
                out.push_str(word);
            }
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }

    /// How the user spells a name at this very match.
    fn own_spelling(&self, word: &str) -> Option<String> {
        let Shape::Expression { pattern, .. } = &self.patch.shape else { return None };
        let variable = pattern.qualified(word)?;
        self.found.env.get_match(variable).map(|n| n.text().into_owned())
    }

    fn need(&self, import: String) {
        let mut imports = self.imports.borrow_mut();
        if !imports.contains(&import) {
            imports.push(import);
        }
    }

    fn expression(&self, layout: &Template, replacement: &Template) -> Result<Vec<Change>, Refusal> {
        let view = self.cx.view;
        let node = self.found.node;
        let whole = view.index.range(node);
        let change = |range: Range<usize>, text: String| Change::Expression { node, range, text };
        // A string stands in for a string: it keeps the user's quotes.
        if view.index.kind(node) == kinds().string
            && let [Part::Text(text)] = replacement.parts.as_slice()
        {
            let quote = view.index.text_of(node).chars().find(|c| *c == '"' || *c == '\'').unwrap_or('"');
            return Ok(vec![change(whole, requote(text, quote))]);
        }
        let bracketed = self.fill(replacement)?;
        let filled = self.unbracketed(bracketed.clone());
        if filled == bracketed
            && let Some(gaps) = self.gaps(layout, replacement, &whole)?
        {
            return Ok(gaps.into_iter().map(|(range, text)| change(range, text)).collect());
        }
        if view.index.text[whole.clone()] == filled {
            return Ok(Vec::new());
        }
        let (range, text) = trimmed(view.index.text, whole, filled);
        Ok(vec![change(range, text)])
    }

    /// Without the brackets around the whole, where the place needs none.
    fn unbracketed(&self, filled: String) -> String {
        let index = &self.cx.view.index;
        let k = kinds();
        let alone = index.parent(self.found.node).is_some_and(|p| {
            [
                k.assignment,
                k.argument_list,
                k.keyword_argument,
                k.return_statement,
                k.if_statement,
                k.elif_clause,
                k.while_statement,
                k.parenthesized_expression,
                k.expression_statement,
            ]
            .contains(&index.kind(p))
        });
        match filled.strip_prefix('(').and_then(|f| f.strip_suffix(')')) {
            Some(inner) if alone && closes_itself(inner) => inner.to_owned(),
            _ => filled,
        }
    }

    /// Edits between the captures only, when both sides have the same captures in the same order.
    fn gaps(
        &self,
        layout: &Template,
        replacement: &Template,
        whole: &Range<usize>,
    ) -> Result<Option<Vec<Gap>>, Refusal> {
        let old: Vec<&Part> = layout.parts.iter().filter(|p| !matches!(p, Part::Text(_))).collect();
        let new: Vec<&Part> = replacement.parts.iter().filter(|p| matches!(p, Part::One(_) | Part::Many(_))).collect();
        if old.is_empty() || old != new {
            return Ok(None);
        }
        let ranges: Option<Vec<Range<usize>>> = old.iter().map(|p| self.captured(p)).collect();
        let Some(ranges) = ranges else { return Ok(None) };
        let in_order = ranges.windows(2).all(|w| w[0].end <= w[1].start);
        if !in_order
            || ranges.first().is_some_and(|r| r.start < whole.start)
            || ranges.last().is_some_and(|r| r.end > whole.end)
        {
            return Ok(None);
        }
        let mut edits = Vec::new();
        let mut at = whole.start;
        let ends = ranges.iter().map(|r| r.start).chain(std::iter::once(whole.end));
        let starts = ranges.iter().map(|r| r.end).chain(std::iter::once(whole.end));
        let between = literals(layout).into_iter().zip(literals(replacement));
        for ((end, next), (before, after)) in ends.zip(starts).zip(between) {
            // What the rule leaves as it is stays as the user has laid it out.
            if before.parts != after.parts {
                let text = self.fill(&after)?;
                push_gap(self.cx.view.index.text, &mut edits, at..end, text);
            }
            at = next;
        }
        Ok(Some(edits))
    }

    fn statements(&self, block: &Block, aligned: &[Aligned]) -> Result<Vec<Change>, Refusal> {
        let mut changes = Vec::new();
        let mut met = aligned.iter();
        // Statements deleted so far in a row, waiting for what replaces them.
        let mut deleted: Vec<Id> = Vec::new();
        let mut previous: Option<Id> = None;
        let mut waiting: Vec<String> = Vec::new();
        for item in &block.items {
            match item {
                Item::Insert(lines) => {
                    let text = self.lines(lines)?;
                    if !deleted.is_empty() {
                        let (first, last) = (deleted[0], deleted[deleted.len() - 1]);
                        deleted.clear();
                        previous = Some(last);
                        changes.push(Change::Replace { first, last, text });
                    } else if let Some(at) = previous {
                        changes.push(Change::Insert { at, after: true, text });
                    } else {
                        waiting.push(text);
                    }
                }
                Item::Statement(statement) => {
                    let Some(aligned) = met.next() else { break };
                    if let Some(at) = aligned.first() {
                        for text in waiting.drain(..) {
                            changes.push(Change::Insert { at, after: false, text });
                        }
                    }
                    if statement.deleted {
                        if let (Some(first), Some(last)) = (aligned.first(), aligned.last()) {
                            deleted.push(first);
                            if last != first {
                                deleted.push(last);
                            }
                        }
                        continue;
                    }
                    flush(&mut changes, &mut deleted);
                    if let (Form::Compound(compound), Aligned::Compound { id, body, clauses }) =
                        (&statement.form, aligned)
                    {
                        if let Some(header) = &compound.new_header {
                            let text = self.fill(header)?;
                            if let Some(range) = header_range(self.cx.view, *id) {
                                changes.push(Change::Expression {
                                    node: *id,
                                    range,
                                    text: text.trim_end_matches(':').to_owned(),
                                });
                            }
                        }
                        changes.extend(self.statements(&compound.body, body)?);
                        for (clause, (id, met)) in compound.clauses.iter().zip(clauses) {
                            if let Some(lines) = &clause.before {
                                changes.push(Change::Clause { before: *id, text: self.lines(lines)? });
                            }
                            changes.extend(self.statements(&clause.body, met)?);
                        }
                    }
                    previous = aligned.last().or(previous);
                }
            }
        }
        flush(&mut changes, &mut deleted);
        Ok(changes)
    }

    /// Lines of new code, indented by the file's unit, the first line at column 0.
    fn lines(&self, lines: &Lines) -> Result<String, Refusal> {
        let base = lines.0.iter().find(|(_, t)| !t.parts.is_empty()).map_or(0, |(i, _)| *i);
        let mut out = String::new();
        for (n, (indent, template)) in lines.0.iter().enumerate() {
            if n > 0 {
                out.push('\n');
            }
            for _ in 0..indent.saturating_sub(base) / 4 {
                out.push_str(&self.cx.view.layout.indent);
            }
            out.push_str(&self.fill(template)?);
        }
        Ok(out)
    }
}

fn flush(changes: &mut Vec<Change>, deleted: &mut Vec<Id>) {
    if let (Some(first), Some(last)) = (deleted.first(), deleted.last()) {
        changes.push(Change::Replace { first: *first, last: *last, text: String::new() });
        deleted.clear();
    }
}

/// Whether the brackets of a text pair up without one that is closed before it is opened.
fn closes_itself(text: &str) -> bool {
    let mut depth = 0i32;
    text.chars().all(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth >= 0
    }) && depth == 0
}

/// What stands before, between and behind the captures of a template.
fn literals(template: &Template) -> Vec<Template> {
    let mut out = vec![Template { parts: Vec::new() }];
    for part in &template.parts {
        if matches!(part, Part::One(_) | Part::Many(_)) {
            out.push(Template { parts: Vec::new() });
        } else if let Some(last) = out.last_mut() {
            last.parts.push(part.clone());
        }
    }
    out
}

/// A compound statement's text up to its colon.
fn header_range(view: &FileView<'_>, id: Id) -> Option<Range<usize>> {
    let block = view.index.children(id).find(|c| view.index.kind(*c) == kinds().block)?;
    let start = view.index.item(id).start;
    let head = &view.index.text[start..view.index.item(block).start];
    Some(start..start + head.rfind(':')?)
}

fn push_gap(text: &str, edits: &mut Vec<(Range<usize>, String)>, range: Range<usize>, new: String) {
    // What stands between a name and the dot that goes on from it, line breaks and comments, is the user's.
    let old = &text[range.clone()];
    let dot = old.find(|c: char| !c.is_whitespace() && c != '\\').filter(|n| old[*n..].starts_with(['.', '#']));
    let mut start = range.start;
    if let (Some(mut at), true) = (dot, new.starts_with('.')) {
        while old[at..].starts_with('#') {
            at += old[at..].find('\n').unwrap_or(old.len() - at);
            at += old[at..].find(|c: char| !c.is_whitespace()).unwrap_or(old.len() - at);
        }
        if old[at..].starts_with('.') {
            start += at;
        }
    }
    let range = start..range.end;
    if let Some(appended) = appended_line(text, &range, &new) {
        edits.extend(appended);
        return;
    }
    if text[range.clone()] != new {
        edits.push(trimmed(text, range, new));
    }
}

/// A new last argument of a call whose arguments have lines of their own: it gets one, too.
fn appended_line(text: &str, range: &Range<usize>, new: &str) -> Option<Vec<Gap>> {
    let old = &text[range.clone()];
    let argument = new.strip_prefix(", ")?.strip_suffix(')')?;
    let last = old.rfind('\n').filter(|n| old[n + 1..].trim() == ")")?;
    let crlf = old[..last].ends_with('\r');
    let at = range.start + last - usize::from(crlf);
    let newline = if crlf { "\r\n" } else { "\n" };
    let indent = line_indent(text, range.start);
    let comma = old.trim_start().starts_with(',');
    let mut edits = Vec::new();
    let line = format!("{newline}{indent}{argument}{}", if comma { "," } else { "" });
    if comma {
        edits.push((at..at, line));
    } else if at == range.start {
        edits.push((at..at, format!(",{line}")));
    } else {
        edits.push((range.start..range.start, ",".to_owned()));
        edits.push((at..at, line));
    }
    Some(edits)
}

/// An edit without the words that both sides begin or end with.
fn trimmed(text: &str, range: Range<usize>, new: String) -> (Range<usize>, String) {
    let old = &text[range.clone()];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut prefix = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    while prefix > 0
        && (!old.is_char_boundary(prefix)
            || !new.is_char_boundary(prefix)
            || (old[..prefix].ends_with(is_word)
                && (old[prefix..].starts_with(is_word) || new[prefix..].starts_with(is_word))))
    {
        prefix -= 1;
    }
    // Never the inside of a string: a change of a string is a change of the whole of it.
    let quotes = |s: &str| s.matches(['"', '\'']).count() % 2 == 1;
    while prefix > 0 && quotes(&old[..prefix]) {
        prefix -= 1;
        while !old.is_char_boundary(prefix) {
            prefix -= 1;
        }
    }
    let room = old.len().min(new.len()) - prefix;
    let mut suffix = old.bytes().rev().zip(new.bytes().rev()).take(room).take_while(|(a, b)| a == b).count();
    while suffix > 0 {
        let (o, n) = (old.len() - suffix, new.len() - suffix);
        let splits_word = |s: &str, at: usize| s[..at].ends_with(is_word) && s[at..].starts_with(is_word);
        if old.is_char_boundary(o)
            && new.is_char_boundary(n)
            && !splits_word(old, o)
            && !splits_word(&new, n)
            && !quotes(&old[o..])
        {
            break;
        }
        suffix -= 1;
    }
    (range.start + prefix..range.end - suffix, new[prefix..new.len() - suffix].to_owned())
}

/// Double-quoted strings of a rule in the file's own quotes.
pub(crate) fn requote(text: &str, quote: char) -> String {
    if quote == '\'' && !text.contains('\'') { text.replace('"', "'") } else { text.to_owned() }
}

/// A fact that a rule may write.
pub(crate) fn fact(cx: &Context<'_, '_>, node: Id, name: &str) -> Option<String> {
    let modes = cx.project.modes.as_ref();
    match name {
        "guard" => modes?.guard_at(cx.view, cx.project, node),
        "mode" => modes?.expression_at(cx.view, cx.project, node),
        "bridge" => bridge(cx, node),
        _ => {
            if let Some(option) = name.strip_prefix("option.") {
                return cx.settings.values.get(option).cloned();
            }
            let field = name.strip_prefix("config.")?;
            let mode = match modes {
                Some(modes) => Some(modes.expression_at(cx.view, cx.project, node)?),
                None => None,
            };
            let known = |f: &str| cx.fields.iter().any(|known| known == f);
            cx.settings.field(field, mode.as_deref(), cx.view.layout.quote, &known)
        }
    }
}

/// How the target's bridge is reached at a node: `self.htcore` in a class that keeps it, else `htcore`.
fn bridge(cx: &Context<'_, '_>, node: Id) -> Option<String> {
    let bridge = cx.settings.target.bridge.as_ref()?;
    let class = cx.view.class_of(node).map(|c| cx.view.name_of(c));
    if let Some(class) = class
        && cx.project.bridge_classes.iter().any(|b| cx.project.related(b, class))
    {
        return Some(format!("self.{}", bridge.name));
    }
    cx.view.names.spelling(&cx.view.index, node, &bridge.module).filter(|s| {
        !s.contains('.')
            && cx.view.names.bindings.iter().any(|b| b.local == *s && cx.view.function_of(b.statement).is_none())
    })
}
