//! The pages of a folder, with the text that they share.
//!
//! A page with `shared = true` is no guide: others include its sections. The fence `include devices#typed-tensors` stands for
//! what is below the heading `{#typed-tensors}` of `devices.md`, and in it `{{fact.NAME}}` for the target's own word: that of the
//! table `[facts]` of one of the target's guides. A line with nothing else than a fact becomes the fact's lines, or none.

use crate::error::{Faults, GuideError};
use crate::front;
use crate::model::Guide;
use crate::parse::{normal, stem};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sorting::{SortedMap, SortedSet};
use toml::Spanned;

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

    /// The files of the text: the guide's own, and those of which it includes sections.
    #[must_use]
    pub fn files(&self) -> SortedSet<&str> {
        self.places.iter().filter_map(|(file, _)| file.as_deref()).chain([&*self.path]).collect()
    }

    fn located(&self, fault: GuideError) -> GuideError {
        let (path, line) = self.place(fault.line);
        GuideError { path: path.to_string(), line, message: fault.message }
    }

    /// A shared text as it is in this page; none if it has a fact that the target lacks.
    #[must_use]
    pub fn filled(&self, shared: &str) -> Option<String> {
        shared.lines().map(|line| filled(line, &self.facts).ok()).collect()
    }

    /// The forms that a text of the page could have where it is shared: with the names of facts for their values, with all facts,
    /// and without some of those that are whole lines.
    #[must_use]
    pub fn shared_forms(&self, text: &str) -> Vec<String> {
        let mut facts: Vec<(&str, &str)> = self.facts.iter().map(|(name, value)| (&**name, &**value)).collect();
        facts.retain(|(_, value)| !value.is_empty());
        sorting::by_key(&mut facts, |(_, value)| usize::MAX - value.len());
        let (lines, words): (Vec<_>, Vec<_>) = facts.into_iter().partition(|(_, value)| value.ends_with('\n'));
        let mut forms: Vec<String> = Vec::new();
        for left_out in 0..1_usize << lines.len().min(MOST_LINES) {
            let kept = lines.iter().enumerate().filter(|(at, _)| left_out >> at & 1 == 0).map(|(_, fact)| *fact);
            let form = with_names(text, &kept.collect::<Vec<_>>(), &words);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        forms
    }
}

/// How many facts of whole lines may be left out of a shared form.
const MOST_LINES: usize = 6;

/// A text with facts for their values: for whole lines, and for whole words.
fn with_names(text: &str, lines: &[(&str, &str)], words: &[(&str, &str)]) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut form = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let before = form.chars().next_back();
        let starts_line = before.is_none_or(|c| c == '\n');
        let fits = |value: &str| {
            let after = rest.strip_prefix(value).map(|rest| rest.chars().next());
            let joins = |c: Option<char>, edge: Option<char>| c.is_some_and(is_word) && edge.is_some_and(is_word);
            after.is_some_and(|after| !joins(before, Some(next)) && !joins(after, value.chars().next_back()))
        };
        let line = lines.iter().find(|(_, value)| starts_line && rest.starts_with(value));
        if let Some((name, value)) = line {
            form += &named(name);
            form.push('\n');
            rest = &rest[value.len()..];
        } else if let Some((name, value)) = words.iter().find(|(_, value)| fits(value)) {
            form += &named(name);
            rest = &rest[value.len()..];
        } else {
            form.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    form
}

/// The file and line of a line of one of some pages, by the page's path.
#[must_use]
pub fn place<'a>(pages: &'a [Page], path: &'a str, line: usize) -> (&'a str, usize) {
    pages.iter().find(|page| page.path == path).map_or((path, line), |page| page.place(line))
}

/// What this module reads of a guide's front matter.
#[derive(Default, Deserialize)]
struct Head {
    target: Option<String>,
    #[serde(default)]
    shared: bool,
    #[serde(default)]
    facts: SortedMap<Spanned<String>, String>,
}

/// The front matter of a shared page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedHead {
    #[serde(rename = "title")]
    _title: IgnoredAny,
    #[serde(rename = "shared")]
    _shared: IgnoredAny,
}

/// A file of the folder, with normal line ends.
struct File<'a> {
    path: &'a str,
    text: String,
    head: Head,
}

impl<'a> File<'a> {
    /// Reads a file. What is wrong with the fences of front matter is left to [`Page::parse`].
    fn read(path: &'a str, text: &str, found: &mut Vec<GuideError>) -> Self {
        let text = normal(text);
        let matter = front::split(&text).map_or("", |(matter, _)| matter);
        let line_of = |error: &toml::de::Error| error.span().map_or(1, |at| front::line_of(matter, at.start));
        let mut faults = Faults::of(path);
        let head: Head = toml::from_str(matter).unwrap_or_else(|error| {
            faults.add(line_of(&error), error.message());
            Head::default()
        });
        if head.shared
            && let Err(error) = toml::from_str::<SharedHead>(matter)
        {
            faults.add(line_of(&error), error.message());
        }
        found.extend(faults.into_sorted());
        File { path, head, text }
    }

    /// The line of one of its facts.
    fn line_of(&self, fact: &Spanned<String>) -> usize {
        front::split(&self.text).map_or(1, |(matter, _)| front::line_of(matter, fact.span().start))
    }
}

/// The guides among the files of a folder, as paths and texts, each with the text that it includes; and what is not used: shared
/// sections that no guide includes, and facts that no shared text has.
///
/// # Errors
/// Front matter that is not TOML, includes of what does not exist, and facts that a target lacks or has twice. Other
/// errors are left to [`Page::parse`].
pub fn pages<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(Vec<Page>, Vec<GuideError>), Vec<GuideError>> {
    let mut faults = Vec::new();
    let files: Vec<File<'_>> = files.into_iter().map(|(path, text)| File::read(path, text, &mut faults)).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let (shared, guides): (Vec<&File<'_>>, Vec<&File<'_>>) = files.iter().partition(|file| file.head.shared);
    let mut reader = Reader { fragments: Vec::new(), faults };
    shared.iter().for_each(|file| reader.fragments(file));
    let facts = reader.facts(&guides);
    let pages = guides.iter().map(|file| reader.page(file, &facts)).collect();
    if !reader.faults.is_empty() {
        return Err(reader.faults);
    }
    let sections = reader.fragments.iter().filter(|fragment| !fragment.used).map(|fragment| {
        let message = "no guide includes this section: include it, or remove it".to_string();
        GuideError { path: fragment.path.to_string(), line: fragment.line, message }
    });
    let is_unused = |fact: &str| !shared.iter().any(|file| file.text.contains(&named(fact)));
    let facts = guides.iter().flat_map(|file| file.head.facts.keys().map(move |fact| (file, fact)));
    let facts = facts.filter(|(_, fact)| is_unused(fact.get_ref())).map(|(file, fact)| {
        let message = format!("no shared text has `{}`: use the fact, or remove it", named(fact.get_ref()));
        GuideError { path: file.path.to_string(), line: file.line_of(fact), message }
    });
    let unused = sections.chain(facts).collect();
    Ok((pages, unused))
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

/// The facts of each target.
type Facts = SortedMap<String, SortedMap<String, String>>;

struct Reader<'a> {
    fragments: Vec<Fragment<'a>>,
    faults: Vec<GuideError>,
}

impl<'a> Reader<'a> {
    fn fault(&mut self, path: &str, line: usize, message: impl Into<String>) {
        self.faults.push(GuideError { path: path.to_string(), line, message: message.into() });
    }

    /// The facts of each target, from all of its guides.
    fn facts(&mut self, guides: &[&File<'_>]) -> Facts {
        let mut facts = Facts::new();
        for file in guides {
            let Some(target) = &file.head.target else { continue };
            let own = facts.entry(target.clone()).or_default();
            for (name, value) in &file.head.facts {
                if own.get(name.get_ref()).is_some() {
                    let message = format!("another guide of {target} has the fact `{}`, too: keep one", name.get_ref());
                    self.fault(file.path, file.line_of(name), message);
                }
                own.insert(name.get_ref().clone(), value.clone());
            }
        }
        facts
    }

    /// The sections of a shared file.
    fn fragments(&mut self, file: &'a File<'_>) {
        let name = stem(file.path);
        let begin = self.fragments.len();
        let mut fence = Fence::default();
        for (index, line) in file.text.lines().enumerate() {
            let quoted = fence.is_open();
            if include(line).is_some() && !quoted {
                self.fault(file.path, index + 1, "shared text can't include other text");
            }
            if !fence.contains(line) && line.starts_with('#') {
                match line.strip_prefix("## ").and_then(|title| title.trim_end().strip_suffix('}')?.split_once("{#")) {
                    Some((_, anchor)) => {
                        let id = format!("{name}#{anchor}");
                        if self.fragments.iter().any(|other| other.id == id) {
                            self.fault(file.path, index + 1, format!("another section has the anchor `{anchor}`"));
                        }
                        let (path, line) = (file.path, index + 1);
                        self.fragments.push(Fragment { id, path, line, lines: Vec::new(), used: false });
                    }
                    None => self.fault(file.path, index + 1, "a shared section must begin with `## Title {#anchor}`"),
                }
            } else if let Some(fragment) = self.fragments[begin..].last_mut() {
                fragment.lines.push(line);
            }
        }
    }

    /// A guide with what it includes.
    fn page(&mut self, file: &File<'_>, facts: &Facts) -> Page {
        let target = file.head.target.as_ref();
        let facts = target.and_then(|target| facts.get(target)).cloned().unwrap_or_default();
        let mut page = Page { path: file.path.to_string(), text: String::new(), places: Vec::new(), facts };
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
                self.fault(file.path, index + 1, "an `include` fence must be empty: close it on the next line");
            }
            match self.fragments.iter().position(|fragment| fragment.id == id) {
                Some(at) => self.put(&mut page, at),
                None => self.fault(file.path, index + 1, format!("there is no shared section `{id}` in this folder")),
            }
        }
        page
    }

    fn put(&mut self, page: &mut Page, at: usize) {
        self.fragments[at].used = true;
        let Fragment { path, line: heading, ref lines, .. } = self.fragments[at];
        let mut faults = Vec::new();
        for (line, number) in lines.iter().zip(heading + 1..) {
            match filled(line, &page.facts) {
                Ok(text) => {
                    for line in text.lines() {
                        page.text.push_str(line);
                        page.text.push('\n');
                        page.places.push((Some(path.to_string()), number));
                    }
                }
                Err(name) => {
                    faults.push((number, format!("{} includes this, and its target has no fact `{name}`", page.path)));
                }
            }
        }
        for (line, message) in faults {
            self.fault(path, line, message);
        }
    }
}

/// The section that a line includes.
fn include(line: &str) -> Option<&str> {
    line.strip_prefix("```include ").map(str::trim)
}

/// A fact as shared text has it.
fn named(fact: &str) -> String {
    format!("{{{{fact.{fact}}}}}")
}

/// A line with its facts, as lines; or what stands for a fact and is none.
fn filled<'l>(line: &'l str, facts: &SortedMap<String, String>) -> Result<String, &'l str> {
    let mut text = String::new();
    let mut rest = line;
    // `{{ fact.device }}` and `{{facts.device}}` are misspelt.
    let begins = |rest: &str| {
        rest.match_indices("{{").map(|(at, _)| at).find(|at| rest[at + 2..].trim_start().starts_with("fact"))
    };
    while let Some(at) = begins(rest) {
        let from = &rest[at + 2..];
        let (name, after) = from.split_once("}}").ok_or(from)?;
        text.push_str(&rest[..at]);
        text.push_str(name.strip_prefix("fact.").and_then(|name| facts.get(name)).ok_or(name)?);
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
        let inner = line.trim_start_matches(' ');
        let mark = inner.chars().next().filter(|mark| matches!(mark, '`' | '~')).unwrap_or('`');
        let marks = &inner[..inner.len() - inner.trim_start_matches(mark).len()];
        let closes = |open: &str| marks.starts_with(open) && inner.trim_end() == marks;
        match self.0 {
            None if marks.len() >= 3 => self.0 = Some(marks),
            Some(open) if closes(open) => self.0 = None,
            None => return false,
            Some(_) => {}
        }
        true
    }
}

#[cfg(test)]
mod tests;
