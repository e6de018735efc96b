//! The page's end of the line to the reader of site files, a worker that is fetched with the first such file.

use crate::shared::browser;
use js_sys::Uint8Array;
use launch::{Problem, Site};
use std::cell::RefCell;
use std::collections::VecDeque;
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};

type Then = Box<dyn FnOnce(Result<Site, Problem>)>;

/// The worker and who waits for its answers, first come first served.
struct Reader {
    worker: Worker,
    /// What was asked before the worker could hear; `None` once it can.
    early: Option<Vec<String>>,
    waiting: VecDeque<Then>,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(ErrorEvent)>,
}

thread_local! {
    static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
}

/// Has a site file read.
pub(super) fn read(text: &str, then: impl FnOnce(Result<Site, Problem>) + 'static) {
    if READER.with_borrow(Option::is_none) {
        match start() {
            Ok(reader) => READER.set(Some(reader)),
            Err(why) => return then(Err(not_loaded(&browser::reason(&why)))),
        }
    }
    READER.with_borrow_mut(|reader| {
        let Some(reader) = reader else { return };
        reader.waiting.push_back(Box::new(then));
        match &mut reader.early {
            Some(early) => early.push(text.to_owned()),
            // A text can always be copied.
            None => drop(reader.worker.post_message(&text.into())),
        }
    });
}

fn start() -> Result<Reader, JsValue> {
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    let worker = Worker::new_with_options(&browser::beside("start_site_file.js"), &options)?;
    let message = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| hear(&event));
    let error = Closure::<dyn FnMut(ErrorEvent)>::new(|event: ErrorEvent| {
        event.prevent_default();
        fail(&event.message());
    });
    worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
    worker.set_onerror(Some(error.as_ref().unchecked_ref()));
    Ok(Reader { worker, early: Some(Vec::new()), waiting: VecDeque::new(), _message: message, _error: error })
}

/// The worker's first message says that it hears; each later one answers a question.
fn hear(event: &MessageEvent) {
    let answer = event.data().dyn_into::<Uint8Array>().ok().map(|bytes| bytes.to_vec());
    let then = READER.with_borrow_mut(|reader| {
        let reader = reader.as_mut()?;
        for text in reader.early.take().unwrap_or_default() {
            let _ = reader.worker.post_message(&text.into());
        }
        answer.as_ref().and_then(|_| reader.waiting.pop_front())
    });
    if let (Some(then), Some(answer)) = (then, answer) {
        then(launch::unpack_read(&answer));
    }
}

/// The worker could not be loaded, or it broke: all who wait are told, and the next file is tried anew.
fn fail(why: &str) {
    let Some(mut reader) = READER.take() else { return };
    reader.worker.terminate();
    for then in reader.waiting.drain(..) {
        then(Err(not_loaded(why)));
    }
    // One of its closures is what is running now.
    browser::later(0, move || drop(reader));
}

fn not_loaded(why: &str) -> Problem {
    let field = "site-file".to_owned();
    Problem { field, message: format!("can't be read here: the reader of site files could not be loaded ({why})") }
}
