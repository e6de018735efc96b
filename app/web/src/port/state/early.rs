//! What was chosen before the saved work was there: only that is applied over what was saved.

use crate::port::state::{Choice, State};
use codemod::Style;

/// The controls of the bar that were used, with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Early {
    /// Target id.
    pub target: Option<String>,
    /// Port style.
    pub style: Option<Style>,
    /// Whether to apply unsafe edits.
    pub allow_unsafe: Option<bool>,
}

impl Early {
    /// Remembers what the user has just changed.
    fn note(&mut self, before: &Choice, after: &Choice) {
        if before.target != after.target {
            self.target = Some(after.target.clone());
        }
        if before.style != after.style {
            self.style = Some(after.style);
        }
        if before.switches.allow_unsafe != after.switches.allow_unsafe {
            self.allow_unsafe = Some(after.switches.allow_unsafe);
        }
    }

    fn apply(&self, choice: &mut Choice) {
        if let Some(target) = &self.target {
            choice.target.clone_from(target);
        }
        choice.style = self.style.unwrap_or(choice.style);
        choice.switches.allow_unsafe = self.allow_unsafe.unwrap_or(choice.switches.allow_unsafe);
    }
}

impl State {
    /// Applies what was chosen while the page's program was being loaded, also over a target that the address names.
    pub fn choose_early(&mut self, early: Early) {
        self.asked.take_if(|_| early.target.is_some());
        self.early = early;
        self.apply_early();
    }

    pub(super) fn apply_early(&mut self) {
        let early = self.early.clone();
        self.set_choice(&|choice| early.apply(choice));
    }

    /// The choice as it is, as long as the saved work may still come.
    pub(super) fn choice_before_work(&self) -> Option<Choice> {
        (!self.has_begun).then(|| self.choice.clone())
    }

    /// Remembers what was changed since [`State::choice_before_work`].
    pub(super) fn note_early(&mut self, before: Option<Choice>) {
        if let Some(before) = before {
            self.early.note(&before, &self.choice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::state::Switches;
    use python::SourceFile;

    fn saved() -> State {
        let mut saved = State::default();
        saved.open(vec![SourceFile { path: "own.py".into(), text: "z\n".into() }]);
        saved.choose(|choice| {
            choice.target = "xpu".into();
            choice.style = Style::Branch;
            choice.switches = Switches { allow_unsafe: true, annotate: true };
        });
        saved
    }

    #[test]
    fn only_what_was_chosen_early_replaces_what_was_saved() {
        let check = |early: Early, text: &str, change: fn(&mut Choice)| {
            let saved = saved();
            let mut expected = saved.choice.clone();
            change(&mut expected);
            for restored_first in [false, true] {
                let mut state = State::default();
                if restored_first {
                    state.restore(Some(saved.share()), &saved.beside());
                }
                state.choose_early(early.clone());
                if !text.is_empty() {
                    state.open_typed(text);
                }
                if !restored_first {
                    state.restore(Some(saved.share()), &saved.beside());
                }
                assert_eq!(state.choice, expected, "{early:?} {text} {restored_first}");
            }
        };
        for text in ["", "x = 1\n"] {
            check(Early::default(), text, |_| ());
            let early = Early { target: Some("hpu".into()), ..Early::default() };
            check(early, text, |choice| choice.target = "hpu".into());
            let early = Early { style: Some(Style::Auto), ..Early::default() };
            check(early, text, |choice| choice.style = Style::Auto);
            let early = Early { allow_unsafe: Some(false), ..Early::default() };
            check(early, text, |choice| choice.switches.allow_unsafe = false);
        }
    }

    #[test]
    fn an_early_choice_wins_over_the_address() {
        let early = Early { target: Some("ipu".into()), ..Early::default() };
        let asked = |state: &mut State| state.ask_for(Some("xpu".into()), None);
        let mut state = State::default();
        state.choose_early(early.clone());
        asked(&mut state);
        assert_eq!(state.shown_target(), "ipu");
        let mut state = State::default();
        asked(&mut state);
        assert_eq!(state.shown_target(), "xpu");
        state.choose_early(early);
        assert_eq!(state.shown_target(), "ipu");
        // A link that is followed later is a later choice.
        state.has_begun = true;
        asked(&mut state);
        assert_eq!(state.shown_target(), "xpu");
        state.choose_target("ipu");
        assert_eq!(state.shown_target(), "ipu");
    }
}
