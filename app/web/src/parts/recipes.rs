//! The recipes of this port, each with its switch.

use crate::app::{Part, session};
use crate::parts::needs::GuideLink;
use crate::state::count;
use leptos::prelude::*;

/// What the list says of a recipe.
#[derive(Clone, Hash)]
struct Entry {
    id: String,
    title: String,
    reason: String,
    applied: usize,
    refused: usize,
    on: bool,
}

/// The list. Turning one off takes its edits out, and those that only they needed.
#[component]
pub(crate) fn Recipes() -> impl IntoView {
    let session = session();
    let entries = session.part(|state| {
        let counts = state.recipe_counts();
        let ids = counts.keys().chain(state.rejected.recipes.keys());
        let ids: std::collections::BTreeSet<&String> = ids.collect();
        // In the order of the guides.
        let place = |id: &str| state.catalogue.recipes.iter().position(|r| r.id == id);
        let mut entries: Vec<Entry> = ids
            .into_iter()
            .map(|id| {
                let (applied, refused) = counts.get(id).copied().unwrap_or_default();
                let off = state.rejected.recipes.get(id).copied();
                let reason = state.recipe(id).map(|r| r.reason.clone()).unwrap_or_default();
                let refused = refused + off.unwrap_or(0);
                Entry { id: id.clone(), title: state.title(id), reason, applied, refused, on: off.is_none() }
            })
            .collect();
        entries.sort_by_key(|entry| place(&entry.id));
        entries
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Recipes">
            <Show when=move || entries.get().is_empty()>
                <div class="state"><h3>"No recipe applied"</h3></div>
            </Show>
            <ul class="recipes">
                <For each=move || entries.get() key=|entry| entry.id.clone() let:entry>
                    <Line id=entry.id entries />
                </For>
            </ul>
        </div>
    }
}

#[component]
fn Line(id: String, entries: Part<Vec<Entry>>) -> impl IntoView {
    let session = session();
    let (name, other) = (id.clone(), id.clone());
    let first = entries.get_untracked().into_iter().find(|entry| entry.id == name);
    let (title, reason) = first.map(|e| (e.title, e.reason)).unwrap_or_default();
    let on = Signal::derive(move || entries.get().iter().any(|entry| entry.id == name && entry.on));
    let numbers = move || {
        let Some(e) = entries.get().into_iter().find(|entry| entry.id == other) else { return String::new() };
        match (e.applied, e.refused) {
            (0, 0) => "off".to_owned(),
            (n, 0) => count(n, "edit"),
            (0, n) => format!("{} turned off", count(n, "edit")),
            (n, m) => format!("{}, {m} turned off", count(n, "edit")),
        }
    };
    let key = id.clone();
    view! {
        <li class:off=move || !on.get()>
            <label class="switch">
                <input type="checkbox" prop:checked=on on:change:target=move |event| {
                    let on = event.target().checked();
                    session.change_and_port(|state| state.switch_recipe(&key, on));
                } />
                <span>{title}</span>
            </label>
            <span class="numbers">{numbers}</span>
            <p>{reason}" "<GuideLink recipe=id /></p>
        </li>
    }
}
