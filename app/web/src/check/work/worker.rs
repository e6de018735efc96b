//! The worker's message loop.

use crate::check::protocol::{Answer, Parcel, Part, Progress};
use crate::check::work::desk::{Desk, Fault, Watch};
use crate::check::work::program::Program;
use crate::check::work::wire;
use js_sys::{Date, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, File, FileReaderSync, MessageEvent};

/// Answers requests until the page terminates the worker. `program` runs the network; it is created by `forward.js`.
pub fn serve(program: JsValue) {
    let mut desk = Desk::new(Box::new(program.unchecked_into::<Program>()));
    let listen = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        if let Some((ask, files)) = wire::asked(event.data()) {
            let mut files = files.iter();
            post(desk.answer(&ask, &mut |part| bytes(files.next(), part), &Page));
        }
    });
    scope().set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The listener lives as long as the worker.
    listen.forget();
    post(Parcel::of(Answer::Ready));
}

/// The contents of a file. A worker may block until it is read, so nothing else runs in between.
fn bytes(file: Option<&File>, part: Part) -> Result<Vec<u8>, Fault> {
    let file = file.ok_or_else(|| Fault::lacking(part))?;
    let read = FileReaderSync::new().and_then(|reader| reader.read_as_array_buffer(file));
    let buffer = read.map_err(|_| Fault::unreadable(part, &file.name()))?;
    Ok(Uint8Array::new(&buffer).to_vec())
}

/// The connection to the page.
struct Page;

impl Watch for Page {
    fn now(&self) -> f64 {
        scope().performance().map_or_else(Date::now, |clock| clock.now()) / 1e3
    }

    fn tell(&self, progress: Progress) {
        post(Parcel::of(Answer::Progress(progress)));
    }

    fn memory(&self) -> usize {
        core::arch::wasm32::memory_size(0) << 16
    }
}

fn post(answer: Parcel<Answer>) {
    let (message, buffers) = wire::answer(answer);
    // This fails only if the page is gone.
    let _ = scope().post_message_with_transfer(&message, &buffers);
}

fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}
