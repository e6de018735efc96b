//! What the page shows of the last port.

use crate::port::protocol::{FileOutcome, Outcome, Shown};
use crate::port::state::lines::Lines;
use crate::port::state::project::{Kind, kind, not_python};
use crate::port::state::steps::Steps;
use crate::port::state::{Engine, Jump, Run, State};
use crate::shared::text::count;
use codemod::{Diagnostic, Severity};
use python::Highlight;
use std::sync::Arc;

/// The message about a project that has nothing to branch on.
const NO_MODES: &str = "engine#no-compute-modes";

/// A file of the last port, ready for display.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Incremented with every view, for cheap comparison.
    pub serial: u64,
    /// Which file, and its changes.
    pub shown: Shown,
    /// The original on which it is based.
    pub old: Lines,
    /// The ported text.
    pub new: Lines,
    /// Colours of the original.
    pub old_colours: Arc<Highlight>,
    /// Colours of the ported text.
    pub new_colours: Arc<Highlight>,
}

/// The last port of a file that changed something.
#[derive(Clone, Debug)]
pub(super) struct Good {
    path: String,
    file: FileOutcome,
    view: Arc<View>,
}

/// The state of the result pane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// No input.
    Empty,
    /// The engine is being loaded.
    Starting,
    /// The engine is not working.
    Broken(String),
    /// The first port of this input is in progress.
    Working,
    /// The user stopped the port.
    Stopped,
    /// The file can't be ported. Its previous port, if any, is shown.
    Failed {
        /// The reason.
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
    /// Sets a new port, or discards the last one.
    pub fn set_outcome(&mut self, outcome: Option<Arc<Outcome>>) {
        self.outcome = outcome;
        self.ports += 1;
        match self.jump_after_port {
            // After a change was rejected or accepted, the next step continues from there.
            Some(Jump::Edit(_)) => self.steps.said.clear(),
            _ => self.steps = Steps::default(),
        }
    }

    /// Sets the view of the current file.
    pub fn set_view(&mut self, view: View) {
        let view = Arc::new(view);
        if let Some(file) = self.outcome_of(view.shown.index).filter(|file| file.changed).cloned() {
            self.good = Some(Good { path: file.path.clone(), file, view: view.clone() });
        }
        self.view = Some(view);
    }

    /// The port of the current file that is displayed, and whether it is an earlier one: the last one with changes,
    /// while the file does not parse.
    pub fn in_sight(&self) -> Option<(&FileOutcome, &Arc<View>, bool)> {
        let (file, view) = (self.outcome_of(self.selected)?, self.view.as_ref()?);
        // With another style, the previous port would not be comparable.
        let error = |d: &Diagnostic| d.severity == Severity::Error && d.recipe != NO_MODES;
        let failed = !file.changed && file.diagnostics.iter().any(error);
        match self.good.as_ref().filter(|good| failed && good.path == file.path) {
            Some(good) => Some((&good.file, &good.view, true)),
            None => Some((file, view, false)),
        }
    }

    /// Whether the displayed diff is an earlier one.
    pub fn is_stale(&self) -> bool {
        self.in_sight().is_some_and(|(_, _, stale)| stale)
    }

    /// The last port of a file.
    pub fn outcome_of(&self, index: usize) -> Option<&FileOutcome> {
        self.outcome.as_ref()?.files.get(index)
    }

    /// Whether the file is shown without folds.
    pub fn shows_whole(&self) -> bool {
        self.unfolded.iter().any(|range| range.end == u32::MAX)
    }

    /// Unfolds everything, or folds it again.
    pub fn flip_whole(&mut self) {
        let whole = self.shows_whole();
        self.unfolded.clear();
        if !whole {
            self.unfolded.push(0..u32::MAX);
        }
    }

    /// The number of changes, and of messages that require action, in the whole project.
    pub fn totals(&self) -> (usize, usize) {
        let files = || self.outcome.iter().flat_map(|o| &o.files);
        let hunks = files().map(|f| f.hunks).sum();
        (hunks, files().flat_map(|f| &f.diagnostics).filter(|d| needs_person(d)).count())
    }

    /// The state of the result pane for the current file.
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

    /// The message for a file that the port does not change.
    pub fn unchanged(&self) -> String {
        let messages = self.outcome_of(self.selected).map(|file| &file.diagnostics[..]).unwrap_or_default();
        let todo = messages.iter().filter(|d| needs_person(d)).count();
        let path = self.file().map(|file| file.path.as_str()).unwrap_or_default();
        let here = |line: &&String| line.strip_prefix(path).is_some_and(|rest| rest.starts_with(':'));
        let residue = self.outcome.iter().flat_map(|o| &o.residue).filter(here).count();
        let target = self.target_name(&self.choice.target);
        if let Some(what) = self.not_python() {
            return what.to_owned();
        }
        match (todo, residue) {
            (0, 0) if self.has_refused() => format!("No {target} recipe changes this file, given what you turned off."),
            (0, 0) => format!("No {target} recipe changes this file. It contains no CUDA or NVIDIA references."),
            (0, _) => format!("No {target} recipe changes this file, but CUDA or NVIDIA references remain in it."),
            (n, _) => format!("No {target} recipe changes this file automatically: {n} to do by hand."),
        }
    }

    /// Whether the user rejected something that concerns the current file.
    pub fn has_refused(&self) -> bool {
        let path = self.file().map(|file| file.path.as_str()).unwrap_or_default();
        !self.rejected.recipes.is_empty() || self.rejected.edits.iter().any(|edit| edit.path == path)
    }

    /// Advice if the current file is not Python.
    pub fn not_python(&self) -> Option<&'static str> {
        let file =
            self.file().filter(|file| kind(&file.path) != Kind::Configuration && !file.path.ends_with(".txt"))?;
        not_python(file.lines.text())
    }

    /// Whether another style would help: the error has no line in the file.
    pub fn wants_in_place(&self) -> bool {
        let messages = self.outcome_of(self.selected).map(|file| &file.diagnostics[..]).unwrap_or_default();
        messages.iter().any(|message| message.recipe == NO_MODES)
    }

    /// Other files that the port changes: number, path, number of changes.
    pub fn changed_elsewhere(&self) -> Vec<(usize, String, usize)> {
        let files = self.outcome.iter().flat_map(|o| o.files.iter().enumerate());
        files.filter(|(_, file)| file.hunks > 0).map(|(index, file)| (index, file.path.clone(), file.hunks)).collect()
    }

    /// The announcement of the last port for screen readers.
    pub fn spoken(&self) -> String {
        if self.run != Run::Idle {
            return String::new();
        }
        match self.phase() {
            Phase::Changes | Phase::Nothing => self.summary(),
            Phase::Failed { message, line, column } => format!("Line {line}, column {column}: {message}"),
            Phase::Broken(_) => "The engine stopped.".to_owned(),
            _ => String::new(),
        }
    }

    /// A one-line summary of the port.
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
        if !outcome.new_files.is_empty() {
            text += &format!(", new file {}", outcome.new_files.join(", "));
        }
        if needs > 0 {
            text += &format!(", {needs} to do");
        }
        if failed > 0 {
            text += &format!("; {} could not be ported", count(failed, "file"));
        }
        text
    }
}

/// Whether a message requires action before the port runs correctly.
pub fn needs_person(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity <= Severity::Warning
}
