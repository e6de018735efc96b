//! Finding text in the current file, including rows that are folded or not visible and so have no elements.

use crate::port::state::{Jump, State, View};

/// A line of the diff that matches, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// A line of the original that the port no longer has.
    Removed(u32),
    /// A line of the port.
    New(u32),
}

/// The state of the search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Find {
    /// Whether its field is shown.
    pub is_open: bool,
    /// The text.
    pub text: String,
    /// The position of the current match: `3 of 14`.
    pub said: String,
    at: Option<Line>,
}

impl State {
    /// Shows or hides the field.
    pub fn open_find(&mut self, open: bool) {
        self.find = Find { is_open: open, text: std::mem::take(&mut self.find.text), ..Find::default() };
    }

    /// Searches for another text, from the top.
    pub fn find(&mut self, text: String) {
        self.find = Find { is_open: true, text, ..Find::default() };
        self.find_next(true);
    }

    /// Goes to the next line with the text, or to the previous one; the first follows the last.
    pub fn find_next(&mut self, forward: bool) {
        let lines = self.view.as_ref().map(|view| lines_with(view, &self.find.text)).unwrap_or_default();
        let count = lines.len();
        if count == 0 {
            self.find.said = if self.find.text.is_empty() { String::new() } else { "Not found".to_owned() };
            return;
        }
        let last = self.find.at.and_then(|at| lines.iter().position(|line| *line == at));
        let place = match (last, forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(last), true) => (last + 1) % count,
            (Some(last), false) => (last + count - 1) % count,
        };
        self.find.said = format!("{} of {count}", place + 1);
        self.find.at = Some(lines[place]);
        self.jump_to(Jump::Found(lines[place]));
    }
}

/// The lines of a diff that contain a text, from top to bottom. Case matters if the text has capitals.
fn lines_with(view: &View, text: &str) -> Vec<Line> {
    if text.is_empty() {
        return Vec::new();
    }
    let exact = text.chars().any(char::is_uppercase);
    let holds = |line: &str| if exact { line.contains(text) } else { line.to_lowercase().contains(text) };
    let mut found = Vec::new();
    let mut from = 0;
    for hunk in &view.shown.diff.hunks {
        found.extend((from..hunk.new_start).map(Line::New));
        found.extend((hunk.old_start..hunk.old_end).map(Line::Removed));
        from = hunk.new_start;
    }
    found.extend((from..view.new.len() as u32).map(Line::New));
    found.retain(|line| match line {
        Line::Removed(line) => holds(view.old.line(*line as usize)),
        Line::New(line) => holds(view.new.line(*line as usize)),
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::protocol::Shown;
    use crate::port::state::lines::Lines;
    use codemod::diff_texts;
    use std::sync::Arc;

    fn state(old: &str, new: &str) -> State {
        let diff = diff_texts(old, new, &[]);
        let lines = |text: &str| Lines::new(text.into());
        let shown = Shown { index: 0, diff };
        let view = View {
            serial: 1,
            shown,
            old: lines(old),
            new: lines(new),
            old_colours: Default::default(),
            new_colours: Default::default(),
        };
        State { view: Some(Arc::new(view)), ..State::default() }
    }

    /// Where each step goes, and the position that is displayed.
    fn steps(state: &mut State, text: &str, steps: &[bool]) -> Vec<(Line, String)> {
        state.find(text.to_owned());
        let mut out = Vec::new();
        let mut note = |state: &State| {
            let line = match state.jump {
                Some((_, Jump::Found(line))) => line,
                _ => panic!("no place was found"),
            };
            out.push((line, state.find.said.clone()));
        };
        note(state);
        for forward in steps {
            state.find_next(*forward);
            note(state);
        }
        out
    }

    #[test]
    fn each_line_is_found_once_from_top_to_bottom() {
        let far = "pass\n".repeat(100);
        let (old, new) =
            (format!("import a\n{far}x.cuda()\n{far}Cuda\n"), format!("import a\n{far}x.to(d)\n{far}Cuda\n"));
        let mut state = state(&old, &new);
        let said = |n: u32| format!("{n} of 2");
        assert_eq!(
            steps(&mut state, "cuda", &[true, true, false]),
            [
                (Line::Removed(101), said(1)),
                (Line::New(202), said(2)),
                (Line::Removed(101), said(1)),
                (Line::New(202), said(2)),
            ]
        );
        assert_eq!(steps(&mut state, "Cuda", &[]), [(Line::New(202), "1 of 1".to_owned())]);
    }

    #[test]
    fn what_is_not_there_is_said() {
        let mut state = state("a\n", "b\n");
        state.find("c".to_owned());
        assert_eq!((state.find.said.as_str(), &state.jump), ("Not found", &None));
        state.find(String::new());
        assert_eq!(state.find.said, "");
    }
}
