//! The twin run: downloading its files, and its result.

mod bring;
mod curves;
mod steps;
mod strip;
mod verdict;

use crate::port::state::State;
use crate::port::work::Session;
use crate::shared::view::live;
use bring::{Bring, TakeAway};
use curves::Chart;
use leptos::prelude::*;
use steps::Steps;
pub(super) use strip::TwinStrip;
use verdict::Verdict;

/// The panel.
#[component]
pub(super) fn Twin() -> impl IntoView {
    let session: Session = expect_context();
    let run = session.memo(State::twin_run);
    let result = move || {
        let run = run.get()?;
        let curves = run.curves();
        let steps = run.result.steps.clone();
        Some(view! {
            <Verdict run/>
            {curves.map(|curves| view! { <Chart curves steps=steps.clone()/> })}
            <Steps steps=steps.clone()/>
        })
    };
    view! {
        <div class="scroll twin" tabindex="0" role="region" aria-label="Twin run">
            {live(result)}
            <TakeAway/>
            <Bring/>
        </div>
    }
}
