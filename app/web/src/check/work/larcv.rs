//! Events in larcv's HDF5 files. They are read by a worker whose program is fetched with the first such file.

use crate::shared::browser;
use js_sys::{Array, Function, Promise, Uint8Array};
use std::cell::RefCell;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ErrorEvent, File, MessageEvent, Worker, WorkerOptions, WorkerType};

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

thread_local! {
    static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
}

/// The worker that reads; it is terminated when its result is no longer needed.
struct Reader(Worker);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.terminate();
    }
}

/// Cancels the current read, if there is one. Its answer never arrives.
pub(super) fn stop() {
    READER.take();
}

/// What the desk reads from a file: the file itself, or the event with this number in an HDF5 file.
pub(super) async fn readable(file: File, number: u64) -> Result<File, JsValue> {
    let start = file.slice_with_i32_and_i32(0, SIGNATURE.len() as i32)?;
    let start = Uint8Array::new(&JsFuture::from(start.array_buffer()).await?).to_vec();
    if start != SIGNATURE {
        return Ok(file);
    }
    let answer = Promise::new(&mut |done, fail| {
        if let Err(why) = ask(&file, number, done, &fail) {
            let _ = fail.call1(&JsValue::NULL, &why);
        }
    });
    let bytes = JsFuture::from(answer).await?;
    File::new_with_u8_array_sequence(&Array::of1(&bytes), &file.name())
}

/// Starts the worker, which ends after its answer or its failure.
fn ask(file: &File, number: u64, done: Function, fail: &Function) -> Result<(), JsValue> {
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    let worker = Worker::new_with_options(&browser::beside("start_larcv.js"), &options)?;
    let failed = fail.clone();
    let hear = Closure::once_into_js(move |event: MessageEvent| {
        stop();
        let data = event.data();
        let answer = if data.is_string() { failed } else { done };
        let _ = answer.call1(&JsValue::NULL, &data);
    });
    let failed = fail.clone();
    let stop = Closure::once_into_js(move |event: ErrorEvent| {
        event.prevent_default();
        stop();
        let why = "the reader of HDF5 files could not be loaded";
        let _ = failed.call1(&JsValue::NULL, &JsValue::from_str(why));
    });
    worker.set_onmessage(Some(hear.unchecked_ref()));
    worker.set_onerror(Some(stop.unchecked_ref()));
    READER.set(Some(Reader(worker.clone())));
    worker.post_message(&Array::of2(file, &JsValue::from_f64(number as f64)))
}
