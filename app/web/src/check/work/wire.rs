//! The format of messages: `[head as bytes, files]` to the worker, `[head as bytes, floats, bytes]` from it. Numbers
//! are transferred, not copied; files are read by the worker. `threads/crew.js` forwards both.

use crate::check::protocol::{Answer, Ask, Parcel};
use js_sys::{Array, Float32Array, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::File;

/// A request as a message.
pub(crate) fn ask(ask: &Ask, files: &[File]) -> JsValue {
    let head = ask.to_bytes();
    let files: Array = files.iter().collect();
    Array::of2(&Uint8Array::from(head.as_slice()), &files).into()
}

/// A message as a request; `None` if it is not one.
pub(crate) fn asked(message: JsValue) -> Option<(Ask, Vec<File>)> {
    let parts: Array = message.dyn_into().ok()?;
    let head = Ask::from_bytes(&parts.get(0).dyn_into::<Uint8Array>().ok()?.to_vec())?;
    let files = parts.get(1).dyn_into::<Array>().ok()?;
    Some((head, files.iter().filter_map(|file| file.dyn_into().ok()).collect()))
}

/// An answer as a message, and its buffers to transfer.
pub(crate) fn answer(parcel: Parcel<Answer>) -> (JsValue, Array) {
    let head = parcel.head.to_bytes();
    let buffers = Array::new();
    let floats = Array::new();
    // One after the other, so that at most one of them exists twice.
    for numbers in parcel.floats {
        let numbers = Float32Array::from(numbers.as_slice());
        buffers.push(&numbers.buffer());
        floats.push(&numbers);
    }
    let bytes = Array::new();
    for part in parcel.bytes {
        let part = Uint8Array::from(part.as_slice());
        buffers.push(&part.buffer());
        bytes.push(&part);
    }
    (Array::of3(&Uint8Array::from(head.as_slice()), &floats, &bytes).into(), buffers)
}

/// An answer of the worker, whose numbers have not been copied.
pub(crate) struct Answered {
    pub(crate) head: Answer,
    pub(crate) floats: Vec<Float32Array>,
    pub(crate) bytes: Vec<Uint8Array>,
}

/// A message as an answer; `None` if it is not one.
pub(crate) fn answered(message: JsValue) -> Option<Answered> {
    let parts: Array = message.dyn_into().ok()?;
    let list = |place| parts.get(place).dyn_into::<Array>().ok();
    Some(Answered {
        head: Answer::from_bytes(&parts.get(0).dyn_into::<Uint8Array>().ok()?.to_vec())?,
        floats: list(1)?.iter().filter_map(|part| part.dyn_into().ok()).collect(),
        bytes: list(2)?.iter().filter_map(|part| part.dyn_into().ok()).collect(),
    })
}
