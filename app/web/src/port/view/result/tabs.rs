//! The tabs of the result.

use crate::port::state::Panel;
use crate::port::work::Session;
use crate::shared::browser;
use crate::shared::view::{When, live};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

/// The tabs in order: panel, name for ids, label.
const PANELS: [(Panel, &str, &str); 7] = [
    (Panel::Changes, "changes", "Changes"),
    (Panel::Needs, "needs", "To do"),
    (Panel::Recipes, "recipes", "Recipes"),
    (Panel::Certificate, "certificate", "Batch summary and checks"),
    (Panel::Twin, "twin", "Twin run"),
    (Panel::Error, "error", "Errors"),
    (Panel::Matrix, "matrix", "All targets"),
];

/// A panel's name for ids.
pub(super) fn name(panel: Panel) -> &'static str {
    PANELS.iter().find(|(this, ..)| *this == panel).map_or("", |(_, name, _)| name)
}

/// The tabs, if there is a port.
#[component]
pub(super) fn Tabs() -> impl IntoView {
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
        <When holds=ported>
            <div class="tabs" role="tablist" aria-label="Result" on:keydown=key>
                {PANELS.map(|(panel, name, label)| view! { <Tab panel name label/> }).collect_view()}
            </div>
        </When>
    }
}

#[component]
fn Tab(panel: Panel, name: &'static str, label: &'static str) -> impl IntoView {
    let session: Session = expect_context();
    let on = session.memo(move |state| state.panel == panel);
    // The number, and whether it is a warning.
    let number = session.memo_of_port(move |state| {
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
            Panel::Twin | Panel::Error | Panel::Matrix => None,
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
            {live(move || number.get().map(|(n, warn)| view! { <span class="count" class:warn=warn>{n}</span> }))}
        </button>
    }
}
