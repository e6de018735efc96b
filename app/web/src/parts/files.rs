//! The project's files.

use crate::app::session;
use crate::browser;
use crate::state::needs_person;
use leptos::prelude::*;

/// What the list says of a file.
#[derive(Clone, Hash)]
struct Entry {
    index: usize,
    path: String,
    selected: bool,
    changes: usize,
    needs: usize,
    failed: bool,
}

/// The list; the name alone for a single file. The name can be changed: recipes and the patch go by it.
#[component]
pub(crate) fn Files() -> impl IntoView {
    let session = session();
    let entries = session.part(|state| {
        let entry = |(index, file): (usize, &crate::state::File)| {
            let outcome = state.outcome_of(index);
            let diagnostics = || outcome.iter().flat_map(|o| &o.diagnostics);
            Entry {
                index,
                path: file.path.clone(),
                selected: index == state.selected,
                changes: outcome.map_or(0, |o| o.hunks),
                needs: diagnostics().filter(|d| needs_person(d)).count(),
                failed: diagnostics().any(|d| d.severity == codemod::Severity::Error),
            }
        };
        state.files.iter().enumerate().map(entry).collect::<Vec<_>>()
    });
    let selected = session.part(|state| state.file().map(|file| file.path.clone()));
    let rename = move |path: String| session.change_and_port(|state| state.rename(&path));
    view! {
        {move || Some(entries.get()).filter(|entries| entries.len() > 1).map(|entries| view! {
            <ul class="files" aria-label="Files">
                {entries.into_iter().map(|entry| view! {
                    <li>
                        <button class="file" id=format!("file-{}", entry.index) aria-current=entry.selected.then_some("true")
                            on:click=move |_| {
                                session.select(entry.index);
                                // The button was made anew.
                                browser::later(0, move || {
                                    browser::element(&format!("file-{}", entry.index)).map(|button| button.focus());
                                });
                            }>
                            <span class="path">{entry.path.clone()}</span>
                            {(entry.changes > 0).then(|| view! { <span class="count" title="changes">{entry.changes}<span class="visually-hidden">" changes"</span></span> })}
                            {entry.failed.then(|| view! { <span class="count warn">"!"<span class="visually-hidden">" could not be ported"</span></span> })}
                            {(entry.needs > 0).then(|| view! { <span class="count warn" title="need you">{entry.needs}<span class="visually-hidden">" need you"</span></span> })}
                        </button>
                        <button class="close" aria-label=format!("Take {} out", entry.path)
                            on:click=move |_| session.change_and_port(|state| state.close(entry.index))>"×"</button>
                    </li>
                }).collect_view()}
            </ul>
        })}
        {move || selected.get().map(|path| view! {
            <label class="name"><span>"File name"</span>
                <input type="text" prop:value=path.clone() spellcheck="false" autocomplete="off"
                    on:change:target=move |event| rename(event.target().value()) />
            </label>
        })}
    }
}
