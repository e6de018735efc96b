//! Asks the worker, and shows what it answers.

use super::{State, fault, files, focus, html, larcv, offer_layers, shown, text, threads, with};
use crate::browser::{self, element, now};
use crate::check::parts::{about, comparison, layers, short_path, statistics};
use crate::check::picture::Layer;
use crate::check::planes::Planes;
use crate::check::protocol::{Answer, Ask, Done, Facts, Part, Progress, Stages};
use crate::check::wire::{self, Answered};
use js_sys::Date;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{ErrorEvent, File, HtmlInputElement, MessageEvent, Worker, WorkerOptions, WorkerType};

/// The worker and what it is doing.
#[derive(Default)]
pub(crate) struct Worked {
    worker: Option<Worker>,
    /// As many threads as it was started for.
    threads: usize,
    /// It has said that it listens.
    ready: bool,
    /// Waits for a worker that listens.
    waiting: Option<(Ask, Vec<File>)>,
    /// It has been asked and has not answered, since this moment.
    busy: Option<f64>,
    /// It holds the run whose statistics are on the page.
    has_run: bool,
    /// How often a file was waited for so far; a later time, or a cancel, makes an earlier one void.
    preparations: usize,
    /// What the run is of that goes on, as HTML.
    asked_for: String,
    /// The same of the run whose statistics are on the page.
    about: String,
    /// What is told about that run.
    facts: Option<Facts>,
    /// The last comparison as JSON.
    report: Option<String>,
}

/// Computes what the form says.
pub(super) fn run() {
    let (ask, files, faults) = with(|state| {
        let mut files = Vec::new();
        let mut faults: Vec<(String, String)> = Vec::new();
        let (choice, chosen) = (&state.choice, &state.files);
        let wanted = [
            ("weights", choice.has_weight_file(), &chosen.weights),
            ("weights", choice.has_sample_weights(), &chosen.sample),
            ("input", choice.has_input_file(), &chosen.input),
        ];
        let event = chosen.readable.as_ref().filter(|(number, _)| *number == choice.event).map(|(_, file)| file);
        for (name, wanted, file) in wanted {
            match file {
                _ if !wanted => {}
                Some(file) => files.push(event.filter(|_| name == "input").unwrap_or(file).clone()),
                // Fetched below.
                None if name == "weights" && choice.has_sample_weights() => {}
                None => faults.push((format!("file-{name}"), "Choose a file first, or drop one here.".to_string())),
            }
        }
        let bad =
            state.refused.keys().cloned().chain(state.choice.faults().into_iter().map(|fault| fault.key.to_string()));
        faults.extend(bad.map(|key| (key, String::new())));
        (Ask::Run(Box::new(state.choice.run())), files, faults)
    });
    for key in ["run", "file-weights", "file-input"] {
        fault(key, "");
    }
    if let Some((key, _)) = faults.first() {
        for (key, problem) in faults.iter().filter(|(_, problem)| !problem.is_empty()) {
            fault(key, problem);
        }
        let id = if key.starts_with("file-") { key.clone() } else { format!("f-{key}") };
        focus(&id);
        return;
    }
    if with(|state| state.choice.has_sample_weights() && state.files.sample.is_none()) {
        fetch_sample();
        return;
    }
    let unread = with(|state| {
        let (choice, files) = (&state.choice, &state.files);
        let is_read = files.readable.as_ref().is_some_and(|(number, _)| *number == choice.event);
        files.input.clone().filter(|_| choice.has_input_file() && !is_read).map(|file| (file, choice.event))
    });
    if let Some((file, number)) = unread {
        take_event(file, number);
        return;
    }
    with(|state| {
        let (choice, chosen) = (&state.choice, &state.files);
        let [weights, input] = [&chosen.weights, &chosen.input].map(|file| file.as_ref().map(File::name));
        let when = String::from(Date::new_0().to_iso_string());
        state.worked.asked_for = about::html(choice, weights.as_deref(), input.as_deref(), &when);
    });
    ask_worker(ask, files);
}

/// Fetches the sample weights, then runs.
fn fetch_sample() {
    prepare(
        "Fetching the sample weights",
        files::fetch_sample(),
        |state, file| state.files.sample = Some(file),
        |why| {
            fault("run", &format!("The sample weights can’t be fetched: {why}"));
        },
    );
}

/// Takes an event out of the input, where the desk can't read it as it is, then runs.
fn take_event(file: File, number: u64) {
    let source = file.clone();
    let taken = move |state: &mut State, file| {
        // Another file may have been chosen meanwhile.
        if state.files.input.as_ref() == Some(&source) {
            state.files.readable = Some((number, file));
        }
    };
    prepare("Opening the event", larcv::readable(file, number), taken, |why| fault("file-input", why));
}

/// Waits for a file that a run needs, keeps it, then runs.
fn prepare(
    doing: &str,
    file: impl Future<Output = Result<File, JsValue>> + 'static,
    keep: impl FnOnce(&mut State, File) + 'static,
    refuse: impl FnOnce(&str) + 'static,
) {
    if is_busy() {
        return;
    }
    let number = with(|state| {
        state.worked.busy = Some(now());
        state.worked.preparations += 1;
        state.worked.preparations
    });
    show_busy(true);
    show_doing(doing);
    spawn_local(async move {
        let file = file.await;
        if with(|state| state.worked.preparations != number) {
            return;
        }
        with(|state| state.worked.busy = None);
        show_busy(false);
        match file {
            Ok(file) => {
                with(|state| keep(state, file));
                run();
            }
            Err(why) => {
                text("said", "");
                refuse(&browser::reason(&why));
            }
        }
    });
}

/// Says so when something goes on already.
fn is_busy() -> bool {
    let busy = with(|state| state.worked.busy.is_some());
    if busy {
        fault("run", "One thing at a time: wait for what is going on, or cancel it.");
    }
    busy
}

/// Writes the last run into a file.
pub(super) fn bundle() {
    let weights = element("with-weights").is_none_or(|tick| tick.unchecked_ref::<HtmlInputElement>().checked());
    let stages = with(|state| [Stages::None, Stages::Coarse, Stages::All][state.choice.stages]);
    ask_worker(Ask::Bundle { weights, stages }, Vec::new());
}

/// Compares the chosen outputs, if there are any, by the chosen precision.
pub(super) fn compare_again() {
    let (file, precision) = with(|state| (state.files.candidate.clone(), state.choice.precision));
    if let Some(file) = file {
        fault("file-candidate", "");
        ask_worker(Ask::Compare { precision }, vec![file]);
    }
}

/// Gives the user the script that runs a ported project on the last run's reference.
pub(super) fn script() {
    let config = with(|state| state.worked.facts.as_ref().map(|facts| facts.config.clone()));
    let Some(config) = config else { return };
    let given = browser::download("check_port.py", "text/x-python", uresnet::check_script(&config).as_bytes());
    text("said", &given.map_or_else(|why| browser::reason(&why), |()| "check_port.py is in your downloads.".into()));
}

/// Gives the user the last comparison.
pub(super) fn report() {
    let report = with(|state| state.worked.report.clone()).unwrap_or_default();
    if let Err(why) = browser::download("portolan-check.json", "application/json", report.as_bytes()) {
        text("said", &browser::reason(&why));
    }
}

/// Ends the worker in the middle of what it does. The form and the last results stay.
pub(super) fn cancel() {
    end();
    text("said", "Cancelled. The form is as it was.");
    focus("run");
}

fn end() {
    larcv::stop();
    with(|state| {
        if let Some(worker) = state.worked.worker.take() {
            worker.terminate();
        }
        (state.worked.ready, state.worked.busy, state.worked.waiting) = (false, None, None);
        state.worked.has_run = false;
        state.worked.preparations += 1;
    });
    show_busy(false);
}

fn ask_worker(ask: Ask, files: Vec<File>) {
    let is_run = matches!(ask, Ask::Run(_));
    if is_busy() {
        return;
    }
    if !is_run && !with(|state| state.worked.has_run) {
        fault("run", "Press Run first: the worker that held the last run is gone.");
        return;
    }
    fault("run", "");
    let threads = threads::chosen();
    if is_run && with(|state| state.worked.threads != threads) {
        end();
    }
    if with(|state| state.worked.worker.is_none()) {
        match start(threads) {
            Ok(worker) => with(|state| (state.worked.worker, state.worked.threads) = (Some(worker), threads)),
            Err(why) => {
                fault("run", &format!("The worker can’t be started: {}", browser::reason(&why)));
                return;
            }
        }
    }
    with(|state| {
        state.worked.busy = Some(now());
        state.worked.waiting = Some((ask, files));
    });
    show_busy(true);
    show_doing("Loading the network");
    send();
}

/// Sends what waits, when the worker listens.
fn send() {
    let sent = with(|state| {
        let worked = &mut state.worked;
        let (Some(worker), true) = (&worked.worker, worked.ready) else { return Ok(()) };
        let Some((ask, files)) = worked.waiting.take() else { return Ok(()) };
        show_doing(match ask {
            Ask::Run(_) => "Running the network",
            Ask::Bundle { .. } => "Writing the reference",
            Ask::Compare { .. } => "Comparing",
        });
        worker.post_message(&wire::ask(&ask, &files))
    });
    if let Err(why) = sent {
        end();
        fault("run", &browser::reason(&why));
    }
}

fn start(threads: usize) -> Result<Worker, JsValue> {
    let options = WorkerOptions::new();
    options.set_name(&threads.to_string());
    options.set_type(WorkerType::Module);
    let worker = Worker::new_with_options(&browser::beside("start_forward.js"), &options)?;
    let hear = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
        if let Some(answer) = wire::answered(event.data()) {
            hear(answer);
        }
    });
    worker.set_onmessage(Some(hear.as_ref().unchecked_ref()));
    let fail = Closure::<dyn FnMut(ErrorEvent)>::new(|event: ErrorEvent| {
        event.prevent_default();
        end();
        text("said", "");
        let why = match event.message() {
            message if message.is_empty() => "it could not be loaded".to_string(),
            message => message,
        };
        fault(
            "run",
            &format!(
                "The worker stopped: {why}. If the picture is large, its maps may need more memory than the browser gives; \
             take a smaller picture or downsample."
            ),
        );
    });
    worker.set_onerror(Some(fail.as_ref().unchecked_ref()));
    hear.forget();
    fail.forget();
    Ok(worker)
}

fn hear(answer: Answered) {
    let Answered { head, floats, bytes } = answer;
    if let Answer::Progress(progress) = &head {
        show_progress(progress);
        return;
    }
    if head == Answer::Ready {
        with(|state| state.worked.ready = true);
        send();
        return;
    }
    let took = with(|state| state.worked.busy.take()).map_or(0.0, |start| (now() - start) / 1e3);
    show_busy(false);
    match head {
        Answer::Done(done) => {
            let Done { input, output, brightest, facts } = *done;
            html("statistics", &statistics::html(&facts));
            html("layers", &layers::html(&facts.steps));
            let mut bytes = bytes.iter().map(js_sys::Uint8Array::to_vec);
            with(|state| {
                state.worked.has_run = true;
                state.worked.report = None;
                state.worked.facts = Some(facts);
                state.worked.about = std::mem::take(&mut state.worked.asked_for);
                state.planes = Planes {
                    input_size: input,
                    output_size: output,
                    charge: floats.first().map(js_sys::Float32Array::to_vec).unwrap_or_default(),
                    brightest,
                    predicted: bytes.next().unwrap_or_default(),
                    labels: bytes.next().unwrap_or_default(),
                    ..Planes::default()
                };
            });
            html("about", &with(|state| state.worked.about.clone()));
            html("comparison", "");
            shown("reported", false);
            shown("empty", false);
            shown("results", true);
            for plane in 0..uresnet::PLANES {
                text(&format!("value-{plane}"), "");
            }
            text("said", &format!("Done after {took:.1} s."));
            offer_layers(Layer::Input);
            if with(|state| state.files.candidate.is_some()) {
                compare_again();
            }
        }
        Answer::Bundle => {
            let bytes = bytes.first().map(js_sys::Uint8Array::to_vec).unwrap_or_default();
            let given = browser::download("reference.safetensors", "application/octet-stream", &bytes);
            text(
                "said",
                &given.map_or_else(|why| browser::reason(&why), |()| "The reference is in your downloads.".into()),
            );
        }
        Answer::Compared(report) => {
            let difference = floats.first().map(js_sys::Float32Array::to_vec).unwrap_or_default();
            with(|state| {
                let finite = difference.iter().copied().filter(|value| value.is_finite());
                state.planes.largest = finite.fold(0.0, f32::max);
                state.planes.difference = difference;
                state.planes.candidate = bytes.first().map(js_sys::Uint8Array::to_vec).unwrap_or_default();
            });
            let (html_of_it, about) = with(|state| {
                let Some(facts) = &state.worked.facts else { return Default::default() };
                state.worked.report = Some(statistics::json(facts, Some(&report)));
                let name = state.files.candidate.as_ref().map(File::name).unwrap_or_default();
                let row = about::candidate(&name, comparison::name(report.precision));
                (comparison::html(&report, &facts.shape), format!("{}{row}", state.worked.about))
            });
            html("comparison", &html_of_it);
            html("about", &about);
            shown("reported", true);
            offer_layers(Layer::Difference);
            let verdict = if report.agrees { "the outputs agree" } else { "the outputs do not agree" };
            text("said", &format!("Compared: {verdict}."));
        }
        Answer::Failed(part, problem) => {
            text("said", "");
            let (key, control) = match part {
                Part::Config => ("preset", "f-preset"),
                Part::Size => ("height", "f-height"),
                Part::Weights => ("file-weights", "file-weights"),
                Part::Input => ("file-input", "file-input"),
                Part::Candidate => ("file-candidate", "file-candidate"),
                Part::Run => ("run", "run"),
            };
            fault(key, &problem);
            if part == Part::Candidate {
                html("about", &with(|state| state.worked.about.clone()));
                html("comparison", "");
                shown("reported", false);
            }
            focus(control);
        }
        Answer::Ready | Answer::Progress(_) => {}
    }
}

fn show_progress(progress: &Progress) {
    let Progress { path, step, count, share, left } = progress;
    if let Some(bar) = element("bar") {
        // An attribute of this name is always taken.
        let _ = bar.set_attribute("value", &share.to_string());
    }
    let left = left.map_or(String::new(), |left| format!(" · about {left:.0} s left"));
    let path = short_path(path);
    let line = match count {
        0 => path,
        _ => format!("{:.0} % · step {} of {count} · {path}{left}", 100.0 * share, step.min(count)),
    };
    text("step", &line);
}

/// What goes on, for the eye and for the ear.
fn show_doing(doing: &str) {
    text("said", doing);
    text("step", doing);
}

fn show_busy(busy: bool) {
    shown("cancel", busy);
    shown("going", busy);
    if let Some(button) = element("run") {
        let button: &HtmlInputElement = button.unchecked_ref();
        button.set_disabled(busy);
    }
    if let Some(bar) = element("bar").filter(|_| busy) {
        let _ = bar.set_attribute("value", "0");
    }
}
