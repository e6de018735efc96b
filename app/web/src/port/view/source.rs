//! The left-hand pane: the project's files and the source of the one shown.

use super::editor::Editor;
use super::files::Files;
use crate::port::state::{Phase, State, Undo};
use crate::port::work::{Session, open_list, open_sample};
use crate::shared::browser;
use leptos::html::{Input, Section};
use leptos::prelude::*;

/// The pane.
#[component]
pub(super) fn Source() -> impl IntoView {
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
                <h2>{move || if hidden.get() { "Files" } else { "Source" }}</h2>
                <Way/>
                <Open/>
            </div>
            <Files/>
            <div class="source-text" hidden=hidden>
                <FileName/>
                <Editor/>
                <p class="keys" id="source-keys">
                    <kbd>"Tab"</kbd> " indents; " <kbd>"Esc"</kbd> " then " <kbd>"Tab"</kbd> " leaves. "
                    <kbd>"Ctrl"</kbd> "+" <kbd>"Enter"</kbd> " ports now. " <kbd>"F8"</kbd> " next change. " <kbd>"?"</kbd>
                    " all keys."
                </p>
            </div>
        </section>
    }
}

/// From the source to the port, for pages on which it is below.
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
    view! { <span id="way">{move || what.get().map(show)}</span> }
}

/// Buttons that open something.
#[component]
fn Open() -> impl IntoView {
    let session: Session = expect_context();
    let (files, folder) = (NodeRef::<Input>::new(), NodeRef::<Input>::new());
    let pick = |field: NodeRef<Input>| {
        move |_| {
            if let Some(field) = field.get_untracked() {
                field.click();
            }
        }
    };
    let chosen = move |field: NodeRef<Input>| {
        move |_| {
            let Some(field) = field.get_untracked() else { return };
            if let Some(list) = field.files().filter(|list| list.length() > 0) {
                open_list(session, &list);
                // So that the same file can be chosen again after it changed.
                field.set_value("");
            }
        }
    };
    // No name of the macro's.
    folder.on_load(|folder| drop(folder.set_attribute("webkitdirectory", "")));
    let former = session.memo(State::has_former);
    view! {
        <div class="open">
            <button class="button quiet small" on:click=pick(files)>"Open files…"</button>
            <button class="button quiet small" on:click=pick(folder)>"Open folder…"</button>
            <button class="button quiet small" on:click=move |_| open_sample(session)>"Sample"</button>
            <Show when=move || former.get()>
                <button class="button quiet small" id="former" on:click=move |_| session.undo_notice(Undo::Project)>
                    "Previous project"
                </button>
            </Show>
            <input
                type="file"
                id="open-files"
                multiple
                hidden
                aria-label="Open files"
                accept=".py,.pyw,.txt,.yaml,.yml,.zip,.json,text/x-python,text/plain,application/yaml,application/zip"
                node_ref=files
                on:change=chosen(files)
            />
            <input
                type="file"
                id="open-folder"
                hidden
                aria-label="Open a folder"
                node_ref=folder
                on:change=chosen(folder)
            />
        </div>
    }
}

/// The name of the file shown; recipes and the patch go by it.
#[component]
fn FileName() -> impl IntoView {
    let session: Session = expect_context();
    let name = session.memo(|state| state.file().map(|file| file.path.clone()));
    let unnamed = session.memo(|state| state.file().is_some_and(|file| file.unnamed));
    let rename = move |event| {
        let value = event_target_value(&event);
        session.change_and_port(|state| state.rename(&value));
    };
    view! {
        <Show when=move || name.with(Option::is_some)>
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
        </Show>
    }
}
