//! What the worker is asked for, and what becomes of its answers.

use super::Session;
use crate::port::protocol::{Answer, Ask, Parcel, Shown};
use crate::port::state::lines::Lines;
use crate::port::state::{Delivery, Engine, File, Run, State, View};
use crate::port::work::engine;
use crate::shared::browser;
use leptos::prelude::*;
use python::Highlight;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Milliseconds without typing before a port starts.
const PAUSE: i32 = 250;
/// On a page at least this wide, in CSS pixels, there is room for both source and diff.
const ROOMY: f64 = 1500.0;
/// On a page at least this wide, in CSS pixels, source and port are side by side, as in the style sheet.
const ABREAST: f64 = 900.0;
/// A port that has taken this many milliseconds is cancelled when a newer one is requested.
const PATIENCE: f64 = 1500.0;
/// A port that has taken this many milliseconds is cancelled in any case.
const LIMIT: i32 = 120_000;

/// The work in progress.
#[derive(Default)]
pub(super) struct Flight {
    /// When the current port was requested.
    since: Cell<Option<f64>>,
    /// Whether another one must follow it.
    again: Cell<bool>,
    /// The timer that waits for a pause in typing.
    timer: Cell<i32>,
    /// The files that the worker ported last.
    files: RefCell<Vec<File>>,
    /// The number of the latest view.
    serial: Cell<u64>,
}

impl Session {
    /// Ports after a pause in typing.
    pub(super) fn port_soon(self) {
        self.stop_timer();
        if self.state.with_untracked(|state| !matches!(state.run, Run::Working | Run::Waiting)) {
            self.state.update(|state| state.run = Run::Waiting);
        }
        let timer = browser::later(PAUSE, move || self.port_now());
        self.flight.with_value(|flight| flight.timer.set(timer));
    }

    /// Ports now. The worker finishes its current task first, unless that takes long.
    pub(in crate::port) fn port_now(self) {
        self.stop_timer();
        let (empty, ready, broken) = self.state.with_untracked(|state| {
            (state.is_empty(), state.engine == Engine::Ready, matches!(state.engine, Engine::Broken(_)))
        });
        if empty {
            self.state.update(|state| {
                state.set_outcome(None);
                (state.view, state.run) = (None, Run::Idle);
            });
        }
        let waits = ready && !self.has_recipes();
        if !empty && (!ready || waits) {
            self.state.update(|state| state.run = Run::Waiting);
        }
        // Also without a script: the lists of the bar need it.
        if broken {
            self.start_engine();
        }
        if empty || !ready || waits {
            return;
        }
        if self.state.with_untracked(State::lacks_target) {
            return self.state.update(State::stop_without_target);
        }
        let since = self.flight.with_value(|flight| flight.since.get());
        if let Some(since) = since {
            self.flight.with_value(|flight| flight.again.set(true));
            if browser::now() - since > PATIENCE {
                self.restart(Run::Waiting);
            }
            return;
        }
        self.deliver();
        let (options, show) = self.state.with_untracked(|state| (state.options(), state.selected));
        let project = self.state.with_untracked(|state| state.project);
        let since = Some(browser::now());
        self.flight.with_value(|flight| {
            flight.since.set(since);
            flight.again.set(false);
            flight.files.replace(self.state.with_untracked(|state| state.files.clone()));
        });
        self.state.update(|state| state.run = Run::Working);
        engine::ask(engine::bare(Ask::Port { options, show }), move |answer| {
            // For a large project, decoding the answer, storing and showing it take a while each: key presses are
            // handled in between.
            browser::later(0, move || {
                if self.flight.with_value(|flight| flight.since.get()) == since {
                    self.landed(project, answer);
                }
            });
        });
        browser::later(LIMIT, move || {
            if self.flight.with_value(|flight| flight.since.get()) == since {
                self.restart(Run::Stopped);
                self.say(true, "The port was stopped after 2 minutes. Open fewer files, or use the command.");
            }
        });
    }

    /// Handles the answer to a port.
    fn landed(self, project: u64, answer: Parcel<Answer>) {
        let again = self.flight.with_value(|flight| {
            flight.since.set(None);
            flight.again.get()
        });
        let Parcel { head: Answer::Ported(outcome, shown), texts, colours } = answer else { return };
        let view = self.view_of(*shown, texts, colours);
        let other_file = self.state.try_update_untracked(|state| {
            state.run = if again { Run::Waiting } else { Run::Idle };
            if state.project != project {
                return false;
            }
            state.set_outcome(Some(Arc::new(*outcome)));
            // Next to a diff of two columns there is no room for the source. The name of a single file is above its
            // source, and the user is asked for it first.
            let width = browser::page_width();
            let readable = state.files.len() > 1 || (width >= ABREAST && state.is_named() && state.totals().0 > 0);
            if state.unread && readable && width < ROOMY {
                state.source_hidden = true;
                leave_source();
            }
            state.show_worthy();
            if state.selected == view.shown.index {
                state.set_view(view);
                if let Some(jump) = state.jump_after_port.take_if(|_| !again) {
                    state.jump_to(jump);
                }
            }
            state.view.is_none()
        });
        browser::later(0, move || {
            self.state.notify();
            if again {
                self.port_now();
            } else if other_file == Some(true) {
                self.show_selected();
            }
            self.at_rest();
        });
    }

    /// What the worker does when it is idle: one more column of the table of targets or one more option, as long as
    /// these are visible; or one more attempt to get the training step ported.
    pub(super) fn at_rest(self) {
        if self.flight.with_value(|flight| flight.since.get().is_some()) {
            return;
        }
        let column = self.state.try_update_untracked(State::next_column).flatten();
        let next = column.map(|(options, column)| Ask::Matrix { options, column }).or_else(|| {
            let (options, option) = self.state.try_update_untracked(State::next_trial).flatten()?;
            Some(Ask::Try { options, option })
        });
        let next = next.or_else(|| {
            let (options, attempt) = self.state.try_update_untracked(State::next_attempt).flatten()?;
            Some(Ask::Unblock { options, attempt })
        });
        let Some(next) = next else { return };
        self.flight.with_value(|flight| flight.since.set(Some(browser::now())));
        engine::ask(engine::bare(next), move |answer| {
            let again = self.flight.with_value(|flight| {
                flight.since.set(None);
                flight.again.get()
            });
            match answer.head {
                Answer::Tried(differs) => self.state.update(|state| state.trials.take(differs)),
                Answer::Unblocked(found, total) => {
                    self.state.update(|state| state.take_attempt(found.map(|found| *found), total));
                }
                _ => self.take_matrix(answer),
            }
            if again { self.port_now() } else { self.at_rest() }
        });
    }

    /// Shows more rows of the table of targets.
    pub(in crate::port) fn more_rows(self, rows: usize) {
        engine::ask(engine::bare(Ask::Rows(rows)), move |answer| self.take_matrix(answer));
    }

    fn take_matrix(self, answer: Parcel<Answer>) {
        let Answer::Matrix(done, total, table) = answer.head else { return };
        self.state.update(|state| {
            (state.matrix.done, state.matrix.total) = (done, total);
            if let Some(table) = table {
                state.matrix.table = Some(Arc::new(*table));
            }
        });
    }

    pub(super) fn show_selected(self) {
        let (index, ready) =
            self.state.with_untracked(|state| (state.selected, state.outcome_of(state.selected).is_some()));
        if !ready {
            return;
        }
        engine::ask(engine::bare(Ask::Show(index)), move |answer| {
            let Parcel { head: Answer::Shown(shown), texts, colours } = answer else { return };
            let view = self.view_of(*shown, texts, colours);
            self.state.update(|state| {
                if state.selected == view.shown.index && state.view.is_none() {
                    state.set_view(view);
                }
            });
        });
    }

    /// Sends the worker the files it lacks.
    fn deliver(self) {
        let delivery = self.state.try_update_untracked(State::take_unsent);
        self.state.with_untracked(|state| {
            let text = |index: usize| state.files[index].lines.text().to_string();
            match delivery {
                Some(Delivery::All) => {
                    let paths = state.files.iter().map(|file| (file.path.clone(), file.notebook().is_some())).collect();
                    let notebooks = state.files.iter().filter_map(|file| file.notebook().map(str::to_owned));
                    let texts = (0..state.files.len()).map(text).chain(notebooks).collect();
                    engine::ask(Parcel { head: Ask::Files(paths), texts, colours: Vec::new() }, |_| ());
                }
                Some(Delivery::Some(files)) => {
                    for index in files {
                        let texts = vec![text(index)];
                        engine::ask(Parcel { head: Ask::Text(index), texts, colours: Vec::new() }, |_| ());
                    }
                }
                None => {}
            }
        });
    }

    /// Stops the current port.
    pub(in crate::port) fn stop(self) {
        self.restart(Run::Stopped);
    }

    fn restart(self, run: Run) {
        engine::end();
        self.state.update(|state| state.run = run);
        self.start_engine();
    }

    /// Starts the worker, also after a failure.
    pub(in crate::port) fn start_engine(self) {
        self.flight.with_value(|flight| {
            flight.since.set(None);
            flight.again.set(false);
        });
        self.state.update(|state| {
            state.engine = Engine::Starting;
            state.forget_sent();
        });
        let ready = move || {
            self.state.update(|state| state.engine = Engine::Ready);
            if self.state.with_untracked(|state| state.catalogue.targets.is_empty() || state.run == Run::Waiting) {
                self.port_now();
            }
        };
        let broken = move |why: String| {
            self.flight.with_value(|flight| flight.since.set(None));
            self.state.update(|state| {
                state.run = Run::Idle;
                state.engine = Engine::Broken(why);
                state.forget_sent();
                state.give_up_trial();
            });
        };
        engine::start(ready, broken);
    }

    fn stop_timer(self) {
        self.flight.with_value(|flight| browser::window().clear_timeout_with_handle(flight.timer.take()));
    }

    fn view_of(self, shown: Shown, texts: Vec<String>, colours: Vec<Vec<u32>>) -> View {
        self.flight.with_value(|flight| {
            flight.serial.set(flight.serial.get() + 1);
            let old = flight.files.borrow().get(shown.index).map(|file| file.lines.clone()).unwrap_or_default();
            let new = texts.into_iter().next().map_or_else(|| old.clone(), |text| Lines::new(text.into()));
            let mut colours = colours.into_iter();
            let mut next = || Some(Arc::new(Highlight { spans: colours.next()?, lines: colours.next()? }));
            let old_colours = next().unwrap_or_default();
            let new_colours = next().unwrap_or_else(|| old_colours.clone());
            View { serial: flight.serial.get(), shown, old, new, old_colours, new_colours }
        })
    }
}

/// When the source is hidden, moves the focus from it to the port.
fn leave_source() {
    let is_there = browser::document().active_element().is_some_and(|element| element.id() == "source");
    if let Some(head) = browser::element("result-head").filter(|_| is_there) {
        let _ = head.focus();
    }
}
