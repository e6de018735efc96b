//! A handle on the page's state, and those actions of its controls that involve the worker.

use super::engine;
use crate::port::protocol::{Answer, Ask, Parcel, Shown};
use crate::port::state::fragment::{self, ExampleId, Fragment, Share};
use crate::port::state::lines::{Lines, Splice};
use crate::port::state::{Delivery, Engine, File, Jump, Notice, Panel, Phase, Run, State, Undo, View, project};
use crate::shared::browser;
use codemod::Example;
use leptos::prelude::*;
use leptos::task::spawn_local;
use python::{Highlight, SourceFile};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Milliseconds without typing before a port starts.
const PAUSE: i32 = 250;
/// Milliseconds for which a success message is shown.
const GLANCE: i32 = 10_000;
/// On a page at least this wide, in CSS pixels, there is room for both source and diff.
const ROOMY: f64 = 1500.0;
/// On a page at least this wide, in CSS pixels, source and port are side by side, as in the style sheet.
const ABREAST: f64 = 900.0;
/// A port that has taken this many milliseconds is cancelled when a newer one is requested.
const PATIENCE: f64 = 1500.0;
/// A port that has taken this many milliseconds is cancelled in any case.
const LIMIT: i32 = 120_000;

/// Why a link can't be read.
const LINK: &str = "it was cut or altered, is too big, or was made by another version of this page. \
                    Ask for it again, or for the project as a zip.";

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

/// When a memo is recomputed.
#[derive(Clone, Copy)]
enum Upon {
    /// When the state changes.
    State,
    /// When the state changes, or a key press changes only the text.
    Text,
    /// When there is another port, or the user changes something about it.
    Port,
}

#[derive(Default)]
struct Flight {
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
    /// An empty state, and a worker that is starting.
    pub(in crate::port) fn start() -> Session {
        let state = RwSignal::new(State::default());
        let port = Memo::new(move |_| state.with(State::port_key));
        let session = Session { state, typed: Trigger::new(), port, flight: StoredValue::new_local(Flight::default()) };
        session.start_engine();
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

    /// Ports after a pause in typing.
    fn port_soon(self) {
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
            // For a large project, decoding the answer and showing it take a while each: key presses are handled in
            // between.
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
        let other_file = self.state.try_update(|state| {
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
        if again {
            self.port_now();
        } else if other_file == Some(true) {
            self.show_selected();
        }
        self.at_rest();
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

    /// What the worker does when it is idle: one more column of the table of targets or one more option, as long as
    /// these are visible; or one more attempt to get the training step ported.
    fn at_rest(self) {
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

    fn show_selected(self) {
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
                    let paths = state.files.iter().map(|file| file.path.clone()).collect();
                    let texts = (0..state.files.len()).map(text).collect();
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
            if self.state.with_untracked(|state| state.catalogue.targets.is_empty()) {
                engine::ask(engine::bare(Ask::Catalogue), move |answer| {
                    if let Answer::Catalogue(catalogue) = answer.head {
                        // It was decoded in this task, and filling the lists takes a phone as long.
                        browser::later(0, move || {
                            self.state.update(|state| state.learn(catalogue));
                            self.port_now();
                        });
                    }
                });
            } else if self.state.with_untracked(|state| state.run == Run::Waiting) {
                self.port_now();
            }
        };
        let broken = move |why: String| {
            self.flight.with_value(|flight| flight.since.set(None));
            self.state.update(|state| {
                state.run = Run::Idle;
                state.engine = Engine::Broken(why);
                state.forget_sent();
            });
        };
        engine::start(ready, broken);
    }

    fn stop_timer(self) {
        self.flight.with_value(|flight| browser::window().clear_timeout_with_handle(flight.timer.take()));
    }

    /// Opens what the address names.
    pub(in crate::port) fn read_fragment(self) {
        let hash = browser::window().location().hash().unwrap_or_default();
        match fragment::parse(&hash) {
            Fragment::Empty => {}
            Fragment::Unknown => self.say(true, "The address does not name anything this page can open."),
            Fragment::Matrix => {
                self.show(Panel::Matrix);
                if self.state.try_update(State::choose_as_before_place) == Some(true) {
                    self.port_now();
                }
            }
            Fragment::Place { target, file, line } => {
                if self.state.try_update(|state| state.go_to_port(target, file, line)) == Some(true) {
                    self.port_now();
                }
            }
            Fragment::Choose { target, sdk } => self.change_and_port(|state| state.ask_for(target, sdk)),
            Fragment::Share(deflated) => spawn_local(async move { self.open_share(&deflated).await }),
            Fragment::Example(id) => spawn_local(async move { self.open_example(id).await }),
        }
    }

    async fn open_example(self, id: ExampleId) {
        self.state.update(|state| state.reading += 1);
        let packed = browser::fetch_text(&format!("examples/{}.bin", id.guide)).await;
        self.state.update(|state| state.reading -= 1);
        match packed.map(|packed| Example::unpack(&packed, &id.section, id.number)) {
            Ok(Some(example)) => self.open_given("Opened the guide’s example.", |state| state.open_example(example)),
            Ok(None) => self.say(true, "The guides do not contain this example."),
            Err(why) => self.say(true, format!("The example could not be loaded: {}", browser::reason(&why))),
        }
    }

    async fn open_share(self, deflated: &[u8]) {
        let share = match browser::inflate(deflated, 2 * project::MAX_PROJECT).await {
            Ok(bytes) => Share::from_bytes(&bytes),
            Err(_) => None,
        };
        let share = share.ok_or_else(|| LINK.to_owned());
        let checked = share.and_then(|share| {
            project::check_project(&share.files).map_err(|why| format!("it {why}"))?;
            for file in &share.files {
                project::check_text(&file.text).map_err(|why| format!("{} {why}", file.path))?;
            }
            Ok(share)
        });
        match checked {
            Ok(share) => self.open_given("Opened the shared project.", |state| state.open_share(share)),
            Err(why) => self.say(true, format!("The shared link can't be opened: {why}")),
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

    /// Opens a project; the previous one can be restored.
    pub(super) fn open(self, files: Vec<SourceFile>, bad: bool, said: String) {
        self.state.update(|state| {
            state.open(files);
            (state.unread, state.run) = (true, Run::Waiting);
        });
        self.say_opened(bad, said);
        // Showing a large project and sending it to the worker take a while each.
        browser::later(0, move || self.port_now());
    }

    /// Clears an address that names the opened project once that is changed: otherwise reloading the page would open
    /// the original instead of the saved work. The same applies to an address that names the table of targets once
    /// something else is shown.
    pub(in crate::port) fn follow_edits(self) {
        Effect::new(move |before: Option<(u64, bool)>| {
            self.typed.track();
            let (edits, matrix) = self.state.with(|state| (state.edits, state.panel == Panel::Matrix));
            let hash = browser::window().location().hash().unwrap_or_default();
            let edited = before.is_some_and(|(before, _)| before != edits) && fragment::names_work(&hash);
            let left = before.is_some_and(|(_, before)| before && !matrix) && hash == fragment::MATRIX;
            if edited || left {
                browser::clear_fragment();
            }
            (edits, matrix)
        });
    }

    /// A part of the state; what displays it is notified when it changes.
    pub(in crate::port) fn memo<T>(self, of: impl Fn(&State) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        self.memo_upon(Upon::State, Box::new(of))
    }

    /// A part of the state that changes with every key press.
    pub(in crate::port) fn memo_of_text<T>(self, of: impl Fn(&State) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        self.memo_upon(Upon::Text, Box::new(of))
    }

    /// A part of the state that depends only on the last port and on the user's changes to it. In a large project, it
    /// is important not to recompute it for anything else.
    pub(in crate::port) fn memo_of_port<T>(self, of: impl Fn(&State) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        self.memo_upon(Upon::Port, Box::new(of))
    }

    /// Boxed, so that the module contains Leptos's code for a memo once for each type of value, not for each closure.
    fn memo_upon<T>(self, upon: Upon, of: Box<dyn Fn(&State) -> T + Send + Sync>) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        Memo::new(move |_| {
            match upon {
                Upon::State => {}
                Upon::Text => self.typed.track(),
                // Read, because a memo that is only tracked is never computed.
                Upon::Port => {
                    self.port.with(|_| ());
                    return self.state.with_untracked(&of);
                }
            }
            self.state.with(&of)
        })
    }

    /// Undoes what the notice offers to undo.
    pub(in crate::port) fn undo_notice(self, undo: Undo) {
        self.change_and_port(|state| match undo {
            Undo::Project => state.bring_back(),
            Undo::Removal => state.restore_removed(),
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
