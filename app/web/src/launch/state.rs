//! What the page knows, in one struct. No element and no event in here: what a control does is a method.

use crate::shared::launch_link as link;
use launch::form::{FieldKind, Fields, FormField, FormGroup, Written, all, command, form, own_site, put, write};
use launch::{Hunk, Linted, Problem, Site, Target};
use std::collections::BTreeSet;

/// Everything.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What is written into the form.
    pub fields: Fields,
    /// The site file of the user's own that was read last, and what it says.
    site_file: Option<(String, Result<Site, Problem>)>,
    /// Fields that the user has been in: a required one that is empty is no problem before.
    touched: BTreeSet<String>,
    /// The folded groups that the user opened, by title.
    unfolded: BTreeSet<&'static str>,
    /// What the page's fragments begin with.
    prefix: &'static str,
    /// The fields of the latest entry of the browser's history.
    entry: String,
    /// A script of the user's own.
    pub own: OwnScript,
    /// What happened to the last thing the user asked for.
    pub said: String,
}

/// A script of the user's own, to be checked.
#[derive(Clone, Debug, Default)]
pub struct OwnScript {
    /// Its text.
    pub text: String,
    /// The target that the user says it is for; the form's before that.
    target: Option<Target>,
    /// The text before its lines were fixed.
    before_fix: Option<String>,
    /// What was found in it when it was checked last, or why nothing could be found.
    checked: Option<Checked>,
}

#[derive(Clone, Debug)]
struct Checked {
    text: String,
    target: Target,
    found: Result<Linted, String>,
}

/// What the browser's history has to be told of the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing is finished: the present entry changes.
    Replace(String),
    /// The present entry becomes the first again, and the second follows it.
    Push(String, String),
    /// Nothing new.
    Keep,
}

impl State {
    /// The page as an address opens it.
    pub fn at(fragment: &str) -> State {
        let mut state = State { prefix: link::view(fragment), ..State::default() };
        state.open(fragment);
        state
    }

    /// Whether an address leads to this page, where others have addresses of the same document.
    pub fn is_at(&self, fragment: &str) -> bool {
        self.prefix == link::view(fragment)
    }

    /// Takes the fields out of an address.
    pub fn open(&mut self, fragment: &str) {
        self.fields = link::read(fragment);
        self.entry = link::write(&self.fields);
        self.touched.clear();
    }

    /// Empties the form.
    pub fn clear(&mut self) {
        self.fields.clear();
        self.touched.clear();
    }

    /// The user types into a field.
    pub fn edit(&mut self, name: &str, value: String) {
        let site_file = &self.site_file;
        put(&mut self.fields, name, value, &|_| last_read(site_file));
        self.said.clear();
    }

    /// The user has been in a field.
    pub fn touch(&mut self, name: &str) {
        self.touched.insert(name.to_owned());
    }

    /// What is in a field: what is written there, or of a list what is chosen.
    pub fn value(&self, field: &FormField) -> String {
        let written = self.fields.get(&field.name).cloned().unwrap_or_default();
        let is_list = matches!(field.kind, FieldKind::Choice(_));
        if is_list && written.is_empty() { field.default.clone() } else { written }
    }

    /// The form's groups of fields.
    pub fn form(&self) -> Vec<FormGroup> {
        form(&self.fields, &|_| last_read(&self.site_file))
    }

    /// Whether a folded group is open: the user opened it, something is written in it, or something is wrong in it.
    pub fn is_unfolded(&self, group: &FormGroup, problems: &[Problem]) -> bool {
        let asks = |field: &FormField| {
            self.fields.get(&field.name).is_some_and(|text| !text.is_empty())
                || !self.problem_at(field, problems).is_empty()
        };
        self.unfolded.contains(group.title) || group.fields.iter().any(asks)
    }

    /// The user opens or closes a folded group.
    pub fn unfold(&mut self, title: &'static str, open: bool) {
        if open {
            self.unfolded.insert(title);
        } else {
            self.unfolded.remove(title);
        }
    }

    /// The script, or everything that is wrong.
    pub fn written(&self) -> Result<Written, Vec<Problem>> {
        write(&self.fields, &|text| self.read(text))
    }

    /// All scripts of this launch: file names and contents.
    pub fn all_scripts(&self) -> Vec<(String, String)> {
        all(&self.fields, &|text| self.read(text))
    }

    /// The command that writes the same script.
    pub fn command(&self) -> String {
        command(&self.fields, &|_| last_read(&self.site_file))
    }

    /// The site file of the user's own that is still to be read. Its reader is a program of its own.
    pub fn site_file_to_read(&self) -> Option<&str> {
        let is_read = |text: &str| self.site_file.as_ref().is_some_and(|(last, _)| last == text);
        own_site(&self.fields).filter(|text| !is_read(text))
    }

    /// A site file was read.
    pub fn site_file_read(&mut self, text: String, site: Result<Site, Problem>) {
        self.site_file = Some((text, site));
    }

    /// What a site file says, once it is read.
    fn read(&self, text: &str) -> Result<Site, Problem> {
        match &self.site_file {
            Some((last, site)) if last == text => site.clone(),
            _ => Err(not_read_yet()),
        }
    }

    /// What is said beside a field. That nothing is written in a field is no problem before the user has been there.
    pub fn problem_at(&self, field: &FormField, problems: &[Problem]) -> String {
        let empty = self.fields.get(&field.name).is_none_or(|text| text.trim().is_empty());
        if field.required && empty && !self.touched.contains(&field.name) {
            return String::new();
        }
        let of_field = problems.iter().filter(|problem| problem.field == field.name);
        let messages = of_field.map(|problem| behind_label(problem.message.clone(), Some(&field.label)));
        messages.collect::<Vec<_>>().join("; ")
    }

    /// What is said aloud of the script.
    pub fn summary(result: &Result<Written, Vec<Problem>>) -> String {
        match result {
            Ok(written) => format!("{}: {} lines.", written.file, written.script.lines().count()),
            Err(problems) if problems.len() == 1 => "1 field to complete or correct.".to_owned(),
            Err(problems) => format!("{} fields to complete or correct.", problems.len()),
        }
    }

    /// The present fields as a fragment, `#` included.
    pub fn fragment(&self) -> String {
        self.with_prefix(&link::write(&self.fields))
    }

    /// What the history has to be told: a new entry for what is finished.
    pub fn entry(&mut self, finished: bool) -> Entry {
        let now = link::write(&self.fields);
        if !finished {
            return Entry::Replace(self.with_prefix(&now));
        }
        if self.entry == now {
            return Entry::Keep;
        }
        let before = std::mem::replace(&mut self.entry, now);
        Entry::Push(self.with_prefix(&before), self.fragment())
    }

    fn with_prefix(&self, fields: &str) -> String {
        format!("#{}{fields}", self.prefix)
    }

    /// The targets, with their labels.
    pub fn targets(&self) -> Vec<(String, String)> {
        let field = self.form().into_iter().flat_map(|group| group.fields).find(|field| field.name == "target");
        match field.map(|field| field.kind) {
            Some(FieldKind::Choice(targets)) => targets,
            _ => Vec::new(),
        }
    }

    /// The target that the user's own script is for.
    pub fn own_target(&self) -> Target {
        let of_form = || self.fields.get("target").and_then(|name| target_named(name));
        self.own.target.or_else(of_form).unwrap_or_default()
    }

    /// The user says which target the script is for.
    pub fn choose_own_target(&mut self, name: &str) {
        self.own.target = target_named(name);
    }

    /// The user's own script and its target, when they are still to be checked. What checks is a program of its own.
    pub fn script_to_check(&self) -> Option<(String, Target)> {
        let (text, target) = (&self.own.text, self.own_target());
        let is_checked = self.own.checked.as_ref().is_some_and(|last| last.text == *text && last.target == target);
        (!text.trim().is_empty() && !is_checked).then(|| (text.clone(), target))
    }

    /// A script was checked.
    pub fn script_checked(&mut self, text: String, target: Target, found: Result<Linted, String>) {
        self.own.checked = Some(Checked { text, target, found });
    }

    /// What is wrong with the user's own script, as it was checked last; nothing while there is none.
    pub fn linted(&self) -> Option<Result<Linted, String>> {
        let last = self.own.checked.as_ref().filter(|_| !self.own.text.trim().is_empty())?;
        Some(last.found.clone())
    }

    /// The user types into the script. What was typed since a fix would be lost if that were undone.
    pub fn type_own(&mut self, text: String) {
        (self.own.text, self.own.before_fix) = (text, None);
    }

    /// Fixes the lines that have one right answer.
    pub fn fix_own(&mut self) {
        // What was typed since the check would be lost.
        let is_fresh = self.script_to_check().is_none();
        let Some(Ok(Linted { fixed, .. })) = self.linted().filter(|_| is_fresh) else { return };
        self.own.before_fix = Some(std::mem::replace(&mut self.own.text, fixed));
    }

    /// Whether there is a fix to undo.
    pub fn is_fixed(&self) -> bool {
        self.own.before_fix.is_some()
    }

    /// Undoes the fix.
    pub fn unfix_own(&mut self) {
        if let Some(before) = self.own.before_fix.take() {
            self.own.text = before;
        }
    }
}

/// A problem's message without the field's label at its end: on the page the label stands beside it.
pub fn behind_label(message: String, label: Option<&str>) -> String {
    let bare = label.and_then(|label| message.strip_suffix(label)?.strip_suffix(": "));
    bare.map(str::to_owned).unwrap_or(message)
}

/// What the form goes by while a changed site file is read: what it said before. No script is written of that.
fn last_read(site_file: &Option<(String, Result<Site, Problem>)>) -> Result<Site, Problem> {
    site_file.as_ref().map_or_else(|| Err(not_read_yet()), |(_, site)| site.clone())
}

fn not_read_yet() -> Problem {
    Problem { field: "site-file".to_owned(), message: "is being read".to_owned() }
}

fn target_named(name: &str) -> Option<Target> {
    Target::named(name)
}

/// A line that a fix changes: its number from 1, as it is, and as it becomes.
pub type FixedLine = (usize, String, String);

/// The lines that a fix changes.
pub fn fixed_lines(linted: &Linted) -> Vec<FixedLine> {
    let text = |lines: &[String]| lines.concat().trim_end_matches(['\r', '\n']).to_owned();
    let of_hunk = |hunk: &Hunk| match hunk.old.len() == hunk.new.len() {
        true => {
            let pairs = hunk.old.iter().zip(&hunk.new).enumerate();
            pairs
                .map(|(at, (old, new))| {
                    (hunk.line + at, text(std::slice::from_ref(old)), text(std::slice::from_ref(new)))
                })
                .collect()
        }
        // Lines that were put in or taken out stand at the line in front of them.
        false => vec![(hunk.line.max(1), text(&hunk.old), text(&hunk.new))],
    };
    linted.hunks.iter().flat_map(of_hunk).collect::<Vec<FixedLine>>()
}

/// A line of a text as the browser selects it: where it starts, and where it ends, in units of UTF-16.
pub fn units_of_line(text: &str, line: usize) -> (u32, u32) {
    let units = |text: &str| u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
    let before: String = text.split_inclusive('\n').take(line.saturating_sub(1)).collect();
    let start = units(&before);
    (start, start + text.lines().nth(line.saturating_sub(1)).map_or(0, units))
}

#[cfg(test)]
mod tests;
