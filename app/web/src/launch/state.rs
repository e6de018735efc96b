//! The page's data, in one struct. It has no elements and events; what a control does is a method.

use crate::shared::launch_link as link;
use launch::form::{FieldKind, Fields, FormField, FormGroup, Written, all, command, form, own_site, put, write};
use launch::{Hunk, Linted, Problem, Site, Target};
use sorting::SortedSet;

/// All data.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The contents of the form.
    pub fields: Fields,
    /// The user's own site file that was read last, and its contents.
    site_file: Option<(String, Result<Site, Problem>)>,
    /// Fields that the user has visited: an empty required one is not a problem before that.
    touched: SortedSet<String>,
    /// The collapsed groups that the user opened, by title.
    unfolded: SortedSet<&'static str>,
    /// The prefix of the page's fragments.
    prefix: &'static str,
    /// The fields in the latest entry of the browser's history.
    entry: String,
    /// The user's own script.
    pub own: OwnScript,
    /// The outcome of the user's last action.
    pub said: String,
}

/// A user's own script to check.
#[derive(Clone, Debug, Default)]
pub struct OwnScript {
    /// Its text.
    pub text: String,
    /// The target selected for it; initially the form's.
    target: Option<Target>,
    /// The text before its lines were fixed.
    before_fix: Option<String>,
    /// The result of the last check, or why it could not be checked.
    checked: Option<Checked>,
}

#[derive(Clone, Debug)]
struct Checked {
    text: String,
    target: Target,
    found: Result<Linted, String>,
}

/// The change to the browser's history for new field values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// An edit is in progress: the current entry changes.
    Replace(String),
    /// The current entry is set to the first value, and a new entry with the second follows it.
    Push(String, String),
    /// No change.
    Keep,
}

impl State {
    /// The page for an address.
    pub fn at(fragment: &str) -> State {
        let mut state = State { prefix: link::view(fragment), ..State::default() };
        state.open(fragment);
        state
    }

    /// Whether an address belongs to this page, if other pages have addresses of the same document.
    pub fn is_at(&self, fragment: &str) -> bool {
        self.prefix == link::view(fragment)
    }

    /// Reads the fields from an address.
    pub fn open(&mut self, fragment: &str) {
        self.fields = link::read(fragment);
        self.entry = link::write(&self.fields);
        self.touched.clear();
    }

    /// Clears the form.
    pub fn clear(&mut self) {
        self.fields.clear();
        self.touched.clear();
    }

    /// Sets the value of a field.
    pub fn edit(&mut self, name: &str, value: String) {
        let site_file = &self.site_file;
        put(&mut self.fields, name, value, &|_| last_read(site_file));
        self.said.clear();
    }

    /// Marks a field as visited.
    pub fn touch(&mut self, name: &str) {
        self.touched.insert(name.to_owned());
    }

    /// The value of a field: its text, or the selected entry of a list.
    pub fn value(&self, field: &FormField) -> String {
        let written = self.fields.get(&field.name).cloned().unwrap_or_default();
        let is_list = matches!(field.kind, FieldKind::Choice(_));
        if is_list && written.is_empty() { field.default.clone() } else { written }
    }

    /// The form's groups of fields.
    pub fn form(&self) -> Vec<FormGroup> {
        form(&self.fields, &|_| last_read(&self.site_file))
    }

    /// Whether a collapsed group is open: the user opened it, one of its fields has a value, or one has a problem.
    pub fn is_unfolded(&self, group: &FormGroup, problems: &[Problem]) -> bool {
        let asks = |field: &FormField| {
            self.fields.get(&field.name).is_some_and(|text| !text.is_empty())
                || !self.problem_at(field, problems).is_empty()
        };
        self.unfolded.contains(group.title) || group.fields.iter().any(asks)
    }

    /// Opens or closes a collapsed group.
    pub fn unfold(&mut self, title: &'static str, open: bool) {
        if open {
            self.unfolded.insert(title);
        } else {
            self.unfolded.remove(title);
        }
    }

    /// The script, or all problems.
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

    /// The user's own site file, if it has not been read yet. Its reader is a separate program.
    pub fn site_file_to_read(&self) -> Option<&str> {
        let is_read = |text: &str| self.site_file.as_ref().is_some_and(|(last, _)| last == text);
        own_site(&self.fields).filter(|text| !is_read(text))
    }

    /// Stores the contents of a site file.
    pub fn site_file_read(&mut self, text: String, site: Result<Site, Problem>) {
        self.site_file = Some((text, site));
    }

    /// The contents of a site file, once it has been read.
    fn read(&self, text: &str) -> Result<Site, Problem> {
        match &self.site_file {
            Some((last, site)) if last == text => site.clone(),
            _ => Err(not_read_yet()),
        }
    }

    /// The message next to a field. An empty field is not a problem before the user has visited it.
    pub fn problem_at(&self, field: &FormField, problems: &[Problem]) -> String {
        let empty = self.fields.get(&field.name).is_none_or(|text| text.trim().is_empty());
        if field.required && empty && !self.touched.contains(&field.name) {
            return String::new();
        }
        let of_field = problems.iter().filter(|problem| problem.field == field.name);
        let messages = of_field.map(|problem| behind_label(problem.message.clone(), Some(&field.label)));
        messages.collect::<Vec<_>>().join("; ")
    }

    /// The announcement of the script for screen readers.
    pub fn summary(result: &Result<Written, Vec<Problem>>) -> String {
        match result {
            Ok(written) => format!("{}: {} lines.", written.file, written.script.lines().count()),
            Err(problems) if problems.len() == 1 => "1 field to complete or correct.".to_owned(),
            Err(problems) => format!("{} fields to complete or correct.", problems.len()),
        }
    }

    /// The current fields as a fragment, including `#`.
    pub fn fragment(&self) -> String {
        self.with_prefix(&link::write(&self.fields))
    }

    /// The change to the history: a new entry for a finished edit.
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

    /// The target of the user's own script.
    pub fn own_target(&self) -> Target {
        let of_form = || self.fields.get("target").and_then(|name| target_named(name));
        self.own.target.or_else(of_form).unwrap_or_default()
    }

    /// Sets the target of the script.
    pub fn choose_own_target(&mut self, name: &str) {
        self.own.target = target_named(name);
    }

    /// The user's own script and its target, if they have not been checked yet. The checker is a separate program.
    pub fn script_to_check(&self) -> Option<(String, Target)> {
        let (text, target) = (&self.own.text, self.own_target());
        let is_checked = self.own.checked.as_ref().is_some_and(|last| last.text == *text && last.target == target);
        (!text.trim().is_empty() && !is_checked).then(|| (text.clone(), target))
    }

    /// Stores the result of a check.
    pub fn script_checked(&mut self, text: String, target: Target, found: Result<Linted, String>) {
        self.own.checked = Some(Checked { text, target, found });
    }

    /// The problems of the user's own script at the last check; empty if there is none.
    pub fn linted(&self) -> Option<Result<Linted, String>> {
        let last = self.own.checked.as_ref().filter(|_| !self.own.text.trim().is_empty())?;
        Some(last.found.clone())
    }

    /// Sets the script's text. Undoing an earlier fix would lose this edit, so it is no longer possible.
    pub fn type_own(&mut self, text: String) {
        (self.own.text, self.own.before_fix) = (text, None);
    }

    /// Fixes the lines that have only one correct form.
    pub fn fix_own(&mut self) {
        // Edits made since the check would be lost.
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

/// A problem's message without the field's label at its end, because the label is next to it on the page.
pub fn behind_label(message: String, label: Option<&str>) -> String {
    let bare = label.and_then(|label| message.strip_suffix(label)?.strip_suffix(": "));
    bare.map(str::to_owned).unwrap_or(message)
}

/// Used for the form while a changed site file is being read: its previous contents. No script is written from that.
fn last_read(site_file: &Option<(String, Result<Site, Problem>)>) -> Result<Site, Problem> {
    site_file.as_ref().map_or_else(|| Err(not_read_yet()), |(_, site)| site.clone())
}

fn not_read_yet() -> Problem {
    Problem { field: "site-file".to_owned(), message: "is being read".to_owned() }
}

fn target_named(name: &str) -> Option<Target> {
    Target::named(name)
}

/// A line that a fix changes: its number counted from 1, its old text and its new one.
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
        // Inserted or removed lines are shown at the line before them.
        false => vec![(hunk.line.max(1), text(&hunk.old), text(&hunk.new))],
    };
    linted.hunks.iter().flat_map(of_hunk).collect::<Vec<FixedLine>>()
}

/// A line of a text for the browser's selection: its start and end in UTF-16 units.
pub fn units_of_line(text: &str, line: usize) -> (u32, u32) {
    let units = |text: &str| u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
    let before: String = text.split_inclusive('\n').take(line.saturating_sub(1)).collect();
    let start = units(&before);
    (start, start + text.lines().nth(line.saturating_sub(1)).map_or(0, units))
}

#[cfg(test)]
mod tests;
