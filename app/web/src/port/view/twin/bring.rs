//! Downloading what a twin run needs, and opening its result.

use crate::port::state::State;
use crate::port::work::{Session, open_list, twin_archive};
use crate::shared::view::live;
use leptos::html::Input;
use leptos::prelude::*;

/// The archive, and the commands.
#[component]
pub(super) fn TakeAway() -> impl IntoView {
    let session: Session = expect_context();
    let commands = session.memo(|state| state.outcome.as_ref().and_then(|outcome| outcome.twin.clone()));
    let show = move || {
        match commands.get() {
        Some(commands) => view! {
            <p>
                "On any machine with Python and PyTorch or TensorFlow: original and port train from the same weights with the same data, and losses, gradients and weights are compared step by step."
            </p>
            <p>
                <button class="button small" id="take-twin" on:click=move |_| twin_archive(session)>
                    "Download kit, port and original (.zip)"
                </button>
            </p>
            <p>"In the unpacked folder, with the program’s own arguments at the end (--no-data before -- makes up its data):"</p>
            <pre tabindex="0" role="region" aria-label="Command in the unpacked folder"><code id="twin-command">{commands.kit}</code></pre>
            {commands.portolan.map(installed)}
        }
        .into_any(),
        None => view! { <p>"No file of this project is a program, so there is nothing to compare."</p> }.into_any(),
    }
    };
    view! {
        <section class="take-away" aria-label="Run it">
            <h3>"Run the original and the port"</h3>
            {live(show)}
        </section>
    }
}

fn installed(command: String) -> impl IntoView {
    view! {
        <p>"Or, if the command is installed, in the project’s folder, with the program’s arguments after " <code>"--"</code> ":"</p>
        <pre tabindex="0" role="region" aria-label="Command in the project’s folder"><code>{command}</code></pre>
    }
}

/// Opens the result.
#[component]
pub(super) fn Bring() -> impl IntoView {
    let session: Session = expect_context();
    let field = NodeRef::<Input>::new();
    let there = session.memo(|state: &State| state.twin_run().is_some());
    let chosen = move |_| {
        let Some(field) = field.get_untracked() else { return };
        if let Some(list) = field.files().filter(|list| list.length() > 0) {
            open_list(session, &list);
            // Reset so that the same file can be chosen again after it has changed.
            field.set_value("");
        }
    };
    view! {
        <section class="bring" aria-label="Open the result">
            <h3>{live(move || if there.get() { "Another result" } else { "Open the result" })}</h3>
            <label for="twin-file">
                "Drop " <code>"twin.json"</code> " anywhere on this page, or choose it. It stays in this browser."
            </label>
            <input type="file" id="twin-file" accept=".json,application/json" node_ref=field on:change=chosen/>
        </section>
    }
}
