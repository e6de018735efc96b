//! The buttons that open something.

use crate::port::state::{State, Undo};
use crate::port::work::{Session, open_list, open_sample, start_over};
use crate::shared::view::When;
use leptos::html::Input;
use leptos::prelude::*;

/// Opens files, a folder, the sample, nothing, or the previous project.
#[component]
pub(super) fn Open() -> impl IntoView {
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
                // Reset so that the same file can be chosen again after it has changed.
                field.set_value("");
            }
        }
    };
    // The macro has no such attribute.
    folder.on_load(|folder| drop(folder.set_attribute("webkitdirectory", "")));
    let former = session.memo(State::has_former);
    let some = session.memo(|state| !state.is_blank());
    view! {
        <div class="open">
            <button class="button quiet small" on:click=pick(files)>"Open files…"</button>
            <button class="button quiet small" on:click=pick(folder)>"Open folder…"</button>
            <button class="button quiet small" on:click=move |_| open_sample(session)>"Sample"</button>
            <When holds=some>
                <button class="button quiet small" id="start-over" on:click=move |_| start_over(session)>"New"</button>
            </When>
            <When holds=former>
                <button class="button quiet small" id="former" on:click=move |_| session.undo_notice(Undo::Project)>
                    "Previous project"
                </button>
            </When>
            <input
                type="file"
                id="open-files"
                multiple
                hidden
                aria-label="Open files"
                accept=".py,.pyw,.ipynb,.md,.txt,.yaml,.yml,.toml,.zip,.json,text/x-python,text/plain,application/yaml,application/zip"
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
