//! The verdict of a twin run in one line, next to the changes.

use crate::port::state::{Panel, State};
use crate::port::work::Session;
use crate::shared::view::live;
use leptos::prelude::*;

/// The line; empty if no result has been opened.
#[component]
pub(in crate::port::view) fn TwinStrip() -> impl IntoView {
    let session: Session = expect_context();
    let run = session.memo(State::twin_run);
    let show = move || {
        let run = run.get()?;
        let first = run.result.first.as_ref().filter(|_| !run.stale).map(|first| format!(": {}", first.told));
        Some(view! {
            <p class="twin-strip" class:good=run.is_good() class:bad=!run.is_good() id="twin-strip">
                <span><b>"Twin run. "</b> {run.verdict()} {first} "."</span>
                <button class="button quiet small" on:click=move |_| session.show(Panel::Twin)>"Show the losses"</button>
            </p>
        })
    };
    live(show)
}
