//! The field that finds text in the diff. The browser's own search only sees the visible rows.

use crate::port::work::Session;
use crate::shared::browser;
use crate::shared::view::When;
use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;
use leptos::task::{spawn_local, tick};
use wasm_bindgen::JsCast;
use web_sys::Element;

/// The search bar, if it is open: the field, its buttons and the current match.
#[component]
pub(super) fn Find() -> impl IntoView {
    let session: Session = expect_context();
    let open = session.memo(|state| state.find.is_open);
    let handle = window_event_listener(ev::keydown, move |event| {
        if (event.ctrl_key() || event.meta_key())
            && event.key().eq_ignore_ascii_case("f")
            && !event.shift_key()
            && !in_a_field(&event)
        {
            event.prevent_default();
            show(session);
        }
    });
    on_cleanup(move || handle.remove());
    view! {
        <When holds=open>
            <Bar/>
        </When>
    }
}

/// Shows the field and focuses it before the next key press.
pub(super) fn show(session: Session) {
    session.state.update(|state| state.open_find(true));
    spawn_local(async {
        // The field exists once the pending effects have run.
        tick().await;
        if let Some(field) = browser::element("find") {
            let _ = field.focus();
        }
    });
}

fn hide(session: Session) {
    session.state.update(|state| state.open_find(false));
    if let Some(table) = browser::element("diff-scroll") {
        let _ = table.focus();
    }
}

#[component]
fn Bar() -> impl IntoView {
    let session: Session = expect_context();
    let said = session.memo(|state| state.find.said.clone());
    let text = session.state.with_untracked(|state| state.find.text.clone());
    let go = move |forward: bool| session.state.update(|state| state.find_next(forward));
    let key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "Enter" => go(!event.shift_key()),
            "Escape" => hide(session),
            _ => return,
        }
        event.prevent_default();
    };
    view! {
        <div class="tools find-bar" role="search" aria-label="This file">
            <input
                type="search"
                id="find"
                aria-label="Find in this file"
                placeholder="Find in this file"
                autocomplete="off"
                spellcheck="false"
                prop:value=text
                on:input=move |event| session.state.update(|state| state.find(event_target_value(&event)))
                on:keydown=key
            />
            <button class="button quiet small" on:click=move |_| go(false)>"↑ Previous match"</button>
            <button class="button quiet small" on:click=move |_| go(true)>"↓ Next match"</button>
            <span class="step-place" id="find-place" role="status">{said}</span>
            <span class="stretch"></span>
            <button class="button quiet small" on:click=move |_| hide(session)>"Close"</button>
        </div>
    }
}

/// Whether a field has the focus: the browser searches the source, and handles a second Ctrl+F.
fn in_a_field(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    target.is_some_and(|target| target.matches("input, textarea").unwrap_or(false))
}
