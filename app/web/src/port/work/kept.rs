//! The open work as the page's scripts see it: they save it in the browser (`keep.js`), and this file converts it to
//! bytes and back. The scripts have access to nothing else of the page.

use super::session::Session;
use crate::port::state::State;
use crate::port::state::fragment::Share;
use crate::shared::browser;
use js_sys::{Function, Object, Reflect, Uint8Array};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

/// Defines `window.portolanWork`: `bytes()`, empty if nothing is open; `beside()`, data to save with them;
/// `begin(bytes, beside)`, which opens saved work, then what the address names, and returns whether nothing was typed before;
/// and `forget()`, which discards the replaced project.
///
/// Returns whether there is a script that saves the work. It is started, and calls `begin` once it has looked for saved
/// work.
pub(in crate::port) fn offer(session: Session) -> bool {
    let work = Object::new();
    let put = |name: &str, function: JsValue| drop(Reflect::set(&work, &name.into(), &function));
    let bytes_of = move |look: fn(&State) -> Vec<u8>| {
        Closure::<dyn Fn() -> Uint8Array>::new(move || Uint8Array::from(&*session.with_work(look))).into_js_value()
    };
    put("bytes", bytes_of(|state| if state.is_blank() { Vec::new() } else { state.share().to_bytes() }));
    put("beside", bytes_of(State::beside));
    let begin = Closure::<dyn Fn(Uint8Array, Uint8Array) -> bool>::new(move |bytes: Uint8Array, beside: Uint8Array| {
        let is_restored = session.restore(Share::from_bytes(&bytes.to_vec()), &beside.to_vec());
        session.begin();
        is_restored
    });
    put("begin", begin.into_js_value());
    let forget = Closure::<dyn Fn()>::new(move || session.state.update(State::forget_former));
    put("forget", forget.into_js_value());
    let window = browser::window();
    let _ = Reflect::set(&window, &"portolanWork".into(), &work);
    let keeps = Reflect::get(&window, &"portolanKeeps".into()).and_then(JsValue::dyn_into::<Function>);
    keeps.and_then(|keeps| keeps.call0(&window)).is_ok()
}
