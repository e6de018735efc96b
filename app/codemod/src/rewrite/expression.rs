//! Replaces an expression: with as few changed bytes as possible, and only between the captures if that is enough.

use super::filler::{Filler, Refusal};
use crate::reached::is_replaced;
use crate::template::{Part, Template};
use python::edit::Change;
use python::lines::{broken_line, line_indent};
use python::strings::requote;
use python::tree::{Id, Index, ROOT, Tree, kinds};
use std::ops::Range;

/// Bytes between two captures, and their replacement.
type Gap = (Range<usize>, String);

fn is_called(index: &Index<'_>, node: Id) -> bool {
    index.parent(node).is_some_and(|call| index.callee(call) == Some(node))
}

/// Whether code is a comparison or another answer, which can't be called.
fn is_answer(code: &str) -> bool {
    let (tree, k) = (Tree::parse(code), kinds());
    let index = tree.index();
    let within = |id: &Id| index.parts(*id).next();
    let bare = |id: &Id| [k.expression_statement, k.parenthesized_expression].contains(&index.kind(*id));
    let mut inwards = std::iter::successors(index.parts(ROOT).next(), within);
    inwards
        .find(|id| !bare(id))
        .is_some_and(|id| [k.comparison_operator, k.boolean_operator, k.not_operator].contains(&index.kind(id)))
}

impl Filler<'_, '_, '_, '_> {
    pub(super) fn expression(&self, layout: &Template, replacement: &Template) -> Result<Vec<Change>, Refusal> {
        let view = self.cx.view;
        let node = self.found.node;
        let whole = self.start()..view.index.item(node).end;
        // `del x.is_cuda` and `self.is_cuda = …` write a name; its replacement must be assignable, too.
        let reads = |part: &Part| matches!(part, Part::Text(text) if text.contains(['(', ' ']));
        if view.index.is_stored(node) && replacement.parts.iter().any(reads) || is_replaced(view, node) {
            return Ok(Vec::new());
        }
        self.check_places()?;
        let replacement = &self.bracketed_in_place(replacement)?;
        let change = |range: Range<usize>, text: String| Change::Expression { node, range, text };
        let text = |text: &str| vec![Part::Text(text.to_owned())];
        // A string replaces a string: it keeps the user's quotes.
        if [kinds().string, kinds().concatenated_string].contains(&view.index.kind(node))
            && let [Part::Text(text)] = replacement.parts.as_slice()
        {
            let quote = view.index.text_of(node).chars().find(|c| *c == '"' || *c == '\'').unwrap_or('"');
            return Ok(vec![change(whole, requote(text, quote))]);
        }
        let bracketed = self.fill(replacement)?;
        let filled = self.unbracketed(replacement, bracketed.clone());
        // What is called is no attribute of that meaning: `matrix.is_cuda()`.
        if is_called(&view.index, node) && is_answer(&filled) {
            return Ok(Vec::new());
        }
        if filled == bracketed
            && let Some(mut gaps) = self.gaps(layout, replacement, &whole)?
        {
            // If the removed brackets joined lines, it gets other ones.
            if self.breaks_line(&gaps) {
                let parts = [text("("), replacement.parts.clone(), text(")")].concat();
                gaps = self.gaps(layout, &Template { parts }, &whole)?.unwrap_or(gaps);
            }
            return Ok(gaps.into_iter().map(|(range, text)| change(range, text)).collect());
        }
        if view.index.text[whole.clone()] == filled {
            return Ok(Vec::new());
        }
        let (range, text) = trimmed(view.index.text, whole, filled);
        Ok(vec![change(range, text)])
    }

    /// Whether a statement continues on another line after the edits, without anything that joins the two.
    fn breaks_line(&self, gaps: &[Gap]) -> bool {
        let (index, k) = (&self.cx.view.index, kinds());
        let around = || std::iter::once(self.found.node).chain(index.ancestors(self.found.node));
        let holds = |id: Id| [k.block, k.module].contains(&index.kind(index.item(id).parent));
        let Some(statement) = around().take_while(|id| *id != ROOT).find(|id| holds(*id)) else { return false };
        let has_lines =
            index.row(statement) < index.last_row(statement) || gaps.iter().any(|(_, new)| new.contains('\n'));
        let in_brackets = || around().skip(1).take_while(|id| *id != statement).any(|id| index.is_bracketed(id));
        if !has_lines || in_brackets() {
            return false;
        }
        let (start, mut text) = (index.item(statement).start, index.text_of(statement).to_owned());
        let was_broken = broken_line(&text).is_some();
        for (range, new) in gaps.iter().rev() {
            text.replace_range(range.start - start..range.end - start, new);
        }
        !was_broken && broken_line(&text).is_some()
    }

    /// Without the brackets around the whole, if the place needs none. The user's own are removed if a single value on
    /// one line remains.
    fn unbracketed(&self, replacement: &Template, filled: String) -> String {
        let index = &self.cx.view.index;
        let k = kinds();
        let starred = self.start() != index.item(self.found.node).start;
        let alone = !starred
            && index.parent(self.found.node).is_some_and(|p| {
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
        let superfluous = match replacement.parts.as_slice() {
            [Part::One(name)] => {
                let value = self.found.env.node(index, name).filter(|v| index.kind(*v) == k.parenthesized_expression);
                let inner = value.and_then(|value| index.parts(value).next());
                inner.is_some_and(|inner| ![k.named_expression, k.r#yield].contains(&index.kind(inner)))
                    && !filled.contains('\n')
            }
            [Part::Text(first), ..] => first.starts_with('('),
            _ => false,
        };
        match filled.strip_prefix('(').and_then(|f| f.strip_suffix(')')) {
            Some(inner) if alone && superfluous && closes_itself(inner) => inner.to_owned(),
            _ => filled,
        }
    }

    /// Edits between the captures only, if the captures of the new side are those of the old one in the same order,
    /// possibly without some.
    fn gaps(
        &self,
        layout: &Template,
        replacement: &Template,
        whole: &Range<usize>,
    ) -> Result<Option<Vec<Gap>>, Refusal> {
        let new: Vec<&Part> = replacement.parts.iter().filter(|p| matches!(p, Part::One(_) | Part::Many(_))).collect();
        if self.found.env.is_swapped || self.late.is_empty() && self.names_arguments(replacement) {
            return Ok(None);
        }
        let Some(old) = literals(layout, &new).filter(|_| !new.is_empty()) else { return Ok(None) };
        let ranges: Option<Vec<Range<usize>>> = new.iter().map(|p| self.captured(p)).collect();
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
        let between = old.into_iter().zip(literals(replacement, &new).unwrap_or_default());
        for ((end, next), (before, after)) in ends.zip(starts).zip(between) {
            // Parts that the rule does not change keep the user's layout.
            if before.parts != after.parts {
                let text = self.fill(&after)?;
                push_gap(&self.cx.view.index, &mut edits, at..end, text);
            }
            at = next;
        }
        for part in new {
            if let Part::Many(name) = part {
                edits.extend(self.given_names(name).into_iter().map(|(at, name)| (at..at, name)));
            }
        }
        Ok(Some(edits))
    }
}

/// Whether the brackets of a text are balanced, without one that is closed before it is opened.
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

/// The text before, between and after some captures of a template; none if it does not have all of them in that order.
fn literals(template: &Template, captures: &[&Part]) -> Option<Vec<Template>> {
    let mut out = vec![Template { parts: Vec::new() }];
    let mut next = captures.iter().peekable();
    for part in &template.parts {
        if next.next_if(|wanted| **wanted == part).is_some() {
            out.push(Template { parts: Vec::new() });
        } else if captures.contains(&part) {
            return None;
        } else if let Some(last) = out.last_mut() {
            last.parts.push(part.clone());
        }
    }
    next.peek().is_none().then_some(out)
}

fn push_gap(index: &Index<'_>, edits: &mut Vec<(Range<usize>, String)>, range: Range<usize>, new: String) {
    let text = index.text;
    // The text between a name and the dot after it, line breaks and comments, is the user's.
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
    // Arguments on lines of their own keep them.
    let lines = old.rfind(',').map_or("", |comma| &old[comma + 1..]);
    let keeps_line = new == ", " && old.starts_with(',') && lines.contains('\n') && lines.trim().is_empty();
    let new = if keeps_line { format!(",{lines}") } else { new };
    if text[range.clone()] == new {
        return;
    }
    match around_comments(index, &range, &new) {
        Some(new) => edits.push((range, new)),
        None => edits.push(trimmed(text, range, new)),
    }
}

/// New text between two captures if the old text has comments: they stay on its last line or after it, and closing
/// brackets stay after them. None if there are no comments.
fn around_comments(index: &Index<'_>, range: &Range<usize>, new: &str) -> Option<String> {
    let text = index.text;
    let comments: Vec<Range<usize>> = index
        .of_kind(kinds().comment)
        .iter()
        .map(|c| index.item(*c).start..index.item(*c).start + index.text_of(*c).trim_end().len())
        .filter(|c| range.start <= c.start && c.end <= range.end)
        .collect();
    let (first, last) = (comments.first()?, comments.last()?);
    let closes = |text: &str| text.len() - text.trim_end_matches([')', ']', '}', ',', ' ']).len();
    let old_end = &text[last.end..range.end];
    let kept = closes(new).min(closes(old_end));
    let same = (0..=kept).rev().find(|n| old_end.ends_with(&new[new.len() - n..])).unwrap_or(0);
    let (head, tail) = new.split_at(new.len() - same);
    // White space before the first comment and after the last one is the user's, too.
    let before = &text[range.start..first.start];
    let gap = &before[before.trim_end().len()..];
    // A line that becomes empty is removed with its contents.
    let ends = tail.trim().is_empty() && text[range.end..].trim_start_matches('\r').starts_with('\n');
    let behind = if ends { "" } else { &old_end[..old_end.len() - old_end.trim_start().len()] };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let between = format!("{newline}{}", line_indent(text, last.start));
    let comments: Vec<&str> = comments.iter().map(|c| &text[c.clone()]).collect();
    let gap = if gap.is_empty() { "  " } else { gap };
    Some(format!("{}{gap}{}{behind}{}", head.trim_end(), comments.join(&between), tail.trim_start()))
}

/// A new last argument of a call whose arguments are on lines of their own: it gets one, too.
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
    // Never inside a string: a changed string is replaced as a whole.
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
