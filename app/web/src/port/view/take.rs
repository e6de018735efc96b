//! The buttons for copying and downloading.

use super::focus;
use crate::port::state::{EDITS_INCLUDED, State};
use crate::port::work::{Session, copy, file, kit, patch, report, share, zip};
use crate::shared::view::When;
use leptos::ev;
use leptos::html::Details;
use leptos::prelude::*;

/// The buttons.
#[component]
pub(super) fn Take() -> impl IntoView {
    let session: Session = expect_context();
    let changed = session.memo(|state| state.outcome_of(state.selected).is_some_and(|file| file.changed));
    // Whether there is a patch, and whether it includes the user's edits.
    let patched = session.memo(|state| {
        let any = state.outcome.as_ref().is_some_and(|o| o.files.iter().any(|file| file.changed));
        (any, any && state.is_edited())
    });
    let ported = session.memo(|state| state.outcome.is_some());
    let empty = session.memo(State::is_empty);
    let hidden = session.memo(|state| state.source_hidden);
    let launch = session.memo(|state| state.outcome.as_ref().map(|outcome| format!("../launch/#{}", outcome.launch)));
    view! {
        <div class="take" id="take" role="group" aria-label="Copy and download">
            <button
                class="button quiet small"
                id="show-source"
                hidden=move || !hidden.get()
                on:click=move |_| {
                    session.state.update(|state| state.source_hidden = false);
                    focus::go_to("source");
                }
            >
                "Show source"
            </button>
            <button class="button quiet small" id="copy" prop:disabled=move || !changed.get() on:click=move |_| copy(session)>
                "Copy port"
            </button>
            <button class="button quiet small" id="share" prop:disabled=empty on:click=move |_| share(session)>
                "Copy link"
            </button>
            <When holds=ported>
                <a class="button quiet small" id="to-launch" href=move || launch.get() target="_blank">"Launch scripts"</a>
            </When>
            <button
                class="button small"
                id="patch"
                prop:disabled=move || !patched.get().0
                on:click=move |_| patch(session)
            >
                "Download patch"
            </button>
            <Menu>
                <button id="download-file" prop:disabled=move || !changed.get() on:click=move |_| file(session)>
                    "Ported file (.py)"
                </button>
                <button id="download-zip" prop:disabled=move || !ported.get() on:click=move |_| zip(session)>
                    "All files (.zip)"
                </button>
                <button id="download-report" prop:disabled=move || !ported.get() on:click=move |_| report(session)>
                    "Report (.json)"
                </button>
                <button id="download-kit" on:click=move |_| kit(session)>"Twin run kit (.zip)"</button>
            </Menu>
        </div>
        <p class="patch-note" id="patch-note" hidden=move || !patched.get().1>{EDITS_INCLUDED}</p>
    }
}

/// A menu that Escape closes, and a choice from it.
#[component]
fn Menu(children: Children) -> impl IntoView {
    let menu = NodeRef::<Details>::new();
    let close = move || {
        let Some(menu) = menu.try_get_untracked().flatten().filter(|menu| menu.open()) else { return };
        menu.set_open(false);
        if let Ok(Some(summary)) = menu.query_selector("summary") {
            let summary: web_sys::HtmlElement = wasm_bindgen::JsCast::unchecked_into(summary);
            let _ = summary.focus();
        }
    };
    let handle = window_event_listener(ev::keydown, move |event| {
        if event.key() == "Escape" {
            close();
        }
    });
    on_cleanup(move || handle.remove());
    view! {
        <details class="menu" node_ref=menu>
            <summary class="button quiet small">"More"</summary>
            <div on:click=move |_| close()>{children()}</div>
        </details>
    }
}
