use crate::launch::work::Session;
use leptos::prelude::*;

/// The command that writes the same script.
#[component]
pub(super) fn Command() -> impl IntoView {
    let session: Session = expect_context();
    view! {
        <details class="launch-command">
            <summary>"Command-line equivalent"</summary>
            <p>
                <code id="launch-command">{move || session.command()}</code>
            </p>
            <p>
                <button class="button quiet small" type="button" on:click=move |_| session.copy_command()>
                    "Copy command"
                </button>
            </p>
        </details>
    }
}
