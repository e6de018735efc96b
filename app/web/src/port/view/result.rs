//! The right-hand pane: what came out, and its tabs.

use super::changes::Changes;
use super::checks::Checks;
use super::matrix::Matrix;
use super::recipes::Recipes;
use super::take::Take;
use super::todo::Todo;
use super::twin::Twin;
use crate::port::state::{Panel, Run, State};
use crate::port::work::Session;
use crate::shared::browser;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

/// The tabs, in order: panel, name for ids, label.
const PANELS: [(Panel, &str, &str); 6] = [
    (Panel::Changes, "changes", "Changes"),
    (Panel::Needs, "needs", "To do"),
    (Panel::Recipes, "recipes", "Recipes"),
    (Panel::Certificate, "certificate", "Batch summary and checks"),
    (Panel::Twin, "twin", "Twin run"),
    (Panel::Matrix, "matrix", "All targets"),
];

/// The pane.
#[component]
pub(super) fn Result() -> impl IntoView {
    let session: Session = expect_context();
    let busy = session.memo(State::is_busy);
    let summary = session.memo(State::summary);
    let panel = session.memo(|state| if state.outcome.is_some() { state.panel } else { Panel::Changes });
    let labelled = move || format!("tab-{}", name(panel.get()));
    let show = move || match panel.get() {
        Panel::Changes => view! { <Changes/> }.into_any(),
        Panel::Needs => view! { <Todo/> }.into_any(),
        Panel::Recipes => view! { <Recipes/> }.into_any(),
        Panel::Certificate => view! { <Checks/> }.into_any(),
        Panel::Twin => view! { <Twin/> }.into_any(),
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
                <Take/>
            </div>
            <div class="tab-row" id="tabs">
                <Tabs/>
                <Progress/>
            </div>
            <div class="panel" id="panel" role="tabpanel" aria-labelledby=labelled>
                {show}
            </div>
        </section>
    }
}

fn name(panel: Panel) -> &'static str {
    PANELS.iter().find(|(this, ..)| *this == panel).map_or("", |(_, name, _)| name)
}

/// The tabs, once there is a port.
#[component]
fn Tabs() -> impl IntoView {
    let session: Session = expect_context();
    let ported = session.memo(|state| state.outcome.is_some());
    let key = move |event: KeyboardEvent| {
        let now = session.state.with_untracked(|state| state.panel);
        let at = PANELS.iter().position(|(panel, ..)| *panel == now).unwrap_or(0);
        let to = match event.key().as_str() {
            "ArrowRight" => (at + 1) % PANELS.len(),
            "ArrowLeft" => (at + PANELS.len() - 1) % PANELS.len(),
            "Home" => 0,
            "End" => PANELS.len() - 1,
            _ => return,
        };
        event.prevent_default();
        session.show(PANELS[to].0);
        if let Some(tab) = browser::element(&format!("tab-{}", PANELS[to].1)) {
            let _ = tab.focus();
        }
    };
    view! {
        <Show when=move || ported.get()>
            <div class="tabs" role="tablist" aria-label="Result" on:keydown=key>
                {PANELS.map(|(panel, name, label)| view! { <Tab panel name label/> }).collect_view()}
            </div>
        </Show>
    }
}

#[component]
fn Tab(panel: Panel, name: &'static str, label: &'static str) -> impl IntoView {
    let session: Session = expect_context();
    let on = session.memo(move |state| state.panel == panel);
    // The number, and whether it is a warning.
    let number = session.memo(move |state| {
        let ledgers = state.outcome.as_ref().map_or(&[][..], |outcome| &outcome.ledgers);
        let flags: usize = ledgers.iter().map(|ledger| ledger.flags.len()).sum();
        match panel {
            Panel::Changes => Some((state.totals().0, false)),
            Panel::Needs => {
                let (all, done) = state.progress();
                Some((all - done, all > done))
            }
            Panel::Recipes => Some((state.tally().len(), false)),
            Panel::Certificate => (flags > 0).then_some((flags, true)),
            Panel::Twin | Panel::Matrix => None,
        }
    });
    view! {
        <button
            role="tab"
            id=format!("tab-{name}")
            aria-controls="panel"
            aria-selected=move || on.get().to_string()
            tabindex=move || if on.get() { "0" } else { "-1" }
            on:click=move |_| session.show(panel)
        >
            {label}
            {move || number.get().map(|(n, warn)| view! { <span class="count" class:warn=warn>{n}</span> })}
        </button>
    }
}

/// Says that something is under way, and offers to stop it.
#[component]
fn Progress() -> impl IntoView {
    let session: Session = expect_context();
    let working = session.memo(|state| state.run == Run::Working);
    view! {
        <Show when=move || working.get()>
            <span class="progress on">
                <span class="spinner" aria-hidden="true"></span>
                <span>"Porting…"</span>
                <button class="button quiet small" id="cancel" on:click=move |_| session.stop()>"Cancel"</button>
            </span>
        </Show>
    }
}
