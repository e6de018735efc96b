//! `python block`: Python that a verb of the engine adds to a program, with slots for values from the program.
//!
//! Three keywords are on lines of their own: `{{if NAME}}`, `{{else}}` and `{{each NAME}}`, each closed by `{{end}}`.
//! They produce no line, and the lines between them are indented as in the output. A slot that is alone on its line
//! accepts a value of several lines, all indented like the slot; an empty one produces no line.

use super::slots::{Piece, SlotText};
use python::source::words;
use sorting::{SortedMap, SortedSet};

/// A compiled block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    /// Levels of indentation, and the rest of the line.
    Line(usize, SlotText),
    If {
        flag: String,
        then: Vec<Part>,
        otherwise: Vec<Part>,
    },
    Each {
        list: String,
        body: Vec<Part>,
    },
}

/// The values of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    texts: SortedMap<String, String>,
    flags: SortedMap<String, bool>,
    lists: SortedMap<String, Vec<Values>>,
}

impl Values {
    pub(crate) fn text(mut self, slot: &str, value: impl Into<String>) -> Self {
        self.texts.insert(slot.to_owned(), value.into());
        self
    }

    /// These values, and those of `more`, which take precedence.
    pub(crate) fn with(mut self, more: &Values) -> Self {
        self.texts.extend(more.texts.clone());
        self.flags.extend(more.flags.clone());
        self.lists.extend(more.lists.clone());
        self
    }

    pub(crate) fn flag(mut self, name: &str, holds: bool) -> Self {
        self.flags.insert(name.to_owned(), holds);
        self
    }

    pub(crate) fn list(mut self, name: &str, items: impl IntoIterator<Item = Values>) -> Self {
        self.lists.insert(name.to_owned(), items.into_iter().collect());
        self
    }
}

/// How a file formats Python.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style<'a> {
    /// One level of indentation.
    pub(crate) indent: &'a str,
    /// The quote of its strings.
    pub(crate) quote: char,
}

/// Why a block can't be parsed, and the line of its body, from 0.
pub(crate) type BlockError = (usize, String);

impl Block {
    pub(crate) fn compile(body: &str) -> Result<Self, BlockError> {
        let mut lines = body.lines().enumerate().peekable();
        let parts = Self::parts(&mut lines, None)?.0;
        Ok(Self { parts })
    }

    /// Parts up to the closing keyword, and that keyword.
    fn parts<'l>(
        lines: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'l str)>>,
        opened: Option<usize>,
    ) -> Result<(Vec<Part>, &'l str), BlockError> {
        let mut parts = Vec::new();
        while let Some((number, line)) = lines.next() {
            let code = line.trim_start();
            let word =
                code.trim_end().strip_prefix("{{").and_then(|word| word.strip_suffix("}}")).map_or("", str::trim);
            if word == "end" || word == "else" {
                return match opened {
                    Some(_) => Ok((parts, word)),
                    None => Err((number, format!("`{{{{{word}}}}}` has no opening line"))),
                };
            }
            if let Some(flag) = word.strip_prefix("if ") {
                let (then, closed) = Self::parts(lines, Some(number))?;
                let (otherwise, closed) =
                    if closed == "else" { Self::parts(lines, Some(number))? } else { (Vec::new(), closed) };
                if closed == "else" {
                    return Err((number, "this `{{if}}` has two `{{else}}`".to_owned()));
                }
                parts.push(Part::If { flag: flag.trim().to_owned(), then, otherwise });
            } else if let Some(list) = word.strip_prefix("each ") {
                let (body, closed) = Self::parts(lines, Some(number))?;
                if closed == "else" {
                    return Err((number, "`{{each}}` has no `{{else}}`".to_owned()));
                }
                parts.push(Part::Each { list: list.trim().to_owned(), body });
            } else {
                let indent = line.len() - code.len();
                if indent % 4 != 0 || line[..indent].contains('\t') {
                    return Err((number, "indent blocks by four spaces per level".to_owned()));
                }
                parts.push(Part::Line(indent / 4, SlotText::parse(code).map_err(|message| (number, message))?));
            }
        }
        match opened {
            Some(number) => Err((number, "this has no matching `{{end}}`".to_owned())),
            None => Ok((parts, "")),
        }
    }

    /// The values that the block uses: slots and flags by their names, `list.slot` for those in an `{{each list}}`.
    pub(crate) fn asks(&self) -> SortedSet<String> {
        fn walk(parts: &[Part], out: &mut SortedSet<String>) {
            for part in parts {
                match part {
                    Part::Line(_, text) => out.extend(text.slots().map(str::to_owned)),
                    Part::If { flag, then, otherwise } => {
                        out.insert(flag.clone());
                        walk(then, out);
                        walk(otherwise, out);
                    }
                    Part::Each { list, body } => {
                        out.insert(list.clone());
                        walk(body, out);
                    }
                }
            }
        }
        let mut out = SortedSet::new();
        walk(&self.parts, &mut out);
        out
    }

    /// The functions and classes at its left margin.
    pub(crate) fn defines(&self) -> Vec<&str> {
        fn line(part: &Part) -> Option<&Piece> {
            match part {
                Part::Line(0, text) => text.0.first(),
                _ => None,
            }
        }
        // A name ends where the parameters or the bases begin.
        fn name(piece: &Piece) -> Option<&str> {
            match piece {
                Piece::Text(text) => {
                    text.strip_prefix("def ").or(text.strip_prefix("class "))?.split(['(', ':']).next()
                }
                Piece::Slot(_) => None,
            }
        }
        fn all(parts: &[Part]) -> Vec<&str> {
            fn of(part: &Part) -> Vec<&str> {
                // The parts that are written in both cases.
                if let Part::If { then, otherwise, .. } = part {
                    let others = all(otherwise);
                    return all(then).into_iter().filter(|name| others.contains(name)).collect();
                }
                line(part).and_then(name).into_iter().collect()
            }
            parts.iter().flat_map(of).collect()
        }
        all(&self.parts)
    }

    /// The Python code, without a line ending after its last line; none if a value is missing.
    ///
    /// `renamed` are names of the block for which the program needs others.
    pub(crate) fn write(&self, values: &Values, style: Style<'_>, renamed: &[(String, String)]) -> Option<String> {
        let mut lines = Vec::new();
        write(&self.parts, &[("", values)], (style, renamed), &mut lines)?;
        Some(lines.join("\n"))
    }
}

/// `scopes` are the values of the block and of the items of enclosing lists, the innermost last.
fn write(
    parts: &[Part],
    scopes: &[(&str, &Values)],
    (style, renamed): (Style<'_>, &[(String, String)]),
    lines: &mut Vec<String>,
) -> Option<()> {
    let value = |slot: &str| {
        scopes.iter().rev().find_map(|(list, values)| {
            let name = if list.is_empty() { slot } else { slot.strip_prefix(*list)?.strip_prefix('.')? };
            values.texts.get(name).map(String::as_str)
        })
    };
    for part in parts {
        match part {
            Part::Line(levels, text) => {
                let indent = style.indent.repeat(*levels);
                if let [Piece::Slot(slot)] = &text.0[..] {
                    let value = value(slot)?;
                    lines.extend(value.lines().map(|line| match line {
                        "" => String::new(),
                        line => format!("{indent}{line}"),
                    }));
                } else if text.0.is_empty() {
                    lines.push(String::new());
                } else {
                    let mut pieces = text.clone();
                    requote(&mut pieces, style.quote, value);
                    rename(&mut pieces, renamed);
                    lines.push(format!("{indent}{}", pieces.fill(value)?));
                }
            }
            Part::If { flag, then, otherwise } => {
                let holds = scopes.iter().rev().find_map(|(_, values)| values.flags.get(flag.as_str()))?;
                write(if *holds { then } else { otherwise }, scopes, (style, renamed), lines)?;
            }
            Part::Each { list, body } => {
                let items = scopes.iter().rev().find_map(|(_, values)| values.lists.get(list.as_str()))?;
                for item in items {
                    let inner: Vec<(&str, &Values)> = scopes.iter().copied().chain([(list.as_str(), item)]).collect();
                    write(body, &inner, (style, renamed), lines)?;
                }
            }
        }
    }
    Some(())
}

/// Replaces names in what the block itself writes; the values of its slots are the program's.
fn rename(line: &mut SlotText, renamed: &[(String, String)]) {
    for piece in &mut line.0 {
        let Piece::Text(text) = piece else { continue };
        for (name, free) in renamed {
            let places: Vec<_> = words(text, name).collect();
            places.into_iter().rev().for_each(|place| text.replace_range(place, free));
        }
    }
}

/// Strings of a line in the file's quotes. One that contains a quote or a backslash is unchanged, and so are
/// docstrings.
fn requote<'v>(line: &mut SlotText, quote: char, value: impl Fn(&str) -> Option<&'v str>) {
    if quote != '\'' {
        return;
    }
    // Slots count as a single letter here: their values already have the file's quotes. One that contains a quote keeps
    // its string from being changed.
    let mut text = String::new();
    for piece in &line.0 {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Slot(name) if value(name).is_none_or(|value| value.contains(['"', '\'', '\\'])) => text.push('\0'),
            Piece::Slot(_) => text.push('_'),
        }
    }
    let mut marks: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c == '#' || text[at..].starts_with("\"\"\"") {
            break;
        }
        if c != '"' && c != '\'' {
            at += c.len_utf8();
            continue;
        }
        let Some(length) = text[at + 1..].find(c) else { break };
        let inside = &text[at + 1..at + 1 + length];
        if c == '"' && !inside.contains(['\'', '\\', '\0']) {
            marks.extend([at, at + 1 + length]);
        }
        at += length + 2;
    }
    let mut start = 0;
    for piece in &mut line.0 {
        match piece {
            Piece::Text(part) => {
                let end = start + part.len();
                for mark in marks.iter().filter(|mark| (start..end).contains(mark)) {
                    part.replace_range(mark - start..=mark - start, "'");
                }
                start = end;
            }
            Piece::Slot(_) => start += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Style, Values};

    #[track_caller]
    fn check(body: &str, values: Values, indent: &str, quote: char, expected: &str) {
        let block = Block::compile(body).expect("it is a block");
        assert_eq!(block.write(&values, Style { indent, quote }, &[]).as_deref(), Some(expected));
    }

    #[track_caller]
    fn refused(body: &str, line: usize, message: &str) {
        assert_eq!(Block::compile(body).unwrap_err(), (line, message.to_owned()));
    }

    #[test]
    fn lines_are_indented_and_quoted_as_in_the_file() {
        check(
            "def f({{name}}):\n    \"\"\"Say \"{{name}}\".\"\"\"\n    {{body}}\n    return \"a\", \"it's\"  # \"a\"\n",
            Values::default().text("name", "x").text("body", "if x:\n\ty = \"b\""),
            "\t",
            '\'',
            "def f(x):\n\t\"\"\"Say \"x\".\"\"\"\n\tif x:\n\t\ty = \"b\"\n\treturn 'a', \"it's\"  # \"a\"",
        );
        check("a = \"{{name}}\"\n\n\nb", Values::default().text("name", "it's"), "  ", '\'', "a = \"it's\"\n\n\nb");
    }

    #[test]
    fn parts_that_depend() {
        let body = "a\n{{if fast}}\n    b\n{{else}}\n    c\n{{end}}\n{{each item}}\n    {{item.name}} = {{all}}\n{{end}}\n{{rest}}\n";
        let item = |name: &str| Values::default().text("name", name);
        let values = |fast| Values::default().flag("fast", fast).text("all", "1").text("rest", "");
        check(body, values(true).list("item", [item("x"), item("y")]), "  ", '"', "a\n  b\n  x = 1\n  y = 1");
        check(body, values(false).list("item", []), "  ", '"', "a\n  c");
        let asks: Vec<String> = Block::compile(body).unwrap().asks().into_iter().collect();
        assert_eq!(asks, ["all", "fast", "item", "item.name", "rest"]);
        assert_eq!(Block::compile(body).unwrap().write(&values(true), Style { indent: "  ", quote: '"' }, &[]), None);
    }

    #[test]
    fn what_is_no_block() {
        refused("a\n{{end}}\n", 1, "`{{end}}` has no opening line");
        refused("{{if a}}\nb\n", 0, "this has no matching `{{end}}`");
        refused("{{if a}}\nb\n{{else}}\n{{else}}\n{{end}}\n", 0, "this `{{if}}` has two `{{else}}`");
        refused("{{each a}}\nb\n{{else}}\n{{end}}\n", 0, "`{{each}}` has no `{{else}}`");
        refused("a\n  b\n", 1, "indent blocks by four spaces per level");
        refused("a {{b\n", 0, "`{{b` has no closing `}}`");
    }
}
