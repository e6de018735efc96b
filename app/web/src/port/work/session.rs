//! A handle on the page's state, and those actions of its controls that involve the worker.

mod explaining;
mod guides;
mod links;
mod memos;
mod porting;

use crate::port::state::fragment::Share;
use crate::port::state::lines::Splice;
use crate::port::state::{Jump, Notice, Panel, Phase, Run, State, Undo, fragment};
use crate::shared::{browser, tasks};
use leptos::prelude::*;
use porting::Flight;
use python::SourceFile;

/// Milliseconds for which a success message is shown.
const GLANCE: i32 = 10_000;

/// A handle on the state and on work in progress.
#[derive(Clone, Copy)]
pub(in crate::port) struct Session {
    /// The state.
    pub(in crate::port) state: RwSignal<State>,
    /// Notifies memos of the text of a key press that changed nothing else.
    typed: Trigger,
    /// [`State::port_key`].
    port: Memo<u64>,
    flight: StoredValue<Flight, LocalStorage>,
}

impl Session {
    /// An empty state, and a worker that is starting.
    pub(in crate::port) fn start() -> Session {
        let state = RwSignal::new(State::default());
        let port = Memo::new(move |_| state.with(State::port_key));
        let session = Session { state, typed: Trigger::new(), port, flight: StoredValue::new_local(Flight::default()) };
        tasks::next(move || session.start_engine());
        session
    }

    /// Changes the state and ports immediately.
    pub(in crate::port) fn change_and_port(self, change: impl FnOnce(&mut State)) {
        self.state.update(change);
        self.port_now();
    }

    /// Shows a notice.
    pub(in crate::port) fn say(self, bad: bool, text: impl Into<String>) {
        let notice = Some(Notice { bad, text: text.into(), undo: None });
        self.show_notice(notice);
    }

    /// Shows a notice that another project was opened, which can be undone.
    fn say_opened(self, bad: bool, text: String) {
        let undo = self.state.with_untracked(State::has_former).then_some(Undo::Project);
        self.show_notice(Some(Notice { bad, text, undo }));
    }

    fn show_notice(self, notice: Option<Notice>) {
        let bad = notice.as_ref().is_some_and(|notice| notice.bad || notice.undo.is_some());
        self.state.update(|state| state.notice = notice.clone());
        // A success message disappears by itself, unless it offers to undo something.
        browser::later(GLANCE, move || {
            let stale = self.state.with_untracked(|state| !bad && state.notice == notice);
            if stale {
                self.state.update(|state| state.notice = None);
            }
        });
    }

    /// Applies an edit that the field already shows. Most key presses notify only what depends on the text: there are
    /// many of them in quick succession.
    pub(in crate::port) fn type_in(self, splice: &Splice, whole: bool) {
        match self.state.try_update_untracked(|state| state.type_text(splice, whole)) {
            Some(true) => self.state.notify(),
            _ => self.typed.notify(),
        }
        self.port_soon();
    }

    /// Switches to another panel.
    pub(in crate::port) fn show(self, panel: Panel) {
        if panel == Panel::Matrix {
            // So that Back leads here from one of its cells.
            let _ = browser::set_address(fragment::MATRIX);
        }
        self.state.update(|state| state.panel = panel);
        self.at_rest();
    }

    /// Shows or hides the options.
    pub(in crate::port) fn flip_options(self) {
        self.state.update(|state| state.trials.wanted ^= true);
        self.at_rest();
    }

    /// Shows a file of the last port.
    pub(in crate::port) fn select(self, index: usize) {
        self.state.update(|state| {
            state.select(index);
            state.unread = false;
        });
        if self.state.with_untracked(|state| state.view.is_none()) {
            self.show_selected();
        }
    }

    /// Reads the state without subscribing to changes.
    pub(super) fn with_work<T>(self, look: impl FnOnce(&State) -> T) -> T {
        self.state.with_untracked(look)
    }

    /// Opens something that is not the user's own, with a notice if it replaces something.
    pub(in crate::port) fn open_given(self, said: &str, open: impl FnOnce(&mut State) -> bool) {
        let other = self.state.try_update(open) == Some(true);
        self.port_now();
        if other && self.state.with_untracked(State::has_former) {
            self.say_opened(false, said.to_owned());
        }
    }

    /// Opens a project, or none; the previous one can be restored.
    pub(super) fn open(self, files: Option<Vec<SourceFile>>, bad: bool, said: String) {
        self.state.update(|state| {
            match files {
                Some(files) => state.open(files),
                None => state.start_over(),
            }
            (state.unread, state.run) = (true, Run::Waiting);
        });
        self.say_opened(bad, said);
        // Showing a large project and sending it to the worker take a while each.
        browser::later(0, move || self.port_now());
    }

    /// Opens saved work, unless something was typed before: then the work can be brought back. Returns whether it was opened.
    pub(super) fn restore(self, open: Option<Share>, beside: &[u8]) -> bool {
        let is_open = self.state.try_update(|state| state.restore(open, beside)) == Some(true);
        self.port_now();
        if !is_open && self.state.with_untracked(State::has_former) {
            self.say_opened(
                false,
                "Opened what you typed while the page was loading; your saved work is closed.".to_owned(),
            );
        }
        is_open
    }

    /// Undoes what the notice offers to undo.
    pub(in crate::port) fn undo_notice(self, undo: Undo) {
        self.change_and_port(|state| match undo {
            Undo::Project => state.bring_back(),
            Undo::Removal => state.restore_removed(),
            Undo::Decision => drop(state.undo()),
        });
    }

    /// Goes to a line of the port, counted from 1; if the file has none, to the source.
    pub(in crate::port) fn go(self, file: usize, line: usize, column: usize) {
        self.select(file);
        if self.state.with_untracked(|state| matches!(state.phase(), Phase::Failed { .. })) {
            return self.go_to_source(line, column);
        }
        self.state.update(|state| {
            state.panel = Panel::Changes;
            state.jump_to(Jump::New(line.saturating_sub(1) as u32));
        });
    }

    /// Goes to a line and column of the source, counted from 1.
    pub(in crate::port) fn go_to_source(self, line: usize, column: usize) {
        self.state.update(|state| {
            state.source_hidden = false;
            state.jump_to(Jump::Source(line.saturating_sub(1), column.saturating_sub(1)));
        });
    }

    /// Rejects edits, or accepts them again, and stays at them.
    pub(in crate::port) fn refuse(self, edits: &[String], refuse: bool) {
        self.change_and_port(|state| {
            if refuse {
                state.reject_edits(edits)
            } else {
                state.accept_edits(edits)
            }
            state.jump_after_port = edits.first().cloned().map(Jump::Edit);
        });
    }

    /// Undoes or redoes the last rejection or acceptance.
    pub(in crate::port) fn undo(self, forward: bool) {
        let done = self.state.try_update(|state| if forward { state.redo() } else { state.undo() });
        if done == Some(true) {
            self.port_now();
        }
    }

    /// Goes to the next change, or to the previous one.
    pub(in crate::port) fn step(self, forward: bool) {
        let beyond = self.state.try_update(|state| {
            state.panel = Panel::Changes;
            state.step(forward);
            state.changed_beyond(forward).filter(|_| state.has_no_step())
        });
        if let Some(file) = beyond.flatten() {
            self.select(file);
        }
    }

    /// Removes a file from the project.
    pub(in crate::port) fn close(self, index: usize) {
        self.change_and_port(|state| state.close(index));
    }
}
