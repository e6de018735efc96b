use super::field::Field;
use crate::check::state::State;
use crate::check::state::names::size;
use crate::check::work::Session;
use leptos::prelude::*;

/// The last run as a file, and the script that runs a ported project with it.
#[component]
pub(super) fn Reference() -> impl IntoView {
    let session: Session = expect_context();
    let state = session.state;
    let bytes = move || {
        let more = state.with(|state| state.choice.stages != 0);
        let bytes = state.with(State::bundle_bytes).map(size).unwrap_or_default();
        if more { format!("About {bytes}, plus the module outputs.") } else { format!("About {bytes}.") }
    };
    view! {
        <div class="take">
            <h2>"Download the reference"</h2>
            <p>
                "One safetensors file with the input, the logits of each plane, and whatever you select below. "
                <code>"check_port.py"</code>
                " builds the ported project’s own network, loads the file’s weights, runs its input on the accelerator, and writes "
                <code>"candidate.safetensors"</code>
                "."
            </p>
            <div class="grid">
                <div class="field tick">
                    <label>
                        <input
                            type="checkbox"
                            id="with-weights"
                            prop:checked=move || state.with(|state| state.with_weights)
                            on:change=move |event| {
                                state.update(|state| state.with_weights = event_target_checked(&event));
                            }
                        />
                        " Weights, with PyTorch’s parameter names"
                    </label>
                </div>
                <Field key="stages" label="Module outputs"/>
            </div>
            <p class="hint" id="bundle-size">{bytes}</p>
            <p class="actions">
                <button type="button" class="button quiet" id="bundle" on:click=move |_| session.download_bundle()>
                    "Download the reference"
                </button>
                " "
                <button type="button" class="button quiet" id="script" on:click=move |_| session.download_script()>
                    "Download check_port.py"
                </button>
            </p>
            <pre id="port-command" tabindex="0">{move || state.with(|state| state.choice.port_command())}</pre>
            <p class="hint">
                <code>"DEVICE"</code>
                " is the device your port runs on; "
                <code>"python3 check_port.py --help"</code>
                " lists the possible names."
            </p>
        </div>
    }
}
