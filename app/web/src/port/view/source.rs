//! The left-hand pane: the project's files and the source of the current one.

mod file_name;
mod open;

use super::editor::{Editor, EditorField};
use super::files::Files;
use crate::port::state::Phase;
use crate::port::work::Session;
use crate::shared::browser;
use crate::shared::view::live;
use file_name::FileName;
use leptos::html::Section;
use leptos::prelude::*;
use open::Open;

/// The pane.
#[component]
pub(super) fn Source(editor: EditorField) -> impl IntoView {
    let session: Session = expect_context();
    let hidden = session.memo(|state| state.source_hidden);
    let tree = session.memo(|state| state.files.len() > 1);
    let pane = NodeRef::<Section>::new();
    view! {
        <section
            class="port-source"
            id="source-pane"
            aria-label="Source"
            node_ref=pane
            hidden=move || hidden.get() && !tree.get()
        >
            <div class="pane-head">
                <h2>{live(move || if hidden.get() { "Files" } else { "Source" })}</h2>
                <Way/>
                <Open/>
            </div>
            <Files/>
            <div class="source-text" hidden=hidden>
                <FileName/>
                <Editor editor/>
                <p class="keys" id="source-keys">
                    <kbd>"Tab"</kbd> " indents; " <kbd>"Esc"</kbd> " then " <kbd>"Tab"</kbd> " leaves. "
                    <kbd>"Ctrl"</kbd> "+" <kbd>"Enter"</kbd> " ports now. " <kbd>"F8"</kbd> " next change. " <kbd>"?"</kbd>
                    " all keys."
                </p>
            </div>
        </section>
    }
}

/// A link from the source to the port, for narrow pages, where the port is below the source.
#[component]
fn Way() -> impl IntoView {
    let session: Session = expect_context();
    let what = session.memo(|state| match state.phase() {
        Phase::Changes | Phase::Nothing => Some((state.summary(), true)),
        Phase::Failed { .. } | Phase::Broken(_) => Some(("Not ported: see why".to_owned(), false)),
        _ => None,
    });
    let go = |_| {
        if let Some(head) = browser::element("result-head") {
            head.scroll_into_view();
            let _ = head.focus();
        }
    };
    let show = move |(summary, ported): (String, bool)| {
        let aloud = ported.then(|| view! { <span class="visually-hidden">": go to the port"</span> });
        view! {
            <button class="link" on:click=go>
                {summary}
                {aloud}
                " "
                <span aria-hidden="true">"↓"</span>
            </button>
        }
    };
    view! { <span id="way">{live(move || what.get().map(show))}</span> }
}
