//! Code on a page: with syntax colours, and as a diff with signs.

use codemod::{Diagnostic, Edit, FileDiff, Hunk, Severity, diff_texts};
use guide::html::escape;
use python::{Highlight, TokenClass, html_line};

/// Unchanged lines kept around a change; longer runs are folded to a line with their number.
const CONTEXT: usize = 4;

/// The same in a report, in which every changed place is next to its reasons.
const AROUND: usize = 2;

/// Code for display.
pub(crate) fn code(language: &str, text: &str) -> String {
    format!("<pre><code>{}</code></pre>\n", lines(language, text).join("\n"))
}

/// The lines of a text as HTML.
fn lines(language: &str, text: &str) -> Vec<String> {
    match language {
        "python" => {
            let colours = Colours::of(language, text);
            text.lines().enumerate().map(|(index, line)| indented(&colours.line(line, index, &[]))).collect()
        }
        _ => text.lines().map(|line| indented(&escape(line))).collect(),
    }
}

/// A text's colours, without those for which the theme has no colour.
struct Colours(Highlight);

impl Colours {
    fn of(language: &str, text: &str) -> Colours {
        Colours(if language == "python" { Highlight::python(text) } else { Highlight::plain(text) })
    }

    fn line(&self, text: &str, index: usize, marks: &[(u32, u32)]) -> String {
        let shown = |span: &&[u32]| span[2] != TokenClass::Operator as u32;
        let spans: Vec<u32> = self.0.line(index).chunks_exact(3).filter(shown).flatten().copied().collect();
        html_line(text, &spans, marks, &[])
    }
}

/// Marks a line's indentation, so that a narrow page can break the line later but not right after it.
fn indented(html: &str) -> String {
    let (indent, code) = html.split_at(html.len() - html.trim_start().len());
    match (indent, code) {
        ("", _) | (_, "") => html.to_string(),
        _ => format!("<i>{indent}</i>{code}"),
    }
}

/// The engine's result for `old`, as one table. `name` is for screen readers, if there is no caption.
pub(crate) fn difference(language: &str, old: &str, new: &str, name: Option<&str>) -> String {
    let difference = Difference::of(language, old, new, &[]);
    let mut table = Table::new(name);
    let rest = difference.changes(&mut table, &difference.diff.hunks, 0);
    let rest = (rest..difference.diff.old_lines).map(|index| difference.old.line(index, &[])).collect();
    table.unchanged(rest, difference.diff.hunks.is_empty(), true);
    table.finish()
}

/// Two texts, coloured and compared.
pub(crate) struct Difference<'t> {
    old: Side<'t>,
    new: Side<'t>,
    diff: FileDiff,
}

/// One of the texts.
struct Side<'t> {
    lines: Vec<&'t str>,
    colours: Colours,
}

impl<'t> Side<'t> {
    fn of(language: &str, text: &'t str) -> Side<'t> {
        Side { lines: text.split_inclusive('\n').collect(), colours: Colours::of(language, text) }
    }

    fn line(&self, index: u32, marks: &[(u32, u32)]) -> String {
        let line = self.lines.get(index as usize).unwrap_or(&"");
        self.colours.line(line, index as usize, if is_mostly(line, marks) { &[] } else { marks })
    }
}

impl<'t> Difference<'t> {
    pub(crate) fn of(language: &str, old: &'t str, new: &'t str, edits: &[Edit]) -> Difference<'t> {
        let diff = diff_texts(old, new, edits);
        Difference { old: Side::of(language, old), new: Side::of(language, new), diff }
    }

    /// The changed places, those together that are close to each other.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[Hunk]> {
        let are_close = |a: &Hunk, b: &Hunk| (b.old_start - a.old_end) as usize <= 2 * AROUND;
        self.diff.hunks.chunk_by(are_close)
    }

    /// Such a group as a table, with the lines around it.
    pub(crate) fn group(&self, hunks: &[Hunk], name: &str) -> String {
        let mut table = Table::new(Some(name));
        let (Some(first), Some(last)) = (hunks.first(), hunks.last()) else { return table.finish() };
        let end = (last.old_end + AROUND as u32).min(self.diff.old_lines);
        let after = self.changes(&mut table, hunks, first.old_start.saturating_sub(AROUND as u32));
        (after..end).for_each(|index| table.row("", "", &self.old.line(index, &[])));
        table.finish()
    }

    /// The rows of changed places and of the lines before each, from a line on; returns the line after the last.
    fn changes(&self, table: &mut Table, hunks: &[Hunk], from: u32) -> u32 {
        let mut at = from;
        for (index, hunk) in hunks.iter().enumerate() {
            let before = (at..hunk.old_start).map(|index| self.old.line(index, &[])).collect();
            table.unchanged(before, index == 0, false);
            for index in hunk.old_start..hunk.old_end {
                let pair = hunk.pairs.iter().find(|pair| pair.old == index);
                table.row("del", "−", &self.old.line(index, pair.map_or(&[], |pair| &pair.old_words)));
            }
            for index in hunk.new_start..hunk.new_end {
                let pair = hunk.pairs.iter().find(|pair| pair.new == index);
                table.row("add", "+", &self.new.line(index, pair.map_or(&[], |pair| &pair.new_words)));
            }
            at = hunk.old_end;
        }
        at
    }
}

/// Whether so much of a line changed that highlighting the changes would be useless.
fn is_mostly(line: &str, marks: &[(u32, u32)]) -> bool {
    let marked: u32 = marks.iter().map(|(start, end)| end - start).sum();
    5 * marked as usize > 2 * line.trim().len()
}

/// A patch as written in a guide: marker, space, code.
pub(crate) fn patch(text: &str) -> String {
    let stripped: String = text.lines().map(|line| format!("{}\n", line.get(2..).unwrap_or(""))).collect();
    let mut table = Table::new(None);
    for (line, html) in text.lines().zip(lines("python", &stripped)) {
        match line.chars().next() {
            Some('+') => table.row("add", "+", &html),
            Some('-') => table.row("del", "−", &html),
            _ => table.row("", "", &html),
        }
    }
    table.finish()
}

/// The engine's messages about a port, below its figure: each message once, with its lines. `reason` is already on the
/// page, so a message that repeats it only shows its lines.
pub(crate) fn remarks<'a>(diagnostics: impl Iterator<Item = &'a Diagnostic>, reason: &str) -> String {
    let mut remarks: Vec<(Severity, &str, Vec<usize>)> = Vec::new();
    for diagnostic in diagnostics {
        let text = if diagnostic.message.contains(reason) { "" } else { diagnostic.message.as_str() };
        match remarks.iter_mut().find(|remark| remark.0 == diagnostic.severity && remark.1 == text) {
            Some((_, _, lines)) if lines.contains(&diagnostic.ported.line) => {}
            Some((_, _, lines)) => lines.push(diagnostic.ported.line),
            None => remarks.push((diagnostic.severity, text, vec![diagnostic.ported.line])),
        }
    }
    let mut items = String::new();
    for (severity, text, lines) in remarks {
        let severity = match severity {
            Severity::Error => "Error",
            Severity::Warning => "To do",
            Severity::Info => "Note",
            Severity::Hint => "Hint",
        };
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let lines = lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let text = if text.is_empty() { String::new() } else { format!(": {}", escape(text)) };
        items += &format!("<li><b>{severity}</b>, {word} {lines}{text}</li>\n");
    }
    if items.is_empty() { items } else { format!("<ul class=\"remarks\">\n{items}</ul>\n") }
}

struct Table(String);

impl Table {
    fn new(name: Option<&str>) -> Table {
        let label = name.map(|name| format!(" aria-label=\"{}\"", escape(name))).unwrap_or_default();
        Table(format!("<table class=\"diff\"{label}>\n"))
    }

    fn row(&mut self, class: &str, sign: &str, html: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class={class}") };
        // In HTML, end tags of cells and rows are optional, and a long guide has thousands.
        self.0 += &format!("<tr{class}><td>{sign}<td>{}", indented(html));
    }

    /// Unchanged lines, folded in the middle. At the start and end of the file there is context on one side only.
    fn unchanged(&mut self, lines: Vec<String>, first: bool, last: bool) {
        let head = if first { 0 } else { CONTEXT.min(lines.len()) };
        let tail = lines.len() - if last { 0 } else { CONTEXT.min(lines.len()) };
        for (index, line) in lines.iter().enumerate() {
            // Folding two lines would save nothing.
            if tail.saturating_sub(head) < 3 || index < head || index >= tail {
                self.row("", "", line);
            } else if index == head {
                let count = tail - head;
                self.0 += &format!("<tr class=skip-row><td><td>{count} unchanged lines");
            }
        }
    }

    fn finish(self) -> String {
        self.0 + "</table>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::{Difference, code, difference, patch, remarks};
    use codemod::{Diagnostic, Severity, Span};

    /// Rows as text: sign and code without tags.
    fn rows(html: &str) -> String {
        let mut out = String::new();
        for row in html.split("<tr").skip(1) {
            let row = row.split("</table>").next().unwrap_or(row);
            let text = row.split_once('>').map_or("", |(_, rest)| rest).replacen("<td>", "", 1).replace("<td>", "|");
            let mut inside = false;
            out.extend(text.chars().filter(|c| {
                inside = (inside || *c == '<') && *c != '>';
                !inside && *c != '>'
            }));
            out.push('\n');
        }
        out
    }

    #[test]
    fn a_difference_is_one_table() {
        let html = difference("python", "a = 1\nb = 2\n", "a = 1\nb = 3\nc = 4\n", Some("x"));
        assert_eq!(rows(&html), "|a = 1\n−|b = 2\n+|b = 3\n+|c = 4\n");
        assert!(html.contains("<mark>"), "{html}");
        let html = difference("text", "torch<2\n", "torch<3\n", None);
        assert!(html.contains("torch&lt;<mark>2</mark>") && !html.contains("<span"), "{html}");
        let html = difference("text", "x.cuda(None)\n", "y.to(device)\n", None);
        assert!(!html.contains("<mark>"), "most of the line changed: {html}");
    }

    #[test]
    fn long_unchanged_runs_are_folded() {
        let old: String = (0..30).map(|i| format!("x{i}\n")).collect();
        let html = difference("text", &old, &old.replace("x15\n", "y\n"), None);
        assert_eq!(
            rows(&html),
            "|11 unchanged lines\n|x11\n|x12\n|x13\n|x14\n−|x15\n+|y\n|x16\n|x17\n|x18\n|x19\n|10 unchanged lines\n"
        );
        let html = difference("text", &old, &format!("new\n{old}"), None);
        assert_eq!(rows(&html), "+|new\n|x0\n|x1\n|x2\n|x3\n|26 unchanged lines\n");
        let html = difference("text", "a\nb\nc\nd\ne\nf\ng", "a\nb\nc\nd\ne\nf\nh", None);
        assert_eq!(rows(&html), "|a\n|b\n|c\n|d\n|e\n|f\n−|g\n+|h\n");
    }

    #[test]
    fn close_changes_are_one_group() {
        let old: String = (0..30).map(|i| format!("x{i}\n")).collect();
        let new = old.replace("x3\n", "").replace("x8\n", "y\n").replace("x29\n", "z\n");
        let difference = Difference::of("text", &old, &new, &[]);
        let groups: Vec<String> = difference.groups().map(|group| rows(&difference.group(group, "x"))).collect();
        let expected = ["|x1\n|x2\n−|x3\n|x4\n|x5\n|x6\n|x7\n−|x8\n+|y\n|x9\n|x10\n", "|x27\n|x28\n−|x29\n+|z\n"];
        assert_eq!(groups, expected);
    }

    #[test]
    fn a_patch_keeps_its_markers() {
        let html = patch("  def f():\n-     $X.cuda()\n+     $X.to(\"hpu\")\n\n");
        assert_eq!(rows(&html), "|def f():\n−|    $X.cuda()\n+|    $X.to(\"hpu\")\n|\n");
    }

    #[test]
    fn remarks_are_gathered() {
        let at = |line, message: &str| Diagnostic {
            original: Span::START,
            ported: Span { line, end_line: line, ..Span::START },
            severity: Severity::Warning,
            recipe: String::new(),
            message: message.to_string(),
            stops_step: false,
        };
        let all = [at(3, "Title. Why."), at(3, "Title. Why."), at(5, "Title. Why."), at(4, "a < b")];
        assert_eq!(
            remarks(all.iter(), "Why."),
            "<ul class=\"remarks\">\n<li><b>To do</b>, lines 3, 5</li>\n\
             <li><b>To do</b>, line 4: a &lt; b</li>\n</ul>\n"
        );
        assert_eq!(remarks([].iter(), "Why."), "");
    }

    #[test]
    fn code_in_colour() {
        assert!(code("python", "if x:\n    pass\n").contains("<b class=hk>if</b>"));
        assert_eq!(code("sh", "a <b\n"), "<pre><code>a &lt;b</code></pre>\n");
    }
}
