//! What remains to be done by hand: every message of the port, grouped so that each explanation is shown once.

use crate::port::protocol::FileOutcome;
use crate::port::state::{State, needs_person};
use crate::shared::text::hash_of;
use codemod::{Diagnostic, Severity};

/// How entries are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// By what has to be done.
    #[default]
    Recipe,
    /// By file.
    File,
}

/// The view options of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Look {
    /// The grouping.
    pub grouping: Grouping,
    /// Show only entries that contain this text.
    pub filter: String,
    /// Show only entries that are not ticked.
    pub open_only: bool,
}

/// One location, and what has to be done there.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Entry {
    /// A key that stays the same as long as the line, the message and the file do.
    pub key: u64,
    /// Number of the file.
    pub file: usize,
    /// Its path.
    pub path: String,
    /// Line of the ported text, counted from 1, to which the entry links. The line shown is the source's.
    pub line: usize,
    /// Line and column of the source, counted from 1.
    pub source: (usize, usize),
    /// The line of the source, without its indentation.
    pub code: String,
    /// Its severity.
    pub severity: Severity,
    /// The recipe whose section is the help.
    pub recipe: String,
    /// The problem and the solution.
    pub message: String,
}

/// Entries that belong together.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Group {
    /// What they have in common: the title of a recipe, or a path.
    pub title: String,
    /// The recipe, if it is in a guide.
    pub recipe: Option<String>,
    /// The highest severity among them.
    pub severity: Severity,
    /// The message, if it is the same for all of them.
    pub message: Option<String>,
    /// The entries, the main program's first: number of the file, and of the message.
    pub entries: Vec<(usize, usize)>,
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
    /// The groups, by decreasing severity. [`State::entry`] reads the contents only for those that are visible: there
    /// may be thousands.
    pub fn todo(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        // The key of a group: a recipe or a file.
        let mut known: Vec<(&str, Severity, usize)> = Vec::new();
        for at in self.entries().filter(|at| self.is_wanted(*at)) {
            let Some((file, message)) = self.message(at) else { continue };
            let by_file = self.todo.grouping == Grouping::File;
            let key = if by_file { file.path.as_str() } else { message.recipe.as_str() };
            let place = known.iter().rev().find(|(of, severity, _)| *of == key && *severity == message.severity);
            let place = place.map(|(.., place)| *place).unwrap_or_else(|| {
                let recipe = self.recipe(&message.recipe).filter(|_| !by_file);
                let title = match recipe {
                    Some(recipe) => recipe.title.as_str(),
                    None if by_file => file.path.as_str(),
                    None => engine_title(&message.recipe),
                };
                let same = groups.iter().position(|group| group.title == title && group.severity == message.severity);
                known.push((key, message.severity, same.unwrap_or(groups.len())));
                if same.is_none() {
                    groups.push(Group {
                        title: title.to_owned(),
                        recipe: recipe.map(|recipe| recipe.id.clone()),
                        severity: message.severity,
                        message: None,
                        entries: Vec::new(),
                    });
                }
                same.unwrap_or(groups.len() - 1)
            });
            groups[place].entries.push(at);
        }
        for group in &mut groups {
            let said = |at: &(usize, usize)| self.message(*at).map(|(_, message)| &message.message);
            let first = group.entries.first().and_then(said);
            let same = group.entries.len() > 1 && group.entries.iter().all(|at| said(at) == first);
            let told = |message: &String| match group.recipe {
                Some(_) => behind_title(message, &group.title).to_owned(),
                None => message.clone(),
            };
            group.message = first.filter(|_| same).map(told);
        }
        // Inserted one by one: the library's sort is a large part of a page's module.
        let mut ordered: Vec<Group> = Vec::with_capacity(groups.len());
        for group in groups {
            ordered.insert(ordered.partition_point(|other| other.severity <= group.severity), group);
        }
        ordered
    }

    /// All messages, the main program's first: number of the file, and of the message.
    fn entries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let files = self.outcome.as_ref().map_or(&[][..], |outcome| &outcome.files);
        let program = self.outcome.as_ref().and_then(|outcome| outcome.program);
        let others = (0..files.len()).filter(move |file| Some(*file) != program);
        let order = program.into_iter().chain(others);
        order.flat_map(|file| (0..files.get(file).map_or(0, |file| file.diagnostics.len())).map(move |at| (file, at)))
    }

    fn message(&self, (file, at): (usize, usize)) -> Option<(&FileOutcome, &Diagnostic)> {
        let file = self.outcome_of(file)?;
        Some((file, file.diagnostics.get(at)?))
    }

    /// Whether the list shows a message.
    fn is_wanted(&self, at: (usize, usize)) -> bool {
        let Look { filter, open_only, .. } = &self.todo;
        if filter.is_empty() && !open_only {
            return true;
        }
        let Some(Entry { key, path, code, message, recipe, .. }) = self.entry(at) else { return false };
        let text = format!("{path}\n{code}\n{message}\n{}", self.title(&recipe));
        text.to_lowercase().contains(&filter.to_lowercase()) && !(*open_only && self.ticked.contains(&key))
    }

    /// A message as an entry of the list.
    pub fn entry(&self, at: (usize, usize)) -> Option<Entry> {
        let (FileOutcome { path, .. }, d) = self.message(at)?;
        let line = self.files.get(at.0).map(|file| file.lines.line(d.original.line.saturating_sub(1)));
        let code = line.unwrap_or_default().trim().to_owned();
        Some(Entry {
            key: hash_of(&(path, &code, &d.recipe, &d.message)),
            file: at.0,
            path: path.to_owned(),
            line: d.ported.line,
            source: (d.original.line, d.original.column),
            code,
            severity: d.severity,
            recipe: d.recipe.clone(),
            message: match self.todo.grouping {
                Grouping::Recipe => behind_title(&d.message, &self.title(&d.recipe)).to_owned(),
                Grouping::File => d.message.clone(),
            },
        })
    }

    /// Ticks or unticks an entry.
    pub fn tick(&mut self, key: u64, done: bool) {
        self.edits += 1;
        if done {
            self.ticked.insert(key);
        } else {
            self.ticked.remove(&key);
        }
    }

    /// The number of messages that require action, and of those that are ticked.
    pub fn progress(&self) -> (usize, usize) {
        let wanting = self.entries().filter(|at| self.message(*at).is_some_and(|(_, d)| needs_person(d)));
        let is_done = |at: (usize, usize)| self.entry(at).is_some_and(|entry| self.ticked.contains(&entry.key));
        wanting.fold((0, 0), |(all, done), at| (all + 1, done + usize::from(!self.ticked.is_empty() && is_done(at))))
    }
}

/// A message without its recipe's title, which is shown above it.
fn behind_title<'a>(message: &'a str, title: &str) -> &'a str {
    message.strip_prefix(title).and_then(|rest| rest.strip_prefix(". ")).unwrap_or(message)
}

/// A title for the engine's own messages.
pub(super) fn engine_title(id: &str) -> &'static str {
    match id.strip_prefix("engine#") {
        Some("syntax") => "Syntax errors",
        Some("annotation") => "Comments at open places",
        Some("residue" | "cuda-software") => "References to CUDA and NVIDIA",
        _ => "Other messages",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::protocol::Outcome;
    use crate::port::state::Engine;
    use codemod::Span;
    use python::SourceFile;
    use std::sync::Arc;

    fn message(line: usize, severity: Severity, recipe: &str, message: &str) -> Diagnostic {
        let place = Span { line, column: 1, end_line: line, end_column: 2, cell: None };
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
        let first = ported().entry(groups[0].entries[0]).unwrap();
        assert_eq!((first.path.as_str(), first.code.as_str(), first.line), ("train.py", "d", 2));
    }

    #[test]
    fn a_title_is_not_repeated_below_itself() {
        let check = |message: &str, expected: &str| assert_eq!(behind_title(message, "Run sections"), expected);
        check("Run sections. They update the weights.", "They update the weights.");
        check("Run sections instead.", "Run sections instead.");
        check("Run sections", "Run sections");
    }

    #[test]
    fn entries_are_filtered_and_ticked_off() {
        let mut state = ported();
        assert_eq!(state.progress(), (2, 0));
        let key = state.entry(state.todo()[0].entries[0]).unwrap().key;
        state.tick(key, true);
        assert_eq!(state.progress(), (2, 1));
        state.todo.open_only = true;
        assert_eq!(state.todo()[0].entries.len(), 1);
        state.todo.filter = "MODEL".to_owned();
        assert!(state.todo().iter().flat_map(|group| &group.entries).all(|(file, _)| *file == 0));
        state.todo = Look { grouping: Grouping::File, ..Look::default() };
        assert_eq!(state.todo()[0].title, "train.py");
    }
}
