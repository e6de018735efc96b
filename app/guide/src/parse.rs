//! Markdown events as sections, rules and examples.

use crate::conditions;
use crate::definition;
use crate::error::{Faults, GuideError};
use crate::fence::{self, Fence};
use crate::front;
use crate::model::{Citation, Definition, Example, ExampleKind, Guide, Rule, Sample, Section};
use crate::samples;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use sorting::SortedMap;
use std::ops::Range;

impl Guide {
    /// Parses a page. `path` is for messages, and its file stem names the guide. All errors are returned, in page
    /// order.
    pub fn parse(path: &str, text: &str) -> Result<Guide, Vec<GuideError>> {
        let mut faults = Faults::of(path);
        let text = normal(text);
        let (matter, body) = match front::split(&text) {
            Ok(parts) => parts,
            Err(message) => {
                faults.add(1, message);
                return Err(faults.into_sorted());
            }
        };
        let front = front::read(matter, &mut faults);
        let mut reader = Reader::new(&text[body..], matter.lines().count() + 2, &front.sdks, &mut faults);
        for (event, range) in Parser::new_ext(&text[body..], syntax()).into_offset_iter() {
            reader.read(event, range);
        }
        let sections = reader.finish();
        let faults = faults.into_sorted();
        if faults.is_empty() {
            Ok(Guide { name: stem(path).to_string(), path: path.to_string(), front, sections })
        } else {
            Err(faults)
        }
    }
}

/// The text without a BOM and with `\n` for every line ending, so that offsets count lines and bodies compare.
pub(crate) fn normal(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

/// The Markdown that guides are written in.
pub(crate) fn syntax() -> Options {
    Options::ENABLE_HEADING_ATTRIBUTES | Options::ENABLE_TABLES
}

/// The anchor generated from a heading's text: lowercase letters and digits, with one hyphen for everything between
/// them.
pub(crate) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if matches!(c, ' ' | '-' | '_' | '/' | '.') && !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_string()
}

/// The name of a file without its folder and `.md`.
pub(crate) fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".md").unwrap_or(file)
}

/// The kind of the page's last block, for `where` and `after`.
#[derive(PartialEq)]
enum Last {
    Rule,
    Other,
}

/// A block whose text is being collected.
enum Open {
    Heading { level: u8, id: Option<String>, attributes: bool, line: usize, text: String },
    Fence { info: Option<String>, line: usize, body: String, range: Range<usize> },
    Paragraph(String),
}

struct Reader<'a, 'f> {
    body: &'a str,
    /// Offsets of the line starts of the body, and the number of lines above it in the file.
    starts: Vec<usize>,
    above: usize,
    sdks: &'a [String],
    faults: &'a mut Faults<'f>,
    sections: Vec<Section>,
    anchors: SortedMap<String, usize>,
    open: Option<Open>,
    /// Links of the open paragraph: the offset of each link text in its text, the link text, the address.
    links: Vec<(usize, Citation)>,
    depth: usize,
    last: Last,
    html_line: usize,
}

impl<'a, 'f> Reader<'a, 'f> {
    fn new(body: &'a str, above: usize, sdks: &'a [String], faults: &'a mut Faults<'f>) -> Self {
        let starts = std::iter::once(0).chain(body.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Reader {
            body,
            starts,
            above,
            sdks,
            faults,
            sections: Vec::new(),
            anchors: SortedMap::new(),
            open: None,
            links: Vec::new(),
            depth: 0,
            last: Last::Other,
            html_line: 0,
        }
    }

    fn line(&self, offset: usize) -> usize {
        self.above + self.starts.partition_point(|start| *start <= offset)
    }

    fn read(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { level, id, classes, attrs }) => {
                self.open = Some(Open::Heading {
                    level: level_number(level),
                    id: id.map(|id| id.to_string()),
                    attributes: !classes.is_empty() || !attrs.is_empty(),
                    line: self.line(range.start),
                    text: String::new(),
                });
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => Some(info.to_string()),
                    CodeBlockKind::Indented => None,
                };
                self.open = Some(Open::Fence { info, line: self.line(range.start), body: String::new(), range });
            }
            Event::Start(Tag::Paragraph) if self.depth == 0 => {
                self.last = Last::Other;
                self.open = Some(Open::Paragraph(String::new()));
                self.links.clear();
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                if let Some(Open::Paragraph(text)) = &self.open {
                    self.links.push((text.len(), Citation { text: String::new(), url: dest_url.to_string() }));
                }
            }
            Event::End(TagEnd::Link) => {
                if let (Some(Open::Paragraph(text)), Some((from, link))) = (&self.open, self.links.last_mut()) {
                    text[*from..].clone_into(&mut link.text);
                }
            }
            Event::Start(Tag::HtmlBlock) => self.raw_html(range.start),
            Event::InlineHtml(_) => self.raw_html(range.start),
            Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) if self.depth > 0 => {}
            Event::End(TagEnd::Paragraph) => {
                if let Some(Open::Paragraph(text)) = self.open.take() {
                    self.paragraph(text.trim());
                }
            }
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Table(_)) => {
                self.depth += 1;
                self.last = Last::Other;
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Table) => self.depth -= 1,
            Event::End(TagEnd::Heading(_)) => self.heading(),
            Event::End(TagEnd::CodeBlock) => self.fence(),
            Event::Text(text) | Event::Code(text) => self.text(&text),
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::Rule => self.last = Last::Other,
            _ => {}
        }
    }

    fn text(&mut self, more: &str) {
        match &mut self.open {
            Some(Open::Heading { text, .. } | Open::Paragraph(text)) => text.push_str(more),
            Some(Open::Fence { body, .. }) => body.push_str(more),
            None => {}
        }
    }

    /// The first paragraph of a section is its reason; those about versions and sources begin with their keyword.
    fn paragraph(&mut self, text: &str) {
        let Some(section) = self.sections.last_mut() else { return };
        if let Some(versions) = text.strip_prefix("Holds for:") {
            section.holds_for = versions.trim().to_string();
        } else if let Some(source) = text.strip_prefix("Source:") {
            section.source = source.trim().to_string();
            let elsewhere = |link: &Citation| link.url.starts_with("https://") || link.url.starts_with("http://");
            section.citations = self.links.drain(..).map(|(_, link)| link).filter(elsewhere).collect();
        } else if let Some(remedy) = text.strip_prefix("Remedy:") {
            section.remedy = remedy.trim().to_string();
        } else if section.reason.is_empty() {
            section.reason = text.to_string();
        }
    }

    fn raw_html(&mut self, offset: usize) {
        let line = self.line(offset);
        if self.html_line != line {
            self.html_line = line;
            self.faults.add(line, "raw HTML is not rendered: use Markdown, or put a literal <…> in backticks");
        }
    }

    fn heading(&mut self) {
        let Some(Open::Heading { level, id, attributes, line, text }) = self.open.take() else { return };
        self.last = Last::Other;
        let title = text.trim().to_string();
        if title.is_empty() {
            return self.faults.add(line, "this heading has no text: add it, or remove the line");
        }
        if !(2..=3).contains(&level) {
            let why = if level == 1 {
                "the page title is `title` in the front matter"
            } else {
                "only two levels of sections are supported"
            };
            return self.faults.add(line, format!("headings must begin with ## or ###: {why}"));
        }
        if attributes || title.contains("{#") {
            self.faults.add(line, "a heading can have one anchor and nothing else: ## Title {#anchor}");
        }
        let id = id.unwrap_or_else(|| slug(&title));
        if id.is_empty() || !id.bytes().all(|b| b == b'-' || b.is_ascii_lowercase() || b.is_ascii_digit()) {
            self.faults
                .add(line, format!("anchor `{id}` must be lowercase letters, digits and hyphens: add {{#anchor}}"));
        }
        if let Some(first) = self.anchors.get(&id) {
            self.faults.add(
                line,
                format!("anchor `{id}` is already used on line {first}; give this heading a different {{#anchor}}"),
            );
        } else {
            self.anchors.insert(id.clone(), line);
        }
        self.finish_section();
        self.sections.push(Section {
            id,
            title,
            level,
            line,
            reason: String::new(),
            holds_for: String::new(),
            source: String::new(),
            citations: Vec::new(),
            remedy: String::new(),
            says: Vec::new(),
            says_nothing: Vec::new(),
            rules: Vec::new(),
            definitions: Vec::new(),
            examples: Vec::new(),
        });
    }

    fn fence(&mut self) {
        let Some(Open::Fence { info, line, body, range }) = self.open.take() else { return };
        let above = std::mem::replace(&mut self.last, Last::Other);
        let Some(info) = info else {
            return self.faults.add(line, "indented code has no language: use a fence");
        };
        if !is_closed(&self.body[range]) {
            self.faults.add(line, "unclosed fence: end it with a line of the same backticks");
        }
        match fence::read(&info, line, self.faults) {
            Fence::Plain => {}
            Fence::Rule(rule) => self.rule(Rule { patch: body, ..rule }),
            Fence::Says => self.samples(line, &body, |section| &mut section.says),
            Fence::SaysNothing => self.samples(line, &body, |section| &mut section.says_nothing),
            Fence::Where => self.conditions(line, &body, above),
            Fence::Definition(kind, name) => {
                let definitions = definition::read(kind, &name, line, &body, self.faults);
                self.definitions(definitions);
            }
            Fence::Example(example) => self.example(Example { text: body, ..example }),
        }
    }

    fn rule(&mut self, rule: Rule) {
        let line = rule.line - 1;
        match (&rule.handler, rule.patch.trim().is_empty()) {
            (Some(handler), false) => {
                self.faults.add(line, format!("a rule has a body or `rule={handler}`, not both: keep one"));
            }
            (None, true) => {
                self.faults.add(line, "this rule is empty: add a patch, or specify a handler with `rule=…`")
            }
            _ => {}
        }
        let changes = rule.patch.lines().any(|text| text.starts_with(['+', '-'])) && !rule.manual;
        let reports = !changes && rule.handler.is_none();
        for word in [rule.stops_step.then_some("stops"), rule.says.as_ref().map(|_| "says")].into_iter().flatten() {
            if !reports {
                self.faults
                    .add(line, format!("`{word}=…` is for rules that only report: add `manual`, or remove the word"));
            }
        }
        for (index, text) in rule.patch.lines().enumerate() {
            if !text.trim().is_empty() && !is_patch_line(text) {
                self.faults
                    .add(rule.line + index, "a line of a rule begins with `+ `, `- ` or two spaces, then the code");
            }
        }
        match self.sections.last_mut() {
            Some(section) => section.rules.push(rule),
            None => self.faults.add(line, "a rule needs a heading above it"),
        }
        self.last = Last::Rule;
    }

    fn conditions(&mut self, line: usize, body: &str, above: Last) {
        let rule = self.sections.last_mut().and_then(|section| section.rules.last_mut());
        let (Some(rule), true) = (rule, above == Last::Rule) else {
            return self.faults.add(line, "`where` must be directly below a `diff rule` fence");
        };
        rule.conditions = conditions::read(body, line + 1, self.faults);
    }

    fn samples(&mut self, line: usize, body: &str, part: fn(&mut Section) -> &mut Vec<Sample>) {
        let samples = samples::read(body, line + 1, self.faults);
        match self.sections.last_mut() {
            Some(section) => part(section).extend(samples),
            None => self.faults.add(line, "samples of messages need a heading above them"),
        }
    }

    fn definitions(&mut self, definitions: Vec<Definition>) {
        for definition in definitions {
            let mut known = self.sections.iter().flat_map(|section| &section.definitions);
            let same = |other: &&Definition| {
                other.name == definition.name
                    && std::mem::discriminant(&other.what) == std::mem::discriminant(&definition.what)
            };
            if let Some(first) = known.find(same) {
                let message = format!("`{}` is already defined in line {}; keep one", definition.name, first.line);
                self.faults.add(definition.line, message);
            }
            match self.sections.last_mut() {
                Some(section) => section.definitions.push(definition),
                None => self.faults.add(definition.line, "a definition needs a heading above it"),
            }
        }
    }

    fn example(&mut self, example: Example) {
        let line = example.line - 1;
        if let Some(sdk) = example.sdk.as_ref().filter(|sdk| !self.sdks.is_empty() && !self.sdks.contains(sdk)) {
            self.faults.add(line, format!("sdk {sdk} is not one of the page's sdks: {}", self.sdks.join(", ")));
        }
        let Some(section) = self.sections.last_mut() else {
            return self.faults.add(line, "an example needs a heading above it");
        };
        let previous = section.examples.last();
        match (example.kind, previous.map(|previous| previous.kind)) {
            (ExampleKind::After, None | Some(ExampleKind::Unchanged)) => {
                self.faults.add(line, "this `after` has no `before` above it");
            }
            (ExampleKind::After, Some(_)) => {
                let before = section.examples.iter().rev().find(|earlier| earlier.kind == ExampleKind::Before);
                if before.is_some_and(|before| example.file.is_some() && before.file != example.file) {
                    self.faults.add(line, "`file=…` of this `after` differs from that of its `before`");
                }
            }
            (_, Some(ExampleKind::Before)) => self.faults.add(previous.map_or(line, |p| p.line - 1), LONELY),
            _ => {}
        }
        section.examples.push(example);
    }

    fn finish_section(&mut self) {
        let Some(section) = self.sections.last() else { return };
        if let Some(example) = section.examples.last().filter(|example| example.kind == ExampleKind::Before) {
            self.faults.add(example.line - 1, LONELY);
        }
        if section.is_recipe() && section.reason.is_empty() {
            self.faults.add(section.line, "this recipe has no reason: add a paragraph below its heading");
        }
        if !section.says.is_empty() {
            let parts = [("", &section.reason), ("Remedy:", &section.remedy), ("Source:", &section.source)];
            for (word, _) in parts.into_iter().filter(|(_, text)| text.is_empty()) {
                let what = if word.is_empty() {
                    "a paragraph with the cause below its heading".to_string()
                } else {
                    format!("a paragraph that begins with `{word}`")
                };
                self.faults.add(section.line, format!("this section answers messages, so it needs {what}"));
            }
        }
    }

    fn finish(mut self) -> Vec<Section> {
        self.finish_section();
        self.sections
    }
}

const LONELY: &str = "this `before` has no `after` below it; if the code stays the same, use `unchanged`";

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// Whether a fence's source ends with the line that closes it.
fn is_closed(source: &str) -> bool {
    let mut lines = source.trim_end().lines();
    let (Some(first), Some(last)) = (lines.next(), lines.next_back()) else { return false };
    let mark = first.trim_start().chars().next().unwrap_or('`');
    let width = |line: &str| line.trim_start().chars().take_while(|c| *c == mark).count();
    // Inside a block quote the closing line still has its `>`.
    let last = last.trim_start_matches([' ', '>']).trim_end();
    width(last) >= width(first) && last.chars().all(|c| c == mark)
}

fn is_patch_line(line: &str) -> bool {
    let mut chars = line.chars();
    matches!(chars.next(), Some('+' | '-' | ' ')) && matches!(chars.next(), Some(' ') | None)
}

#[cfg(test)]
mod tests;
