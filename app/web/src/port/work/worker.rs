//! The Web Worker's message loop.

use crate::port::protocol::{Answer, Ask, Parcel, SOURCES};
use crate::port::work::desk::Desk;
use crate::port::work::guide_file::module;
use crate::port::work::wire;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// The desk, and requests that wait while the reader of guides is loaded: they are answered in order.
#[derive(Default)]
struct Counter {
    desk: Desk,
    waiting: VecDeque<Parcel<Ask>>,
    is_loading: bool,
}

/// Answers requests until the page terminates the worker.
pub fn serve() {
    let counter = Rc::new(RefCell::new(Counter::default()));
    let listen = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        if let Some(ask) = wire::unpack(event.data()) {
            counter.borrow_mut().waiting.push_back(ask);
            answer_waiting(&counter);
        }
    });
    scope().set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The listener lives as long as the worker.
    listen.forget();
    post(Parcel { head: Answer::Ready(SOURCES.to_owned()), texts: Vec::new(), colours: Vec::new() });
}

fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

fn post(answer: Parcel<Answer>) {
    let (message, buffers) = wire::pack(answer);
    // This fails only if the page is gone.
    let _ = scope().post_message_with_transfer(&message, &buffers);
}

fn answer_waiting(counter: &Rc<RefCell<Counter>>) {
    loop {
        let mut now = counter.borrow_mut();
        if now.is_loading {
            return;
        }
        let Some(ask) = now.waiting.pop_front() else { return };
        let has_guides = matches!(&ask.head, Ask::Catalogue(paths) if !paths.is_empty());
        if has_guides && !now.desk.can_read_guides() {
            now.waiting.push_front(ask);
            now.is_loading = true;
            drop(now);
            return load_reader(counter.clone());
        }
        let answer = now.desk.answer(ask);
        drop(now);
        post(answer);
    }
}

/// Loads the reader of guides. If that fails, a guide's error says so, and the next request tries again.
fn load_reader(counter: Rc<RefCell<Counter>>) {
    let loaded = {
        let counter = counter.clone();
        Closure::once(move |_| {
            {
                let mut now = counter.borrow_mut();
                now.desk.read_guides_with(Some(Box::new(module::read)));
                now.is_loading = false;
            }
            answer_waiting(&counter);
        })
    };
    let failed = Closure::once(move |_| {
        let reader = |path: &str, _: &str| {
            Err(vec![format!("{path}: the reader of guides could not be loaded; open the guide again with a network")])
        };
        {
            let mut now = counter.borrow_mut();
            now.desk.read_guides_with(Some(Box::new(reader)));
            now.is_loading = false;
        }
        answer_waiting(&counter);
        counter.borrow_mut().desk.read_guides_with(None);
    });
    let promise = module::load().unwrap_or_else(|error| js_sys::Promise::reject(&error));
    let _ = promise.then2(&loaded, &failed);
    loaded.forget();
    failed.forget();
}
