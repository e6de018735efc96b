//! A field for a file, which can be chosen or dropped.

use crate::check::state::names::size;
use crate::check::state::{Place, Slot};
use crate::check::work::Session;
use leptos::ev::{DragEvent, Event};
use leptos::html::Input;
use leptos::prelude::*;

/// The file of a slot. It is the last control of its fieldset; a file can be dropped on it.
#[component]
pub(super) fn FileField(of: Slot, label: &'static str, accept: &'static str) -> impl IntoView {
    let session: Session = expect_context();
    let place = Place::File(of);
    let input = NodeRef::<Input>::new();
    let fault = move || session.state.with(|state| state.fault(place));
    let invalid = move || (!fault().is_empty()).then_some("true");
    let name =
        move || session.state.with(|state| state.file(of).map(|file| format!("{}, {}", file.name, size(file.bytes))));
    let chosen = move |_: Event| {
        if let Some(file) = input.get_untracked().and_then(|input| input.files()?.get(0)) {
            session.choose_file(of, file);
        }
    };
    view! {
        <div class="field drop" on:dragover=|event: DragEvent| event.prevent_default() on:drop=dropped(session, of)>
            <label for=place.control()>{label}</label>
            <input
                type="file"
                id=place.control()
                accept=accept
                aria-describedby=format!("fault-{}", place.control())
                aria-invalid=invalid
                node_ref=input
                on:change=chosen
            />
            <p class="hint" id=format!("name-{}", of.word())>{name}</p>
            <p class="fault" id=format!("fault-{}", place.control()) role="alert">{fault}</p>
        </div>
    }
}

/// Handles a dropped file.
pub(super) fn dropped(session: Session, slot: Slot) -> impl Fn(DragEvent) {
    move |event: DragEvent| {
        event.prevent_default();
        event.stop_propagation();
        if let Some(file) = event.data_transfer().and_then(|data| data.files()?.get(0)) {
            session.choose_file(slot, file);
        }
    }
}
