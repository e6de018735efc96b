//! The worker's loop: a question in, answers out.

use crate::check::desk::{Desk, Fault, Watch};
use crate::check::protocol::{Answer, Ask, Input, Parcel, Part, Progress, Weights};
use crate::check::wire;
use js_sys::{Date, Uint8Array};
use std::cell::Cell;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, File, FileReaderSync, MessageEvent};

/// Milliseconds between two messages about a run.
const PAUSE: f64 = 60.0;

/// Answers questions until the page ends the worker.
pub fn serve() {
    let mut desk = Desk::default();
    let listen = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        if let Some((ask, files)) = wire::asked(event.data()) {
            let answer = answer(&mut desk, &ask, &files);
            post(answer.unwrap_or_else(|Fault(part, why)| Parcel::of(Answer::Failed(part, why))));
        }
    });
    scope().set_onmessage(Some(listen.as_ref().unchecked_ref()));
    // The listener lives as long as the worker.
    listen.forget();
    post(Parcel::of(Answer::Ready));
}

fn answer(desk: &mut Desk, ask: &Ask, files: &[File]) -> Result<Parcel<Answer>, Fault> {
    let mut files = files.iter();
    match ask {
        Ask::Run(run) => {
            let weights = match run.weights {
                Weights::File => Some(bytes(files.next(), Part::Weights)?),
                Weights::Seeded(_) => None,
            };
            let input = match run.input {
                Input::File(_) => Some(bytes(files.next(), Part::Input)?),
                Input::Synthetic(_) => None,
            };
            desk.run(run, weights, input, &Page)
        }
        Ask::Bundle { weights, stages } => desk.bundle(*weights, *stages, &Page),
        Ask::Compare { precision } => desk.compare(bytes(files.next(), Part::Candidate)?, *precision, &Page),
    }
}

/// What a file holds. A worker may wait for it, so nothing else comes in between.
fn bytes(file: Option<&File>, part: Part) -> Result<Vec<u8>, Fault> {
    let file = file.ok_or_else(|| Fault(part, "choose a file first".to_string()))?;
    let read = FileReaderSync::new().and_then(|reader| reader.read_as_array_buffer(file));
    let buffer = read.map_err(|_| Fault(part, format!("{} can't be read any more; choose it again", file.name())))?;
    Ok(Uint8Array::new(&buffer).to_vec())
}

/// The page at the other end.
struct Page;

thread_local! {
    static LAST: Cell<f64> = const { Cell::new(0.0) };
}

impl Watch for Page {
    fn now(&self) -> f64 {
        scope().performance().map_or_else(Date::now, |clock| clock.now()) / 1e3
    }

    fn tell(&self, progress: Progress) {
        let now = self.now() * 1e3;
        if LAST.get() + PAUSE <= now || progress.step == 0 {
            LAST.set(now);
            post(Parcel::of(Answer::Progress(progress)));
        }
    }

    fn memory(&self) -> usize {
        core::arch::wasm32::memory_size(0) << 16
    }
}

fn post(answer: Parcel<Answer>) {
    let (message, buffers) = wire::answer(answer);
    // Refused only when the page is gone.
    let _ = scope().post_message_with_transfer(&message, &buffers);
}

fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}
