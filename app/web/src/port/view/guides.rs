//! The user's own guides.

use crate::port::state::{State, said_of};
use crate::port::work::Session;
use crate::shared::text::hash_of;
use crate::shared::view::{Prose, each};
use leptos::prelude::*;

/// A guide: its number, its file, and what it adds; or why the guides are not used, without a file.
type Line = (usize, String, String);

fn lines(state: &State) -> Vec<Line> {
    let about = |index: usize| state.catalogue.added.get(index).map(|about| format!(": {about}")).unwrap_or_default();
    let guides = state.choice.guides.iter().enumerate();
    let mut lines: Vec<Line> = guides.map(|(index, guide)| (index, guide.path.clone(), about(index))).collect();
    if !state.catalogue.faults.is_empty() {
        lines.push((lines.len(), String::new(), said_of(&state.catalogue.faults)));
    }
    lines
}

/// The guides in use, or why they are not used.
#[component]
pub(super) fn Guides() -> impl IntoView {
    let session: Session = expect_context();
    let shown = session.memo(lines);
    let line = move |(index, path, about): Line| {
        let is_fault = path.is_empty();
        let remove = move |_| session.change_and_port(|state| state.remove_guide(index));
        view! {
            <span class:fault=is_fault>
                {path.clone()}
                <Prose text=about/>
                <button class="close" aria-label=format!("Remove {path}") hidden=is_fault on:click=remove>"×"</button>
            </span>
        }
    };
    view! {
        <div
            class="own-guides"
            id="own-guides"
            role="group"
            aria-label="Your guides"
            hidden=move || shown.with(Vec::is_empty)
        >
            {each(move || shown.get(), hash_of, line)}
        </div>
    }
}
