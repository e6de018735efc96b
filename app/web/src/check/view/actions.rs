//! The Run button, the progress, and the equivalent command.

use crate::check::state::Place;
use crate::check::work::Session;
use leptos::prelude::*;

/// The end of the form. The Run button stays visible while the form scrolls.
#[component]
pub(super) fn Actions() -> impl IntoView {
    let session: Session = expect_context();
    let state = session.state;
    let busy = Memo::new(move |_| state.with(|state| state.busy.clone()));
    let idle = move || busy.with(Option::is_none);
    view! {
        <div class="run-bar">
            <p class="actions">
                <button type="button" class="button" id="run" prop:disabled=move || !idle() on:click=move |_| session.run()>
                    "Run"
                </button>
                <button type="button" class="button quiet" id="cancel" hidden=idle on:click=move |_| session.cancel()>
                    "Cancel"
                </button>
                <button type="button" class="button quiet" id="link" on:click=move |_| session.copy_link()>
                    "Copy link to this form"
                </button>
            </p>
            <div id="going" hidden=idle>
                <progress
                    id="bar"
                    max="1"
                    aria-label="Progress"
                    value=move || busy.with(|busy| busy.as_ref().map_or(0.0, |busy| busy.share)).to_string()
                ></progress>
                <p class="hint" id="step">
                    {move || busy.with(|busy| busy.as_ref().map(|busy| busy.line.clone()).unwrap_or_default())}
                </p>
            </div>
            <p class="fault" id="fault-run" role="alert">{move || state.with(|state| state.fault(Place::Run))}</p>
            <p class="hint" id="said" role="status">{move || state.with(|state| state.said.clone())}</p>
        </div>
        <Command/>
    }
}

#[component]
fn Command() -> impl IntoView {
    let session: Session = expect_context();
    view! {
        <details>
            <summary>"Command-line equivalent"</summary>
            <pre id="command" tabindex="0">
                {move || session.state.with(|state| state.choice.command("config.json"))}
            </pre>
            <p>
                <button type="button" class="button quiet small" id="config" on:click=move |_| session.download_config()>
                    "Download config.json"
                </button>
            </p>
        </details>
    }
}
