//! The Web Worker in which such a program runs.

use js_sys::Uint8Array;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// Answers the page's requests until the page terminates the worker.
pub(super) fn serve<Q: DeserializeOwned, A: Serialize>(answer: impl Fn(Q) -> A + 'static) {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let listen = {
        let scope = scope.clone();
        Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let asked = Uint8Array::new(&event.data()).to_vec();
            let Ok(question) = postcard::from_bytes(&asked) else { return };
            let answered = postcard::to_allocvec(&answer(question)).unwrap_or_default();
            // This fails only if the page is gone.
            let _ = scope.post_message(&Uint8Array::from(&answered[..]));
        })
    };
    scope.set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The listener lives as long as the worker.
    listen.forget();
    let _ = scope.post_message(&JsValue::TRUE);
}
