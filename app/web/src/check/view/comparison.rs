//! Another run's outputs, and their differences.

use super::field::Field;
use super::file_field::{FileField, dropped};
use super::histogram::Histogram;
use super::stages::{Stages, distance_row};
use super::table::{Facts, Table};
use crate::check::state::choice::PRECISIONS;
use crate::check::state::names::precision;
use crate::check::state::report::{Verdict, distances, verdict};
use crate::check::state::{Comparison as Compared, Slot};
use crate::check::work::Session;
use crate::shared::browser::{later, window};
use leptos::html::Div;
use leptos::prelude::*;

/// The verdict and the reasons for it; empty before a comparison.
#[component]
pub(super) fn Comparison() -> impl IntoView {
    let session: Session = expect_context();
    let compared = Memo::new(move |_| session.state.with(|state| state.comparison.clone()));
    let show = move || {
        let compared = compared.get()?;
        let shape = session.state.with_untracked(|state| state.results.as_ref().map(|r| r.facts.shape.clone()));
        Some(view! { <Report compared shape=shape.unwrap_or_default()/> })
    };
    // The file is chosen far below the verdict.
    let place = NodeRef::<Div>::new();
    Effect::new(move |_| {
        compared.track();
        later(0, move || {
            if let Some(place) = place.try_get_untracked().flatten()
                && place.get_bounding_client_rect().bottom() < 0.0
            {
                place.scroll_into_view();
            }
        });
    });
    view! { <div class="compared" id="comparison" node_ref=place>{show}</div> }
}

#[component]
fn Report(compared: Compared, shape: Vec<usize>) -> impl IntoView {
    let session: Session = expect_context();
    let Compared { report, suggested, .. } = compared;
    let Verdict { agrees, headline, rests_on, caution } = verdict(&report);
    let heads = ["Plane", "Max difference", "Mean difference", "Max difference / largest logit"];
    let rows = report.planes.iter().enumerate();
    let rows = rows.map(|(plane, distance)| distance_row(plane.to_string().into_any(), distance, false)).collect_view();
    view! {
        <h2>"Comparison"</h2>
        <p class="verdict" class:good=agrees class:bad=!agrees id="verdict">
            <strong>{headline}</strong>
            " "
            {rests_on}
        </p>
        {caution.map(|caution| view! { <p class="notice" id="caution">{caution}</p> })}
        {suggested.map(|place| view! { <Suggested place/> })}
        <Facts rows=distances(&report, &shape)/>
        <Stages report=report.clone()/>
        <Table
            label="Differences by plane"
            caption="Logits by plane"
            heads=heads.map(str::to_owned).to_vec()
        >
            {rows}
        </Table>
        <Histogram report=report.clone()/>
        <p class="actions">
            <button type="button" class="button quiet" id="report" on:click=move |_| session.download_report()>
                "Download the report (JSON)"
            </button>
            " "
            <button type="button" class="button quiet" on:click=|_| drop(window().print())>"Print the report"</button>
        </p>
    }
}

/// Shown if the numbers in the file appear to have another precision.
#[component]
fn Suggested(place: usize) -> impl IntoView {
    let session: Session = expect_context();
    let Some(&(word, of)) = PRECISIONS.get(place) else { return ().into_any() };
    view! {
        <p class="notice" id="suggested">
            {format!("All values in this file are exact {} numbers. ", precision(of))}
            <button type="button" class="button quiet small" on:click=move |_| session.choose("precision", word)>
                {format!("Compare as {}", precision(of))}
            </button>
        </p>
    }
    .into_any()
}

/// The field for another run's outputs.
#[component]
pub(super) fn Candidate() -> impl IntoView {
    let session: Session = expect_context();
    view! {
        <div class="compare" on:drop=dropped(session, Slot::Candidate)>
            <h2>"Compare another run"</h2>
            <p class="take">
                "Choose the file written by " <code>"check_port.py"</code> ", or any file with " <code>"output.plane0"</code> " to "
                <code>"output.plane2"</code> " and, optionally, " <code>"stage.PATH.plane0"</code> "."
            </p>
            <div class="grid">
                <FileField of=Slot::Candidate label="Outputs: safetensors, npz or pt" accept=".safetensors,.npz,.pt"/>
                <Field key="precision" label="Precision of that run"/>
            </div>
        </div>
    }
}
