//! The page's side of the connection to the worker.

use crate::port::protocol::{Answer, Ask, Parcel, SOURCES};
use crate::port::work::wire;
use crate::shared::browser;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::{Event, MessageEvent, Worker, WorkerOptions, WorkerType};

type Then = Box<dyn FnOnce(Parcel<Answer>)>;

struct Line {
    worker: Worker,
    /// Requests made before the worker was ready; `None` once it is.
    early: Option<Vec<(JsValue, js_sys::Array)>>,
    /// Callbacks for the answers, in the order of the requests.
    waiting: VecDeque<Then>,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(Event)>,
}

thread_local! {
    static LINE: RefCell<Option<Line>> = const { RefCell::new(None) };
}

/// Starts a worker; a previous one is terminated, whatever it is doing, and its answers never arrive.
pub(super) fn start(on_ready: impl Fn() + 'static, on_broken: impl Fn(String) + 'static) {
    end();
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    let worker = match Worker::new_with_options(&browser::beside("start_engine.js"), &options) {
        Ok(worker) => worker,
        Err(error) => return on_broken(browser::reason(&error)),
    };
    let broken = Rc::new(move |why| {
        end();
        on_broken(why);
    });
    let on_broken = broken.clone();
    let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let answer = wire::unpack::<Answer>(event.data());
        // An engine built from other sources may send messages that this page can't read, or misinterprets.
        let is_other = |answer: &Parcel<Answer>| matches!(&answer.head, Answer::Ready(of) if of != SOURCES);
        let Some(answer) = answer.filter(|answer| !is_other(answer)) else {
            return on_broken("The page and the engine are different versions: reload the page.".to_owned());
        };
        if matches!(answer.head, Answer::Ready(_)) {
            LINE.with_borrow_mut(|line| {
                let Some(line) = line else { return };
                for (message, buffers) in line.early.take().unwrap_or_default() {
                    let _ = line.worker.post_message_with_transfer(&message, &buffers);
                }
            });
            return on_ready();
        }
        let then = LINE.with_borrow_mut(|line| line.as_mut().and_then(|line| line.waiting.pop_front()));
        if let Some(then) = then {
            then(answer);
        }
    });
    let error = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
        broken(browser::worker_error(&event));
    });
    worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
    worker.set_onerror(Some(error.as_ref().unchecked_ref()));
    let line = Line { worker, early: Some(Vec::new()), waiting: VecDeque::new(), _message: message, _error: error };
    LINE.set(Some(line));
}

/// Terminates the worker.
pub(super) fn end() {
    let line = LINE.take();
    if let Some(line) = line {
        line.worker.set_onmessage(None);
        line.worker.set_onerror(None);
        line.worker.terminate();
        // The code that is running may be one of its closures.
        browser::later(0, move || drop(line));
    }
}

/// Sends a request to the worker; does nothing if there is none.
pub(super) fn ask(ask: Parcel<Ask>, then: impl FnOnce(Parcel<Answer>) + 'static) {
    let (message, buffers) = wire::pack(ask);
    LINE.with_borrow_mut(|line| {
        let Some(line) = line else { return };
        line.waiting.push_back(Box::new(then));
        match &mut line.early {
            Some(early) => early.push((message, buffers)),
            // This fails only for values that can't be cloned, and texts and numbers can.
            None => drop(line.worker.post_message_with_transfer(&message, &buffers)),
        }
    });
}

/// A request without attachments.
pub(super) fn bare(head: Ask) -> Parcel<Ask> {
    Parcel { head, texts: Vec::new(), colours: Vec::new() }
}
