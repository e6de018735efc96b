//! The open work, as the page's scripts see it: they keep it in the browser (`keep.js`), and this file turns it into bytes
//! and back. Nothing else of the page is offered to them.

use crate::browser;
use crate::port::app::Session;
use crate::port::fragment::Share;
use crate::port::project;
use js_sys::{Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

/// Puts `portolanWork` into the window: `bytes()`, empty when nothing is open, and `open(bytes)`, which says whether it did.
pub(crate) fn offer(session: Session) {
    let bytes = Closure::<dyn Fn() -> Uint8Array>::new(move || {
        session.with_work(|state| {
            let bytes = if state.is_empty() { Vec::new() } else { state.share().to_bytes() };
            Uint8Array::from(&*bytes)
        })
    });
    let open = Closure::<dyn Fn(Uint8Array) -> bool>::new(move |bytes: Uint8Array| {
        let share = Share::from_bytes(&bytes.to_vec());
        match share.filter(|share| project::check_project(&share.files).is_ok()) {
            Some(share) => {
                session.change_and_port(|state| state.open_share(share));
                true
            }
            None => false,
        }
    });
    let work = Object::new();
    let _ = Reflect::set(&work, &"bytes".into(), &bytes.into_js_value());
    let _ = Reflect::set(&work, &"open".into(), &open.into_js_value());
    let _ = Reflect::set(&browser::window(), &"portolanWork".into(), &work);
}
