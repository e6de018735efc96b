//! What is left for a person: every message of the port, grouped so that one explanation stands once.

use crate::port::state::State;
use codemod::{Diagnostic, Severity};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How entries are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// By what is to be done.
    #[default]
    Recipe,
    /// By file.
    File,
}

/// How the list is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// How it is grouped.
    pub grouping: Grouping,
    /// Only entries that hold this text.
    pub filter: String,
    /// Only entries that are not ticked off.
    pub open_only: bool,
}

/// One place and what is to be done there.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Entry {
    /// Stays the same while the line, the message and the file do.
    pub key: u64,
    /// Number of the file.
    pub file: usize,
    /// Its path.
    pub path: String,
    /// Line of the ported text, from 1.
    pub line: usize,
    /// Line and column of the source, from 1.
    pub source: (usize, usize),
    /// The line of the source, without its indentation.
    pub code: String,
    /// How grave it is.
    pub severity: Severity,
    /// The recipe whose section is the help.
    pub recipe: String,
    /// What is the matter and what to do.
    pub message: String,
    /// Ticked off.
    pub ticked: bool,
}

/// Entries that belong together.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Group {
    /// What they have in common: the title of a recipe, or a path.
    pub title: String,
    /// The recipe, where it is one that a guide has.
    pub recipe: Option<String>,
    /// The gravest of them.
    pub severity: Severity,
    /// What all of them say, where they say the same.
    pub message: Option<String>,
    /// The entries, the program's own first.
    pub entries: Vec<Entry>,
}

/// A heading above groups of one severity.
pub fn heading(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "Could not be ported",
        Severity::Warning => "To do before running",
        Severity::Info => "Worth knowing",
        Severity::Hint => "Optional improvements",
    }
}

impl State {
    /// The groups, the gravest first.
    pub fn todo(&self) -> Vec<Group> {
        let wanted = self.todo.filter.to_lowercase();
        let fits = |entry: &Entry| {
            let text = || format!("{}\n{}\n{}\n{}", entry.path, entry.code, entry.message, self.title(&entry.recipe));
            let found = wanted.is_empty() || text().to_lowercase().contains(&wanted);
            found && !(self.todo.open_only && entry.ticked)
        };
        let mut groups: Vec<Group> = Vec::new();
        for entry in self.entries().into_iter().filter(fits) {
            let (title, recipe) = match self.todo.grouping {
                Grouping::File => (entry.path.clone(), None),
                Grouping::Recipe => match self.recipe(&entry.recipe) {
                    Some(recipe) => (recipe.title.clone(), Some(recipe.id.clone())),
                    None => (engine_title(&entry.recipe).to_owned(), None),
                },
            };
            match groups.iter_mut().find(|group| group.title == title && group.severity == entry.severity) {
                Some(group) => group.entries.push(entry),
                None => {
                    groups.push(Group { title, recipe, severity: entry.severity, message: None, entries: vec![entry] });
                }
            }
        }
        for group in &mut groups {
            let first = group.entries[0].message.clone();
            let same = group.entries.iter().all(|entry| entry.message == first);
            group.message = Some(first).filter(|_| same && group.entries.len() > 1);
        }
        groups.sort_by_key(|group| group.severity);
        groups
    }

    /// Every message, the program's own first.
    fn entries(&self) -> Vec<Entry> {
        let Some(outcome) = &self.outcome else { return Vec::new() };
        let mut entries: Vec<Entry> = Vec::new();
        for (index, file) in outcome.files.iter().enumerate() {
            entries.extend(file.diagnostics.iter().map(|d| self.entry(index, &file.path, d)));
        }
        let rank = |entry: &Entry| (Some(entry.file) != outcome.program, entry.file, entry.line);
        entries.sort_by_key(rank);
        entries
    }

    fn entry(&self, file: usize, path: &str, d: &Diagnostic) -> Entry {
        let line = self.files.get(file).map(|file| file.lines.line(d.original.line.saturating_sub(1)));
        let code = line.unwrap_or_default().trim().to_owned();
        let mut hasher = DefaultHasher::new();
        (path, &code, &d.recipe, &d.message).hash(&mut hasher);
        let key = hasher.finish();
        Entry {
            key,
            file,
            path: path.to_owned(),
            line: d.ported.line,
            source: (d.original.line, d.original.column),
            code,
            severity: d.severity,
            recipe: d.recipe.clone(),
            message: d.message.clone(),
            ticked: self.ticked.contains(&key),
        }
    }

    /// Ticks an entry off, or not any more.
    pub fn tick(&mut self, key: u64, done: bool) {
        self.edits += 1;
        if done {
            self.ticked.insert(key);
        } else {
            self.ticked.remove(&key);
        }
    }

    /// How many messages want a person, and how many of them are ticked off.
    pub fn progress(&self) -> (usize, usize) {
        let wanting = self.entries().into_iter().filter(|entry| entry.severity <= Severity::Warning);
        wanting.fold((0, 0), |(all, done), entry| (all + 1, done + usize::from(entry.ticked)))
    }
}

/// A title for the engine's own messages.
fn engine_title(id: &str) -> &'static str {
    match id.strip_prefix("engine#") {
        Some("syntax") => "Syntax errors",
        Some("residue") => "References to CUDA and NVIDIA",
        _ => "Other messages",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::protocol::{FileOutcome, Outcome};
    use crate::port::state::Engine;
    use codemod::Span;
    use python::SourceFile;
    use std::sync::Arc;

    fn message(line: usize, severity: Severity, recipe: &str, message: &str) -> Diagnostic {
        let place = Span { line, column: 1, end_line: line, end_column: 2 };
        let (recipe, message) = (recipe.to_owned(), message.to_owned());
        Diagnostic { original: place, ported: place, severity, recipe, message, stops_step: false }
    }

    fn ported() -> State {
        let file = |path: &str, text: &str| SourceFile { path: path.into(), text: text.into() };
        let mut state = State { engine: Engine::Ready, ..State::default() };
        state.open(vec![file("model.py", "a\nb\n"), file("train.py", "c\n  d\n")]);
        let outcome =
            |path: &str, diagnostics| FileOutcome { path: path.into(), diagnostics, ..FileOutcome::default() };
        let files = vec![
            outcome(
                "model.py",
                vec![
                    message(1, Severity::Warning, "x#cuda", "Remove it."),
                    message(2, Severity::Info, "x#note", "Note."),
                ],
            ),
            outcome("train.py", vec![message(2, Severity::Warning, "x#cuda", "Remove it.")]),
        ];
        state.set_outcome(Some(Arc::new(Outcome { files, program: Some(1), ..Outcome::default() })));
        state
    }

    #[test]
    fn one_explanation_stands_once_and_the_program_comes_first() {
        let groups = ported().todo();
        assert_eq!(
            groups.iter().map(|group| (group.severity, group.entries.len())).collect::<Vec<_>>(),
            [(Severity::Warning, 2), (Severity::Info, 1)]
        );
        assert_eq!(groups[0].message.as_deref(), Some("Remove it."));
        assert_eq!(groups[1].message, None);
        let first = &groups[0].entries[0];
        assert_eq!((first.path.as_str(), first.code.as_str(), first.line), ("train.py", "d", 2));
    }

    #[test]
    fn entries_are_filtered_and_ticked_off() {
        let mut state = ported();
        assert_eq!(state.progress(), (2, 0));
        let key = state.todo()[0].entries[0].key;
        state.tick(key, true);
        assert_eq!(state.progress(), (2, 1));
        state.todo.open_only = true;
        assert_eq!(state.todo()[0].entries.len(), 1);
        state.todo.filter = "MODEL".to_owned();
        assert!(state.todo().iter().flat_map(|group| &group.entries).all(|entry| entry.path == "model.py"));
        state.todo = Look { grouping: Grouping::File, ..Look::default() };
        assert_eq!(state.todo()[0].title, "train.py");
    }
}
