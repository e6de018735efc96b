use super::super::focus;
use super::find;
use crate::port::state::State;
use crate::port::work::Session;
use leptos::prelude::*;

/// The buttons above the table.
#[component]
pub(super) fn Tools() -> impl IntoView {
    let session: Session = expect_context();
    let state = session.state;
    let undo = session.memo(|state| state.can_undo());
    let (whole, unified) = (session.memo(State::shows_whole), session.memo(|state| state.unified));
    let hidden = session.memo(|state| state.source_hidden);
    let place = session.memo(|state| state.steps.said.clone());
    view! {
        <div class="tools" id="tools" role="toolbar" aria-label="Changes">
            <button class="button quiet small" id="previous" aria-keyshortcuts="Shift+F8" on:click=move |_| session.step(false)>
                "↑ Previous"
            </button>
            <button class="button quiet small" id="next" aria-keyshortcuts="F8" on:click=move |_| session.step(true)>
                "↓ Next"
            </button>
            <span class="step-place" id="step-place" role="status">{place}</span>
            <button
                class="button quiet small"
                id="undo"
                title="Undo the last accepted or rejected change"
                prop:disabled=move || !undo.get().0
                on:click=move |_| session.undo(false)
            >
                "Undo"
            </button>
            <button class="button quiet small" id="redo" prop:disabled=move || !undo.get().1 on:click=move |_| session.undo(true)>
                "Redo"
            </button>
            <button class="button quiet small" id="find-open" aria-keyshortcuts="Control+F" on:click=move |_| find::show(session)>
                "Find"
            </button>
            <span class="stretch"></span>
            <button
                class="button quiet small"
                id="whole"
                aria-pressed=move || whole.get().to_string()
                on:click=move |_| state.update(State::flip_whole)
            >
                "Show all lines"
            </button>
            <button
                class="button quiet small"
                id="unified"
                aria-pressed=move || unified.get().to_string()
                on:click=move |_| state.update(|state| state.unified ^= true)
            >
                "Unified"
            </button>
            <button
                class="button quiet small"
                id="wide"
                hidden=hidden
                on:click=move |_| {
                    state.update(|state| state.source_hidden = true);
                    focus::go_to("show-source");
                }
            >
                "Hide source"
            </button>
        </div>
    }
}
