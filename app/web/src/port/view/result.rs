//! The right-hand pane: the result, and its tabs.

mod tabs;

use super::changes::Changes;
use super::checks::Checks;
use super::error::ErrorMessage;
use super::matrix::Matrix;
use super::recipes::Recipes;
use super::take::Take;
use super::todo::Todo;
use super::twin::Twin;
use crate::port::state::{Panel, Run, State};
use crate::port::work::Session;
use crate::shared::view::{When, live, part};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use tabs::{Tabs, name};

/// The pane.
#[component]
pub(super) fn Result() -> impl IntoView {
    let session: Session = expect_context();
    let busy = session.memo(State::is_busy);
    let summary = session.memo_of_port(State::summary);
    let panel = session.memo(|state| if state.outcome.is_some() { state.panel } else { Panel::Changes });
    let labelled = move || format!("tab-{}", name(panel.get()));
    let show = move || match panel.get() {
        Panel::Changes => view! { <Changes/> }.into_any(),
        Panel::Needs => view! { <Todo/> }.into_any(),
        Panel::Recipes => view! { <Recipes/> }.into_any(),
        Panel::Certificate => view! { <Checks/> }.into_any(),
        Panel::Twin => view! { <Twin/> }.into_any(),
        Panel::Error => view! { <ErrorMessage/> }.into_any(),
        Panel::Matrix => view! { <Matrix/> }.into_any(),
    };
    let undo = move |event: KeyboardEvent| {
        let command = event.ctrl_key() || event.meta_key();
        match event.key().as_str() {
            "z" | "Z" if command => session.undo(event.shift_key()),
            "y" if command => session.undo(true),
            _ => return,
        }
        event.prevent_default();
    };
    view! {
        <section
            class="port-result"
            id="result-pane"
            aria-label="Port"
            aria-busy=move || busy.get().to_string()
            on:keydown=undo
        >
            <div class="pane-head">
                <h2 id="result-head" tabindex="-1">"Port"</h2>
                <p class="summary" id="summary">{summary}</p>
                {part(|| view! { <Take/> }.into_any())}
            </div>
            <div class="tab-row" id="tabs">
                {part(|| view! { <Tabs/> <Progress/> }.into_any())}
            </div>
            <div class="panel" id="panel" role="tabpanel" aria-labelledby=labelled>
                {part(move || live(show).into_any())}
            </div>
        </section>
    }
}

/// Shows that a port is in progress, and offers to stop it.
#[component]
fn Progress() -> impl IntoView {
    let session: Session = expect_context();
    let working = session.memo(|state| state.run == Run::Working);
    view! {
        <When holds=working>
            <span class="progress on">
                <span class="spinner" aria-hidden="true"></span>
                <span>"Porting…"</span>
                <button class="button quiet small" id="cancel" on:click=move |_| session.stop()>"Cancel"</button>
            </span>
        </When>
    }
}
