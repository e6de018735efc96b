//! Stepping from change to change, through all files of the project.

use crate::port::state::rows::{Layout, Row};
use crate::port::state::{Jump, State};

/// The position of the reader.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// The row of the last step.
    row: Option<usize>,
    /// Whether the last step led to another file, whose rows are not there yet.
    enters: bool,
    /// The position of the last step: `3 of 14`.
    pub said: String,
}

/// The destination of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A row of the current file.
    Row(usize),
    /// Another file.
    File(usize),
    /// None: after the last change or before the first.
    Nowhere,
}

impl Steps {
    /// The position in a file that was just opened, by a step or otherwise.
    pub(super) fn entering(enters: bool) -> Steps {
        Steps { enters, ..Steps::default() }
    }
}

impl State {
    /// The row of the next change below a scroll position, or of the previous one; otherwise the file that has it. Sets
    /// the position among the changes of all files.
    pub fn stepped(&mut self, layout: &Layout, top: f64, forward: bool) -> Step {
        let heads: Vec<usize> = layout.heads().collect();
        let last = self.steps.row.filter(|row| heads.contains(row) && layout.is_near(*row, top));
        let row = match (last, forward) {
            (None, true) if self.steps.enters || top < 1.0 => heads.first().copied(),
            (None, false) if self.steps.enters => heads.last().copied(),
            (Some(last), true) => heads.iter().copied().find(|row| *row > last),
            (Some(last), false) => heads.iter().copied().rev().find(|row| *row < last),
            (None, _) => layout.step(top, forward),
        };
        if let (None, Some(file)) = (row, self.changed_beyond(forward)) {
            return Step::File(file);
        }
        let all = self.totals().0;
        self.steps.said = match row {
            Some(row) if matches!(layout.rows[row], Row::Ghost(_)) => "Rejected".to_owned(),
            Some(row) => {
                let is_change = |head: &&usize| matches!(layout.rows[**head], Row::Head(_));
                let before = heads.iter().take_while(|head| **head < row).filter(is_change).count();
                format!("{} of {all}", self.changes_before() + before + 1)
            }
            None if all == 0 => "No changes".to_owned(),
            None if forward => format!("Last of {all}"),
            None => format!("First of {all}"),
        };
        (self.steps.row, self.steps.enters) = (row.or(last), false);
        row.map_or(Step::Nowhere, Step::Row)
    }

    /// The next or previous file that the port changes.
    pub fn changed_beyond(&self, forward: bool) -> Option<usize> {
        let is_changed = |index: &usize| self.outcome_of(*index).is_some_and(|file| file.hunks > 0);
        match forward {
            true => (self.selected + 1..self.files.len()).find(is_changed),
            false => (0..self.selected).rfind(is_changed),
        }
    }

    /// The number of changes in the files before the current one.
    fn changes_before(&self) -> usize {
        (0..self.selected).map(|index| self.outcome_of(index).map_or(0, |file| file.hunks)).sum()
    }

    /// Whether the current file has no changes.
    pub fn has_no_step(&self) -> bool {
        self.outcome_of(self.selected).is_some_and(|file| file.hunks == 0)
    }

    /// Scrolls to the next change, or to the previous one.
    pub fn step(&mut self, forward: bool) {
        self.jump_to(if forward { Jump::Next } else { Jump::Previous });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::protocol::{FileOutcome, Outcome};
    use crate::port::state::Engine;
    use python::SourceFile;
    use std::sync::Arc;

    /// A project of three files with two, no and one changes.
    fn ported() -> State {
        let mut state = State { engine: Engine::Ready, ..State::default() };
        let paths = ["a.py", "b.py", "c.py"];
        state.open(paths.map(|path| SourceFile { path: path.into(), text: "x\n".into() }).into());
        let file = |(path, hunks): (&str, usize)| FileOutcome { path: path.into(), hunks, ..FileOutcome::default() };
        let files = paths.into_iter().zip([2, 0, 1]).map(file).collect();
        state.set_outcome(Some(Arc::new(Outcome { files, ..Outcome::default() })));
        state
    }

    fn layout(heads: usize) -> Layout {
        let same = |line: usize| Row::Same { old: line as u32, new: line as u32 };
        let rows: Vec<Row> = (0..heads).flat_map(|head| [Row::Head(head), same(head)]).collect();
        let tops = (0..=rows.len() as u32).map(|row| row * 600).collect();
        Layout { rows, tops }
    }

    #[test]
    fn steps_go_on_in_the_next_file_and_count_all_changes() {
        let mut state = ported();
        let (two, one) = (layout(2), layout(1));
        assert_eq!((state.stepped(&two, 0.0, true), state.steps.said.as_str()), (Step::Row(0), "1 of 3"));
        assert_eq!((state.stepped(&two, 0.0, true), state.steps.said.as_str()), (Step::Row(2), "2 of 3"));
        assert_eq!(state.stepped(&two, 1200.0, true), Step::File(2), "the file between has no change");
        state.step(true);
        state.select(2);
        assert_eq!((state.stepped(&one, 0.0, true), state.steps.said.as_str()), (Step::Row(0), "3 of 3"));
        assert_eq!((state.stepped(&one, 0.0, true), state.steps.said.as_str()), (Step::Nowhere, "Last of 3"));
        assert_eq!(state.stepped(&one, 0.0, false), Step::File(0));
        state.step(false);
        state.select(0);
        assert_eq!((state.stepped(&two, 0.0, false), state.steps.said.as_str()), (Step::Row(2), "2 of 3"));
        state.stepped(&two, 1200.0, false);
        assert_eq!((state.stepped(&two, 0.0, false), state.steps.said.as_str()), (Step::Nowhere, "First of 3"));
    }

    #[test]
    fn another_port_is_counted_anew() {
        let mut state = ported();
        state.stepped(&layout(2), 0.0, true);
        assert_eq!(state.steps.said, "1 of 3");
        state.set_outcome(None);
        assert_eq!(state.steps, Steps::default());
        state.stepped(&layout(0), 0.0, true);
        assert_eq!(state.steps.said, "No changes");
    }
}
