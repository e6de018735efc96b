//! What is left for a person, and what is worth knowing.

mod controls;
mod group;

use super::overview::Overview;
use crate::port::state::State;
use crate::port::work::Session;
use crate::shared::text::hash_of;
use controls::Controls;
use group::Section;
use leptos::prelude::*;

/// The panel.
#[component]
pub(super) fn Todo() -> impl IntoView {
    let session: Session = expect_context();
    let groups = session.memo(State::todo);
    let none =
        session.memo(|state| state.outcome.iter().flat_map(|o| &o.files).all(|file| file.diagnostics.is_empty()));
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="To do">
            <Overview/>
            <Show when=move || !none.get() fallback=|| view! { <NoMessages/> }>
                <Controls/>
                <For each=move || groups.get() key=hash_of let(group)>
                    <Section group/>
                </For>
                <Show when=move || groups.with(Vec::is_empty)>
                    <p class="fine">"No entry fits."</p>
                </Show>
            </Show>
        </div>
    }
}

#[component]
fn NoMessages() -> impl IntoView {
    let session: Session = expect_context();
    let rest = session.memo(|state| state.outcome.as_ref().is_some_and(|outcome| !outcome.residue.is_empty()));
    view! {
        <div class="state">
            <h3>"Nothing to do"</h3>
            <p>
                "The engine has no message about this port."
                {move || rest.get().then_some(" CUDA or NVIDIA references remain; the checks list them.")}
            </p>
        </div>
    }
}
