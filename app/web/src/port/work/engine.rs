//! The page's end of the line to the worker.

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
    /// What was asked before the worker could hear; `None` once it can.
    early: Option<Vec<(JsValue, js_sys::Array)>>,
    /// Who waits for an answer, first come first served.
    waiting: VecDeque<Then>,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(Event)>,
}

thread_local! {
    static LINE: RefCell<Option<Line>> = const { RefCell::new(None) };
}

/// Starts a worker; the one before, if any, is ended in the middle of whatever it does, and its answers never come.
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
        // An engine that is built of other sources may say what this page does not understand, or understands otherwise.
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

/// Ends the worker.
pub(super) fn end() {
    let line = LINE.take();
    if let Some(line) = line {
        line.worker.set_onmessage(None);
        line.worker.set_onerror(None);
        line.worker.terminate();
        // One of its closures may be what is running now.
        browser::later(0, move || drop(line));
    }
}

/// Asks the worker; nothing happens when there is none.
pub(super) fn ask(ask: Parcel<Ask>, then: impl FnOnce(Parcel<Answer>) + 'static) {
    let (message, buffers) = wire::pack(ask);
    LINE.with_borrow_mut(|line| {
        let Some(line) = line else { return };
        line.waiting.push_back(Box::new(then));
        match &mut line.early {
            Some(early) => early.push((message, buffers)),
            // Fails for things that can't be copied only, and texts and numbers can.
            None => drop(line.worker.post_message_with_transfer(&message, &buffers)),
        }
    });
}

/// A question that is all head.
pub(super) fn bare(head: Ask) -> Parcel<Ask> {
    Parcel { head, texts: Vec::new(), colours: Vec::new() }
}
