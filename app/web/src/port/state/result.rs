//! What the page has to say of the last port.

use crate::port::lines::Lines;
use crate::port::protocol::{FileOutcome, Outcome, Shown};
use crate::port::state::{Engine, Run, State};
use codemod::{Diagnostic, Highlight, Severity};
use std::sync::Arc;

/// A file of the last port, ready for display.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Counts up with every view, so that two are told apart cheaply.
    pub serial: u64,
    /// Which file, and what changed.
    pub shown: Shown,
    /// The original it was made of.
    pub old: Lines,
    /// The ported text.
    pub new: Lines,
    /// Colours of the original.
    pub old_colours: Arc<Highlight>,
    /// Colours of the ported text.
    pub new_colours: Arc<Highlight>,
}

/// What the result pane has to say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// No input.
    Empty,
    /// The engine is being loaded.
    Starting,
    /// The engine does not answer.
    Broken(String),
    /// The first port of this input is under way.
    Working,
    /// The user stopped the port.
    Stopped,
    /// The file can't be ported.
    Failed {
        /// What is wrong.
        message: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// The port changes nothing in this file.
    Nothing,
    /// There are changes.
    Changes,
}

impl State {
    /// A port has come, or is worth nothing any more.
    pub fn set_outcome(&mut self, outcome: Option<Arc<Outcome>>) {
        self.outcome = outcome;
        self.ports += 1;
    }

    /// What the last port says of a file.
    pub fn outcome_of(&self, index: usize) -> Option<&FileOutcome> {
        self.outcome.as_ref()?.files.get(index)
    }

    /// Whether the file is shown without folds.
    pub fn shows_whole(&self) -> bool {
        self.unfolded.iter().any(|range| range.end == u32::MAX)
    }

    /// Folds everything, or nothing.
    pub fn flip_whole(&mut self) {
        let whole = self.shows_whole();
        self.unfolded.clear();
        if !whole {
            self.unfolded.push(0..u32::MAX);
        }
    }

    /// Changed places, and messages that want a person, in the whole project.
    pub fn totals(&self) -> (usize, usize) {
        let files = || self.outcome.iter().flat_map(|o| &o.files);
        let hunks = files().map(|f| f.hunks).sum();
        (hunks, files().flat_map(|f| &f.diagnostics).filter(|d| needs_person(d)).count())
    }

    /// What the result pane has to say of the file shown.
    pub fn phase(&self) -> Phase {
        if let Engine::Broken(why) = &self.engine {
            return Phase::Broken(why.clone());
        }
        if self.is_empty() {
            return Phase::Empty;
        }
        if self.engine == Engine::Starting {
            return Phase::Starting;
        }
        let (Some(file), Some(_)) = (self.outcome_of(self.selected), &self.view) else {
            return if self.run == Run::Stopped { Phase::Stopped } else { Phase::Working };
        };
        if file.changed {
            return Phase::Changes;
        }
        match file.diagnostics.iter().find(|d| d.severity == Severity::Error) {
            Some(error) => Phase::Failed {
                message: error.message.clone(),
                line: error.original.line,
                column: error.original.column,
            },
            None => Phase::Nothing,
        }
    }

    /// The sentence that is announced after a port.
    pub fn summary(&self) -> String {
        let Some(outcome) = &self.outcome else { return String::new() };
        let (changes, needs) = self.totals();
        let failed =
            outcome.files.iter().filter(|f| f.diagnostics.iter().any(|d| d.severity == Severity::Error)).count();
        let changed = outcome.files.iter().filter(|f| f.changed).count();
        let mut text = match (changes, changed) {
            (0, _) => "No changes".to_owned(),
            (n, files) if outcome.files.len() > 1 => format!("{} in {}", count(n, "change"), count(files, "file")),
            (n, _) => count(n, "change"),
        };
        if needs > 0 {
            text += &format!(", {needs} {} you", if needs == 1 { "needs" } else { "need" });
        }
        if failed > 0 {
            text += &format!("; {} could not be ported", count(failed, "file"));
        }
        text
    }
}

/// Whether a message wants a person before the port runs right.
pub fn needs_person(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity <= Severity::Warning
}

/// `1 change`, `2 changes`.
pub fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}
