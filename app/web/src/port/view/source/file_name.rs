//! The name of the current file.

use crate::port::work::Session;
use crate::shared::view::When;
use leptos::prelude::*;

/// The name's field; recipes and the patch use the name.
#[component]
pub(super) fn FileName() -> impl IntoView {
    let session: Session = expect_context();
    let name = session.memo(|state| state.file().map(|file| file.path.clone()));
    let is_there = session.memo(|state| state.file().is_some());
    let unnamed = session.memo(|state| state.file().is_some_and(|file| file.unnamed));
    let rename = move |event| {
        let value = event_target_value(&event);
        session.change_and_port(|state| state.rename(&value));
    };
    view! {
        <When holds=is_there>
            <label class="name">
                <span>"File name"</span>
                <input
                    type="text"
                    id="file-name"
                    spellcheck="false"
                    autocomplete="off"
                    aria-describedby="name-hint"
                    prop:value=move || name.get().unwrap_or_default()
                    on:change=rename
                />
            </label>
            <p class="name-hint" id="name-hint" hidden=move || !unnamed.get()>
                "Enter its path in your project, so that the patch applies there."
            </p>
        </When>
    }
}
