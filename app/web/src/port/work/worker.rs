//! The worker's message loop.

use crate::port::protocol::{Answer, Parcel, SOURCES};
use crate::port::work::desk::Desk;
use crate::port::work::wire;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// Answers requests until the page terminates the worker.
pub fn serve() {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let mut desk = Desk::default();
    let post = {
        let scope = scope.clone();
        move |answer: Parcel<Answer>| {
            let (message, buffers) = wire::pack(answer);
            // This fails only if the page is gone.
            let _ = scope.post_message_with_transfer(&message, &buffers);
        }
    };
    let ready = Parcel { head: Answer::Ready(SOURCES.to_owned()), texts: Vec::new(), colours: Vec::new() };
    let listen = {
        let post = post.clone();
        Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            if let Some(ask) = wire::unpack(event.data()) {
                post(desk.answer(ask));
            }
        })
    };
    scope.set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The listener lives as long as the worker.
    listen.forget();
    post(ready);
}
