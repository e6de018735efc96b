//! The pages of a folder, with the text that they share.
//!
//! A page with `shared = true` is no guide: others include its sections. The fence `include devices#typed-tensors` stands for
//! what is below the heading `{#typed-tensors}` of `devices.md`, and in it `{{fact.NAME}}` for the target's own word: that of the
//! table `[facts]` of one of the target's guides. A line with nothing else than a fact becomes the fact's lines, or none.

use crate::error::GuideError;
use crate::front;
use crate::model::Guide;
use crate::parse::normal;
use serde::Deserialize;
use sorting::SortedMap;

/// A guide with the text that it includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The guide's own path.
    pub path: String,
    /// Its Markdown, without `include` fences.
    pub text: String,
    /// For each line of the text, the file that it is from, if that is another one, and its line there, from 1.
    places: Vec<(Option<String>, usize)>,
    /// The facts of its target, by name.
    facts: SortedMap<String, String>,
}

impl Page {
    /// Parses the page; errors have their place in the files.
    ///
    /// # Errors
    /// All of the page, in its order.
    pub fn parse(&self) -> Result<Guide, Vec<GuideError>> {
        Guide::parse(&self.path, &self.text).map_err(|faults| faults.into_iter().map(|f| self.located(f)).collect())
    }

    /// The file and line of a line of the text, both from 1.
    #[must_use]
    pub fn place(&self, line: usize) -> (&str, usize) {
        match line.checked_sub(1).and_then(|index| self.places.get(index)) {
            Some((file, line)) => (file.as_deref().unwrap_or(&self.path), *line),
            None => (&self.path, line),
        }
    }

    fn located(&self, fault: GuideError) -> GuideError {
        let (path, line) = self.place(fault.line);
        GuideError { path: path.to_string(), line, message: fault.message }
    }

    /// A text of the page as shared text has it: with the names of facts for their values.
    #[must_use]
    pub fn shared_form(&self, text: &str) -> String {
        let mut facts: Vec<(&String, &String)> = self.facts.iter().filter(|(_, value)| !value.is_empty()).collect();
        sorting::by_key(&mut facts, |(_, value)| usize::MAX - value.len());
        facts.into_iter().fold(text.to_string(), |text, (name, value)| {
            let end = if value.ends_with('\n') { "\n" } else { "" };
            text.replace(value, &format!("{}{end}", named(name)))
        })
    }
}

/// The file and line of a line of one of some pages, by the page's path.
#[must_use]
pub fn place<'a>(pages: &'a [Page], path: &'a str, line: usize) -> (&'a str, usize) {
    pages.iter().find(|page| page.path == path).map_or((path, line), |page| page.place(line))
}

/// What this module reads of a page's front matter.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    target: Option<String>,
    shared: bool,
    facts: SortedMap<String, String>,
}

/// A file of the folder, with normal line ends.
struct File<'a> {
    path: &'a str,
    text: String,
    head: Head,
}

/// The guides among the files of a folder, as paths and texts, each with the text that it includes.
///
/// # Errors
/// Includes of what does not exist, facts that a target lacks, and shared sections that no guide includes. Errors in
/// front matter are left to [`Page::parse`].
pub fn pages<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Vec<Page>, Vec<GuideError>> {
    let read = |(path, text): (&'a str, &'a str)| {
        let text = normal(text);
        let head = front::split(&text).ok().and_then(|(head, _)| toml::from_str(head).ok()).unwrap_or_default();
        File { path, text, head }
    };
    let files: Vec<File<'_>> = files.into_iter().map(read).collect();
    let (shared, guides): (Vec<&File<'_>>, Vec<&File<'_>>) = files.iter().partition(|file| file.head.shared);
    let mut reader = Reader { fragments: Vec::new(), faults: Vec::new() };
    shared.iter().for_each(|file| reader.fragments(file));
    let pages = guides.iter().map(|file| reader.page(file, &guides)).collect();
    for file in &guides {
        for (name, _) in &file.head.facts {
            if !shared.iter().any(|shared| shared.text.contains(&named(name))) {
                let line =
                    file.text.lines().position(|line| line.starts_with(&format!("{name} = "))).map_or(1, |at| at + 1);
                reader.fault(
                    file.path,
                    line,
                    format!("no shared text has `{}`: use the fact, or remove it", named(name)),
                );
            }
        }
    }
    for unused in reader.fragments.iter().filter(|fragment| !fragment.used) {
        let message = "no guide includes this section: include it, or remove it".to_string();
        reader.faults.push(GuideError { path: unused.path.to_string(), line: unused.line, message });
    }
    if reader.faults.is_empty() { Ok(pages) } else { Err(reader.faults) }
}

/// The facts of a page's target, from all of its guides.
fn facts_of(head: &Head, guides: &[&File<'_>]) -> SortedMap<String, String> {
    let own = guides.iter().filter(|file| head.target.is_some() && file.head.target == head.target);
    own.flat_map(|file| &file.head.facts).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A section that guides include.
struct Fragment<'a> {
    /// `devices#typed-tensors`.
    id: String,
    path: &'a str,
    /// Line of the heading.
    line: usize,
    /// The lines below it.
    lines: Vec<&'a str>,
    used: bool,
}

struct Reader<'a> {
    fragments: Vec<Fragment<'a>>,
    faults: Vec<GuideError>,
}

impl<'a> Reader<'a> {
    fn fault(&mut self, path: &str, line: usize, message: String) {
        self.faults.push(GuideError { path: path.to_string(), line, message });
    }

    /// The sections of a shared file.
    fn fragments(&mut self, file: &'a File<'_>) {
        let name = crate::parse::stem(file.path);
        let mut fence = Fence::default();
        for (index, line) in file.text.lines().enumerate() {
            if !fence.contains(line) && line.starts_with('#') {
                match line.strip_prefix("## ").and_then(|title| title.trim_end().strip_suffix('}')?.split_once("{#")) {
                    Some((_, anchor)) => self.fragments.push(Fragment {
                        id: format!("{name}#{anchor}"),
                        path: file.path,
                        line: index + 1,
                        lines: Vec::new(),
                        used: false,
                    }),
                    None => {
                        self.fault(file.path, index + 1, "a shared section begins with `## Title {#anchor}`".into())
                    }
                }
            } else if include(line).is_some() {
                self.fault(file.path, index + 1, "shared text can't include other text".into());
            } else if let Some(fragment) = self.fragments.last_mut().filter(|last| last.path == file.path) {
                fragment.lines.push(line);
            }
        }
    }

    /// A guide with what it includes.
    fn page(&mut self, file: &File<'_>, guides: &[&File<'_>]) -> Page {
        let mut page = Page {
            path: file.path.to_string(),
            text: String::new(),
            places: Vec::new(),
            facts: facts_of(&file.head, guides),
        };
        let mut lines = file.text.split_inclusive('\n').enumerate();
        let mut fence = Fence::default();
        while let Some((index, line)) = lines.next() {
            let quoted = fence.is_open();
            fence.contains(line);
            let Some(id) = include(line).filter(|_| !quoted) else {
                page.text.push_str(line);
                page.places.push((None, index + 1));
                continue;
            };
            if lines.next().is_none_or(|(_, end)| !fence.contains(end) || fence.is_open()) {
                self.fault(file.path, index + 1, "an `include` fence is empty: end it in the next line".into());
            }
            let Some(at) = self.fragments.iter().position(|fragment| fragment.id == id) else {
                self.fault(file.path, index + 1, format!("there is no shared section `{id}`"));
                continue;
            };
            self.fragments[at].used = true;
            self.put(&mut page, at);
        }
        page
    }

    fn put(&mut self, page: &mut Page, at: usize) {
        let Fragment { path, line: heading, ref lines, .. } = self.fragments[at];
        let mut unknown = Vec::new();
        for (line, number) in lines.iter().zip(heading + 1..) {
            match filled(line, &page.facts) {
                Ok(text) => {
                    for line in text.lines() {
                        page.text.push_str(line);
                        page.text.push('\n');
                        page.places.push((Some(path.to_string()), number));
                    }
                }
                Err(name) => unknown.push((number, name)),
            }
        }
        for (line, name) in unknown {
            let message = format!("{} includes this, and `{name}` is not in its target's `[facts]`", page.path);
            self.fault(path, line, message);
        }
    }
}

const FENCE: &str = "```";

/// The section that a line includes.
fn include(line: &str) -> Option<&str> {
    line.strip_prefix("```include ").map(str::trim)
}

/// A fact as shared text has it.
fn named(fact: &str) -> String {
    format!("{{{{fact.{fact}}}}}")
}

/// A line with its facts, as lines; or the name of one that does not exist.
fn filled<'l>(line: &'l str, facts: &SortedMap<String, String>) -> Result<String, &'l str> {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, (name, after))) =
        rest.split_once("{{fact.").and_then(|(before, from)| Some((before, from.split_once("}}")?)))
    {
        text.push_str(before);
        text.push_str(facts.get(name).ok_or(name)?);
        rest = after;
    }
    let only_fact = rest.is_empty() && line.starts_with("{{fact.") && line.matches("{{").count() == 1;
    if !only_fact {
        text.push_str(rest);
        text.push('\n');
    }
    Ok(text)
}

/// The marks of the fence that the lines so far have left open.
#[derive(Default)]
struct Fence<'a>(Option<&'a str>);

impl<'a> Fence<'a> {
    fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the next line is part of a fence, its first and last lines included.
    fn contains(&mut self, line: &'a str) -> bool {
        let marks = &line[..line.len() - line.trim_start_matches('`').len()];
        match self.0 {
            None if marks.len() >= FENCE.len() => self.0 = Some(marks),
            Some(open) if marks.len() >= open.len() && line.trim_end() == marks => self.0 = None,
            None => return false,
            Some(_) => {}
        }
        true
    }
}

#[cfg(test)]
mod tests;
