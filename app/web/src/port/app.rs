//! Starts the page, and carries between its state and the worker.

use crate::browser;
use crate::port::fragment::{self, Fragment, Share};
use crate::port::protocol::{Answer, Ask, Parcel, Shown};
use crate::port::state::{Delivery, Engine, File, Notice, Panel, Run, State, View};
use crate::port::{link, page, project, work};
use any_spawner::Executor;
use codemod::{Highlight, SourceFile};
use reactive_graph::owner::Owner;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use wasm_bindgen_futures::spawn_local;

/// Milliseconds of quiet before what was typed is ported.
const PAUSE: i32 = 250;
/// Milliseconds for which good news is shown.
const GLANCE: i32 = 10_000;
/// A port that takes longer than this is given up when a newer one is wanted.
const PATIENCE: f64 = 1500.0;

/// Fills `#port`, or the body where there is none, with the page.
pub fn mount() {
    let Some(place) = browser::element("port").or_else(|| browser::document().body()) else { return };
    // There is one already at worst.
    let _ = Executor::init_wasm_bindgen();
    let owner = Owner::new();
    owner.with(|| {
        let session = Session { state: RwSignal::new(State::default()) };
        session.start_engine();
        work::offer(session);
        page::start(session, &place);
        // Else what is kept comes first, and whoever keeps it lets the address be read.
        if !work::is_kept() {
            session.read_fragment();
        }
    });
    // The page lives as long as its window.
    std::mem::forget(owner);
}

/// A handle on the state and on what goes on around it.
#[derive(Clone, Copy)]
pub(crate) struct Session {
    /// The state.
    pub(crate) state: RwSignal<State>,
}

#[derive(Default)]
struct Flight {
    /// When the port that is under way was asked for.
    since: Cell<Option<f64>>,
    /// Another one is wanted after it.
    again: Cell<bool>,
    /// The timer that waits for typing to pause.
    timer: Cell<i32>,
    /// The files as the worker has ported them last.
    files: RefCell<Vec<File>>,
    /// Number of the latest view.
    serial: Cell<u64>,
}

thread_local! {
    static FLIGHT: Flight = Flight::default();
}

impl Session {
    /// Changes the state and ports at once.
    pub(crate) fn change_and_port(self, change: impl FnOnce(&mut State)) {
        self.state.update(change);
        self.port_now();
    }

    /// Says something to the user.
    pub(crate) fn say(self, bad: bool, text: impl Into<String>) {
        let notice = Some(Notice { bad, text: text.into() });
        self.state.update(|state| state.notice = notice.clone());
        // What went well need not stay, unless it can be taken back.
        browser::later(GLANCE, move || {
            let stale = self.state.with_untracked(|state| !bad && !state.has_former() && state.notice == notice);
            if stale {
                self.state.update(|state| state.notice = None);
            }
        });
    }

    /// Ports when typing pauses.
    pub(crate) fn port_soon(self) {
        self.stop_timer();
        self.state.update(|state| {
            if state.run != Run::Working {
                state.run = Run::Waiting;
            }
        });
        let timer = browser::later(PAUSE, move || self.port_now());
        FLIGHT.with(|flight| flight.timer.set(timer));
    }

    /// Ports now. What the worker is at is finished first, unless it takes long.
    pub(crate) fn port_now(self) {
        self.stop_timer();
        let (empty, ready, broken) = self.state.with_untracked(|state| {
            (state.is_empty(), state.engine == Engine::Ready, matches!(state.engine, Engine::Broken(_)))
        });
        if empty {
            return self.state.update(|state| {
                state.set_outcome(None);
                (state.view, state.run) = (None, Run::Idle);
            });
        }
        if !ready {
            self.state.update(|state| state.run = Run::Waiting);
            if broken {
                self.start_engine();
            }
            return;
        }
        let since = FLIGHT.with(|flight| flight.since.get());
        if let Some(since) = since {
            FLIGHT.with(|flight| flight.again.set(true));
            if browser::now() - since > PATIENCE {
                self.restart(Run::Waiting);
            }
            return;
        }
        self.deliver();
        let (options, show) = self.state.with_untracked(|state| (state.options(), state.selected));
        let project = self.state.with_untracked(|state| state.project);
        FLIGHT.with(|flight| {
            flight.since.set(Some(browser::now()));
            flight.again.set(false);
            flight.files.replace(self.state.with_untracked(|state| state.files.clone()));
        });
        self.state.update(|state| state.run = Run::Working);
        link::ask(link::bare(Ask::Port { options, show }), move |answer| self.landed(project, answer));
    }

    /// A port has come back.
    fn landed(self, project: u64, answer: Parcel<Answer>) {
        let again = FLIGHT.with(|flight| {
            flight.since.set(None);
            flight.again.get()
        });
        let Parcel { head: Answer::Ported(outcome, shown), texts, colours } = answer else { return };
        let view = view_of(*shown, texts, colours);
        let other_file = self.state.try_update(|state| {
            state.run = if again { Run::Waiting } else { Run::Idle };
            if state.project != project {
                return false;
            }
            state.set_outcome(Some(Arc::new(*outcome)));
            state.show_worthy();
            if state.selected == view.shown.index {
                state.view = Some(Arc::new(view));
                if let Some(jump) = state.jump_after_port.take_if(|_| !again) {
                    state.jump_to(jump);
                }
            }
            state.view.is_none()
        });
        if again {
            self.port_now();
        } else if other_file == Some(true) {
            self.show_selected();
        }
        self.at_rest();
    }

    /// Shows another part of the result.
    pub(crate) fn show(self, panel: Panel) {
        if panel == Panel::Matrix {
            // So that the way back from one of its cells leads here.
            let _ = browser::set_address(fragment::MATRIX);
        }
        self.state.update(|state| state.panel = panel);
        self.at_rest();
    }

    /// Shows the options, or puts them away.
    pub(crate) fn flip_options(self) {
        self.state.update(|state| state.trials.wanted ^= true);
        self.at_rest();
    }

    /// What the worker does while nothing else is wanted: one more column of the matrix, or one more option tried, as long as
    /// these are in sight.
    fn at_rest(self) {
        if FLIGHT.with(|flight| flight.since.get().is_some()) {
            return;
        }
        let column = self.state.try_update_untracked(State::next_column).flatten();
        let next = column.map(|(options, column)| Ask::Matrix { options, column }).or_else(|| {
            let (options, option) = self.state.try_update_untracked(State::next_trial).flatten()?;
            Some(Ask::Try { options, option })
        });
        let Some(next) = next else { return };
        FLIGHT.with(|flight| flight.since.set(Some(browser::now())));
        link::ask(link::bare(next), move |answer| {
            let again = FLIGHT.with(|flight| {
                flight.since.set(None);
                flight.again.get()
            });
            match answer.head {
                Answer::Tried(differs) => self.state.update(|state| state.trials.take(differs)),
                _ => self.take_matrix(answer),
            }
            if again { self.port_now() } else { self.at_rest() }
        });
    }

    /// Shows more rows of the matrix.
    pub(crate) fn more_rows(self, rows: usize) {
        link::ask(link::bare(Ask::Rows(rows)), move |answer| self.take_matrix(answer));
    }

    fn take_matrix(self, answer: Parcel<Answer>) {
        let Parcel { head: Answer::Matrix(done, total), texts, .. } = answer else { return };
        self.state.update(|state| {
            (state.matrix.done, state.matrix.total) = (done, total);
            if let Some(html) = texts.into_iter().next() {
                state.matrix.html = html;
            }
        });
    }

    /// Shows a file of the last port.
    pub(crate) fn select(self, index: usize) {
        self.state.update(|state| {
            state.select(index);
            state.unread = false;
        });
        if self.state.with_untracked(|state| state.view.is_none()) {
            self.show_selected();
        }
    }

    fn show_selected(self) {
        let (index, ready) =
            self.state.with_untracked(|state| (state.selected, state.outcome_of(state.selected).is_some()));
        if !ready {
            return;
        }
        link::ask(link::bare(Ask::Show(index)), move |answer| {
            let Parcel { head: Answer::Shown(shown), texts, colours } = answer else { return };
            let view = view_of(*shown, texts, colours);
            self.state.update(|state| {
                if state.selected == view.shown.index && state.view.is_none() {
                    state.view = Some(Arc::new(view));
                }
            });
        });
    }

    /// Hands the worker the files it lacks.
    fn deliver(self) {
        let delivery = self.state.try_update_untracked(State::take_unsent);
        self.state.with_untracked(|state| {
            let text = |index: usize| state.files[index].lines.text().to_string();
            match delivery {
                Some(Delivery::All) => {
                    let paths = state.files.iter().map(|file| file.path.clone()).collect();
                    let texts = (0..state.files.len()).map(text).collect();
                    link::ask(Parcel { head: Ask::Files(paths), texts, colours: Vec::new() }, |_| ());
                }
                Some(Delivery::Some(files)) => {
                    for index in files {
                        let texts = vec![text(index)];
                        link::ask(Parcel { head: Ask::Text(index), texts, colours: Vec::new() }, |_| ());
                    }
                }
                None => {}
            }
        });
    }

    /// Stops the port under way.
    pub(crate) fn stop(self) {
        self.restart(Run::Stopped);
    }

    fn restart(self, run: Run) {
        link::end();
        self.state.update(|state| state.run = run);
        self.start_engine();
    }

    /// Starts the worker, after it broke too.
    pub(crate) fn start_engine(self) {
        FLIGHT.with(|flight| {
            flight.since.set(None);
            flight.again.set(false);
        });
        self.state.update(|state| {
            state.engine = Engine::Starting;
            state.forget_sent();
        });
        let ready = move || {
            self.state.update(|state| state.engine = Engine::Ready);
            if self.state.with_untracked(|state| state.catalogue.targets.is_empty()) {
                link::ask(link::bare(Ask::Catalogue), move |answer| {
                    if let Answer::Catalogue(catalogue) = answer.head {
                        self.state.update(|state| state.learn(catalogue));
                        self.port_now();
                    }
                });
            } else if self.state.with_untracked(|state| state.run == Run::Waiting) {
                self.port_now();
            }
        };
        let broken = move |why: String| {
            FLIGHT.with(|flight| flight.since.set(None));
            self.state.update(|state| {
                state.run = Run::Idle;
                state.engine = Engine::Broken(why);
                state.forget_sent();
            });
        };
        link::start(ready, broken);
    }

    fn stop_timer(self) {
        FLIGHT.with(|flight| browser::window().clear_timeout_with_handle(flight.timer.take()));
    }

    /// Opens what the address asks for.
    pub(crate) fn read_fragment(self) {
        let hash = browser::window().location().hash().unwrap_or_default();
        match fragment::parse(&hash) {
            Fragment::Empty => {}
            Fragment::Unknown => self.say(true, "The address does not name anything this page can open."),
            Fragment::Matrix => self.show(Panel::Matrix),
            Fragment::Place { target, file, line } => {
                if self.state.try_update(|state| state.go_to_port(target, file, line)) == Some(true) {
                    self.port_now();
                }
            }
            Fragment::Choose { target, sdk } => self.change_and_port(|state| state.ask_for(target, sdk)),
            Fragment::Share(deflated) => spawn_local(async move { self.open_share(&deflated).await }),
            Fragment::Example(id) => link::ask(link::bare(Ask::Example(id)), move |answer| {
                let text = answer.texts.into_iter().next();
                match (answer.head, text) {
                    (Answer::Example(Some(example)), Some(text)) => {
                        self.open_given("The guide’s example is open.", |state| state.open_example(example, text));
                    }
                    _ => self.say(true, "The guides have no such example."),
                }
            }),
        }
    }

    async fn open_share(self, deflated: &[u8]) {
        let share = match browser::inflate(deflated, 2 * project::MAX_PROJECT).await {
            Ok(bytes) => Share::from_bytes(&bytes),
            Err(_) => None,
        };
        let share = share.ok_or_else(|| "it was cut, altered, or made by another version of this page".to_owned());
        let checked = share.and_then(|share| {
            project::check_project(&share.files).map_err(|why| format!("it {why}"))?;
            for file in &share.files {
                project::check_text(&file.text).map_err(|why| format!("{} {why}", file.path))?;
            }
            Ok(share)
        });
        match checked {
            Ok(share) => self.open_given("The link’s project is open.", |state| state.open_share(share)),
            Err(why) => self.say(true, format!("The shared link can't be opened: {why}")),
        }
    }

    /// Looks at the state without being told when it changes.
    pub(crate) fn with_work<T>(self, look: impl FnOnce(&State) -> T) -> T {
        self.state.with_untracked(look)
    }

    /// Opens what is not the user's own, and says so where something was replaced.
    pub(crate) fn open_given(self, said: &str, open: impl FnOnce(&mut State) -> bool) {
        let other = self.state.try_update(open) == Some(true);
        self.port_now();
        if other && self.state.with_untracked(State::has_former) {
            self.say(false, said);
        }
    }

    /// Opens a project; the one before can be brought back.
    pub(crate) fn open(self, files: Vec<SourceFile>) {
        self.change_and_port(|state| {
            state.open(files);
            state.unread = true;
        });
    }
}

fn view_of(shown: Shown, texts: Vec<String>, colours: Vec<Vec<u32>>) -> View {
    let serial = FLIGHT.with(|flight| {
        flight.serial.set(flight.serial.get() + 1);
        flight.serial.get()
    });
    let old = FLIGHT.with(|flight| flight.files.borrow().get(shown.index).map(|file| file.lines.clone()));
    let old = old.unwrap_or_default();
    let new = texts.into_iter().next().map_or_else(|| old.clone(), |text| crate::port::lines::Lines::new(text.into()));
    let mut colours = colours.into_iter();
    let mut next = || {
        let (spans, lines) = (colours.next()?, colours.next()?);
        Some(Arc::new(Highlight { spans, lines }))
    };
    let old_colours = next().unwrap_or_default();
    let new_colours = next().unwrap_or_else(|| old_colours.clone());
    View { serial, shown, old, new, old_colours, new_colours }
}
