//! The results: first the verdict of a comparison, then the planes and the statistics of the run.

use super::comparison::{Candidate, Comparison};
use super::layers::Layers;
use super::planes::Planes;
use super::reference::Reference;
use super::statistics::{About, Statistics};
use crate::check::work::Session;
use leptos::prelude::*;

/// The pane beside the form.
#[component]
pub(super) fn Results() -> impl IntoView {
    let session: Session = expect_context();
    let has_results = Memo::new(move |_| session.state.with(|state| state.results.is_some()));
    view! {
        <div class="check-results">
            <Show
                when=move || has_results.get()
                fallback=|| {
                    view! {
                        <p class="empty" id="empty">
                            "Press Run to see the three planes, their statistics and the time spent in each layer."
                        </p>
                    }
                }
            >
                <section id="results" aria-label="Results" tabindex="-1">
                    <Comparison/>
                    <Planes/>
                    <h2>"Statistics"</h2>
                    <About/>
                    <Statistics/>
                    <Layers/>
                    <Reference/>
                    <Candidate/>
                </section>
            </Show>
        </div>
    }
}
