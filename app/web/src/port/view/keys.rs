//! Keys that work anywhere on the page, and a list of them.

use crate::port::work::Session;
use leptos::ev::{self, KeyboardEvent};
use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Element;

/// The keys and their actions.
const KEYS: [(&str, &str); 11] = [
    ("F8, Shift+F8", "Next change, previous change"),
    ("Ctrl+F", "Find in the current file, including folded lines; in a text field, the browser’s own search"),
    ("Ctrl+Enter", "Port now"),
    ("Tab", "In the source: indent"),
    ("Esc, then Tab", "Leave the source"),
    ("Ctrl+Z, Ctrl+Y", "In the port: undo or redo the last accepted or rejected change"),
    ("↑ ↓ ← →, Enter", "In the list of files: move, fold and unfold, show; Delete removes the file"),
    ("← →", "Switch tabs; on the border between the panes, move the border"),
    ("/ or Ctrl+K", "Search the guides"),
    ("Esc", "Close a menu or this list"),
    ("?", "This list"),
];

/// Handles the keys, and contains the list.
#[component]
pub(super) fn Keys() -> impl IntoView {
    let session: Session = expect_context();
    let dialog = NodeRef::<Dialog>::new();
    let handle = window_event_listener(ev::keydown, move |event| {
        let command = event.ctrl_key() || event.meta_key();
        match event.key().as_str() {
            "Enter" if command => session.port_now(),
            "F8" => session.step(!event.shift_key()),
            "?" if !command && !is_typing(&event) => {
                if let Some(dialog) = dialog.get_untracked() {
                    let _ = dialog.show_modal();
                }
            }
            _ => return,
        }
        event.prevent_default();
    });
    on_cleanup(move || handle.remove());
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    let row = |(key, does): (&'static str, &'static str)| {
        view! {
            <div>
                <dt><kbd>{key}</kbd></dt>
                <dd>{does}</dd>
            </div>
        }
    };
    view! {
        <dialog class="key-list" id="key-list" aria-labelledby="key-list-head" node_ref=dialog>
            <h2 id="key-list-head">"Keys"</h2>
            <dl>{KEYS.map(row).collect_view()}</dl>
            <button class="button small" on:click=close>
                "Close"
            </button>
        </dialog>
    }
}

fn is_typing(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    target.is_some_and(|target| target.matches("input:not([type=checkbox]), textarea, select").unwrap_or(false))
}
