//! The page's side of the connections to the readers of users' own files, workers that are fetched with the first such
//! file.

use crate::shared::browser;
use js_sys::Uint8Array;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::thread::LocalKey;
use wasm_bindgen::prelude::*;
use web_sys::{Event, MessageEvent, Worker, WorkerOptions, WorkerType};

/// Receives the answer, or why there is none.
type Then = Box<dyn FnOnce(Result<Vec<u8>, String>)>;

/// A worker, and the callbacks for its answers in the order of the requests.
pub(super) struct Line {
    worker: Worker,
    /// Requests made before the worker was ready; `None` once it is.
    early: Option<Vec<Uint8Array>>,
    waiting: VecDeque<Then>,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(Event)>,
}

/// A reader: its start script, and the connection once it is needed.
pub(super) type Reader = (&'static str, RefCell<Option<Line>>);

thread_local! {
    /// Reads site files.
    pub(super) static SITE_FILES: Reader = const { ("start_site_file.js", RefCell::new(None)) };
    /// Checks scripts.
    pub(super) static SCRIPTS: Reader = const { ("start_own_script.js", RefCell::new(None)) };
}

/// Sends a request to a reader.
pub(super) fn ask<A: DeserializeOwned>(
    reader: &'static LocalKey<Reader>,
    question: &impl Serialize,
    then: impl FnOnce(Result<A, String>) + 'static,
) {
    let asked = Uint8Array::from(&postcard::to_allocvec(question).unwrap_or_default()[..]);
    let read = |answered: Vec<u8>| postcard::from_bytes(&answered).map_err(|error| error.to_string());
    send(reader, asked, Box::new(move |answered| then(answered.and_then(read))));
}

fn send(reader: &'static LocalKey<Reader>, asked: Uint8Array, then: Then) {
    reader.with(|(program, line)| {
        if line.borrow().is_none() {
            match start(reader, program) {
                Ok(started) => drop(line.replace(Some(started))),
                Err(why) => return then(Err(browser::reason(&why))),
            }
        }
        let mut line = line.borrow_mut();
        let Some(line) = line.as_mut() else { return };
        line.waiting.push_back(then);
        match &mut line.early {
            Some(early) => early.push(asked),
            // Bytes can always be cloned.
            None => drop(line.worker.post_message(&asked)),
        }
    });
}

fn start(reader: &'static LocalKey<Reader>, program: &str) -> Result<Line, JsValue> {
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    let worker = Worker::new_with_options(&browser::beside(program), &options)?;
    let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| hear(reader, &event));
    let error = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
        event.prevent_default();
        fail(reader, &browser::worker_error(&event));
    });
    worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
    worker.set_onerror(Some(error.as_ref().unchecked_ref()));
    Ok(Line { worker, early: Some(Vec::new()), waiting: VecDeque::new(), _message: message, _error: error })
}

/// The worker's first message says that it is ready; each later one is an answer.
fn hear(reader: &'static LocalKey<Reader>, event: &MessageEvent) {
    let answered = event.data().dyn_into::<Uint8Array>().ok().map(|bytes| bytes.to_vec());
    let then = reader.with(|(_, line)| {
        let mut line = line.borrow_mut();
        let line = line.as_mut()?;
        for asked in line.early.take().unwrap_or_default() {
            let _ = line.worker.post_message(&asked);
        }
        answered.as_ref().and_then(|_| line.waiting.pop_front())
    });
    if let (Some(then), Some(answered)) = (then, answered) {
        then(Ok(answered));
    }
}

/// The worker could not be loaded, or it failed: all callbacks are notified, and the next request starts another one.
fn fail(reader: &'static LocalKey<Reader>, why: &str) {
    let Some(mut line) = reader.with(|(_, line)| line.take()) else { return };
    line.worker.terminate();
    for then in line.waiting.drain(..) {
        then(Err(why.to_owned()));
    }
    // The code that is running is one of its closures.
    browser::later(0, move || drop(line));
}
