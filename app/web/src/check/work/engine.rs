//! Sends requests to the worker, and stores its answers in the state.

use super::files;
use super::larcv;
use super::opening;
use super::session::{Session, focus};
use super::task::{at_rest, is_busy, prepare, show_doing};
use super::wire::{self, Answered};
use crate::check::protocol::{Answer, Ask, Done, Part, Progress, Stages};
use crate::check::state::names::short_path;
use crate::check::state::picture::Layer;
use crate::check::state::planes::Planes;
use crate::check::state::{Busy, Comparison, Place, Results, Slot};
use crate::shared::browser::{self, now};
use js_sys::Date;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Event, File, MessageEvent, Worker, WorkerOptions, WorkerType};

/// On a page at least this wide, in CSS pixels, form and results are side by side, as in the style sheet.
const ABREAST: f64 = 1024.0;

/// Runs the form's network.
pub(super) fn run(session: Session) {
    if let Some(Err(control)) = session.state.try_update(|state| state.check()) {
        return focus(control);
    }
    let choice = session.state.with_untracked(|state| state.choice.clone());
    let (has_sample, unread) = session.files.with_value(|files| {
        let is_read = files.readable.as_ref().is_some_and(|(number, _)| *number == choice.event);
        (files.sample.is_some(), files.input.clone().filter(|_| choice.has_input_file() && !is_read))
    });
    if choice.has_sample_weights() && !has_sample {
        let refuse = move |why: &str| session.fault(Place::Run, format!("The sample weights can’t be fetched: {why}"));
        let done = move |file| {
            session.files.update_value(|files| files.sample = Some(file));
            run(session);
        };
        return prepare(session, "Downloading the sample weights (1 MB)", files::fetch_sample(), done, refuse);
    }
    if let Some(file) = unread {
        return opening::open(session, file, choice.event, move || run(session));
    }
    let about = session.state.with_untracked(|state| state.about(&String::from(Date::new_0().to_iso_string())));
    session.engine.update_value(|engine| engine.about = about);
    let files = session.files.with_value(|files| {
        let weights = if choice.has_sample_weights() { &files.sample } else { &files.weights };
        let weights = weights.clone().filter(|_| choice.has_sample_weights() || choice.has_weight_file());
        let event = files.readable.clone().map(|(_, file)| file).filter(|_| choice.has_input_file());
        weights.into_iter().chain(event).collect()
    });
    ask(session, Ask::Run(Box::new(choice.run())), files);
}

/// Writes the last run to a file.
pub(super) fn bundle(session: Session) {
    let (weights, stages) = session.state.with_untracked(|state| (state.with_weights, state.choice.stages));
    let stages = [Stages::None, Stages::Coarse, Stages::All][stages];
    ask(session, Ask::Bundle { weights, stages }, Vec::new());
}

/// Compares the chosen outputs, if there are any, at the chosen precision.
pub(super) fn compare_again(session: Session) {
    let file = session.files.with_value(|files| files.candidate.clone());
    let precision = session.state.with_untracked(|state| state.choice.precision);
    if let Some(file) = file {
        session.state.update(|state| state.clear_fault(Place::File(Slot::Candidate)));
        ask(session, Ask::Compare { precision }, vec![file]);
    }
}

/// Cancels the current task. The form and the last results stay.
pub(super) fn cancel(session: Session) {
    match session.engine.with_value(|engine| engine.opening) {
        // The worker keeps the last run.
        true => opening::end_opening(session),
        false => end(session),
    }
    session.say("Cancelled. The form is unchanged.");
    focus("run".to_owned());
}

/// Terminates the worker, whatever it is doing.
fn end(session: Session) {
    larcv::stop();
    session.engine.update_value(|engine| {
        if let Some(worker) = engine.worker.take() {
            worker.terminate();
        }
        (engine.ready, engine.since, engine.waiting, engine.has_run) = (false, None, None, false);
        engine.opening = false;
        engine.preparations += 1;
    });
    session.state.update(|state| state.busy = None);
}

fn ask(session: Session, ask: Ask, files: Vec<File>) {
    let is_run = matches!(ask, Ask::Run(_));
    if is_busy(session) {
        return;
    }
    if !is_run && !session.engine.with_value(|engine| engine.has_run) {
        return session.fault(Place::Run, "Press Run first: the last run is no longer in memory.");
    }
    session.state.update(|state| state.clear_fault(Place::Run));
    let threads = session.state.with_untracked(|state| state.threads.chosen);
    if is_run && session.engine.with_value(|engine| engine.threads != threads) {
        end(session);
    }
    if session.engine.with_value(|engine| engine.worker.is_none()) {
        match start(session, threads) {
            Ok(worker) => session.engine.update_value(|engine| {
                (engine.worker, engine.threads) = (Some(worker), threads);
            }),
            Err(why) => {
                let why = format!("The worker can’t be started: {}", browser::reason(&why));
                return session.fault(Place::Run, why);
            }
        }
    }
    session.engine.update_value(|engine| {
        engine.since = Some(now());
        engine.waiting = Some((ask, files));
    });
    show_doing(session, "Loading the network");
    send(session);
}

/// Sends the waiting request if the worker is ready.
fn send(session: Session) {
    let ready = session.engine.try_update_value(|engine| {
        let worker = engine.worker.clone().filter(|_| engine.ready)?;
        Some((worker, engine.waiting.take()?))
    });
    let Some(Some((worker, (ask, files)))) = ready else { return };
    let doing = match ask {
        Ask::Run(_) => "Running the network",
        Ask::Bundle { .. } => "Writing the reference",
        Ask::Compare { .. } => "Comparing",
    };
    show_doing(session, doing);
    if let Err(why) = worker.post_message(&wire::ask(&ask, &files)) {
        end(session);
        session.fault(Place::Run, browser::reason(&why));
    }
}

fn start(session: Session, threads: usize) -> Result<Worker, JsValue> {
    let options = WorkerOptions::new();
    options.set_name(&threads.to_string());
    options.set_type(WorkerType::Module);
    let worker = Worker::new_with_options(&browser::beside("start_forward.js"), &options)?;
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        if let Some(answer) = wire::answered(event.data()) {
            hear(session, answer);
        }
    });
    worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    let on_error = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
        event.prevent_default();
        end(session);
        session.say("");
        let why = browser::worker_error(&event);
        let why = format!(
            "The worker stopped: {why}. If the picture is large, its maps may need more memory than the browser gives: \
             use a smaller picture, or downsample."
        );
        session.fault(Place::Run, why);
    });
    worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
    on_message.forget();
    on_error.forget();
    Ok(worker)
}

fn hear(session: Session, answer: Answered) {
    let Answered { head, floats, bytes } = answer;
    let floats = || floats.first().map(js_sys::Float32Array::to_vec).unwrap_or_default();
    let mut bytes = bytes.iter().map(js_sys::Uint8Array::to_vec);
    match head {
        Answer::Ready => {
            session.engine.update_value(|engine| engine.ready = true);
            send(session);
        }
        Answer::Progress(progress) => show_progress(session, &progress),
        Answer::Done(done) => {
            let took = at_rest(session);
            let Done { input, output, brightest, facts } = *done;
            session.planes.set(Planes {
                input_size: input,
                output_size: output,
                charge: floats(),
                brightest,
                predicted: bytes.next().unwrap_or_default(),
                labels: bytes.next().unwrap_or_default(),
                ..Planes::default()
            });
            let about = session.engine.try_update_value(|engine| {
                engine.has_run = true;
                std::mem::take(&mut engine.about)
            });
            let about = about.unwrap_or_default();
            session.state.update(|state| state.set_results(Results { about, facts }));
            session.say(format!("Done in {took:.1} s, including reading and preparation."));
            compare_again(session);
            show_results();
        }
        Answer::Bundle => {
            at_rest(session);
            let bytes = bytes.next().unwrap_or_default();
            session.download("reference.safetensors", "application/octet-stream", &bytes);
        }
        Answer::Compared(report, suggested) => {
            at_rest(session);
            let difference = floats();
            session.planes.update(|planes| {
                let finite = difference.iter().copied().filter(|value| value.is_finite());
                planes.largest = finite.fold(0.0, f32::max);
                planes.difference = difference;
                planes.candidate = bytes.next().unwrap_or_default();
                planes.layer = Layer::Difference;
            });
            let said = if report.agrees { "Compared: PASS." } else { "Compared: FAIL." };
            session.state.update(|state| {
                let name = state.file(Slot::Candidate).map(|file| file.name.clone()).unwrap_or_default();
                state.comparison = Some(Comparison { report: *report, name, suggested });
            });
            session.say(said);
        }
        Answer::Failed(part, problem) => {
            at_rest(session);
            let place = Place::from(part);
            session.say("");
            session.state.update(|state| {
                state.set_fault(place, problem);
                if part == Part::Candidate {
                    state.comparison = None;
                }
            });
            focus(place.control());
        }
    }
}

fn show_progress(session: Session, progress: &Progress) {
    let Progress { path, step, count, share, left } = progress;
    let left = left.map_or(String::new(), |left| format!(" · about {left:.0} s left"));
    let path = short_path(path);
    let line = match count {
        0 => path,
        _ => format!("{:.0} % · step {} of {count} · {path}{left}", 100.0 * share, step.min(count)),
    };
    session.state.update(|state| state.busy = Some(Busy { line, share: *share }));
}

/// Scrolls to the results if they are below the form, as on a phone.
fn show_results() {
    browser::later(0, || {
        let Some(results) = browser::element("results") else { return };
        let in_sight = f64::from(browser::document().document_element().map_or(0, |page| page.client_height()));
        if results.get_bounding_client_rect().top() > in_sight / 2.0 && browser::page_width() < ABREAST {
            results.scroll_into_view();
            let _ = results.focus();
        }
    });
}
