//! The worker that reads site files of the user's own. It is a program of its own because few visitors have one, and
//! reading TOML weighs as much as all else that the page does.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// Answers each text with what it says, packed, until the page ends the worker.
pub fn serve() {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let listen = {
        let scope = scope.clone();
        Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let text = event.data().as_string().unwrap_or_default();
            let answer = Uint8Array::from(&launch::pack_read(&launch::read_site(&text))[..]);
            // Refused only when the page is gone.
            let _ = scope.post_message(&answer);
        })
    };
    scope.set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The listener lives as long as the worker.
    listen.forget();
    let _ = scope.post_message(&JsValue::TRUE);
}
