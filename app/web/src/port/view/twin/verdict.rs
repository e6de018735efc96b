//! The outcome of a twin run.

use crate::port::state::twin::TwinRun;
use crate::port::twin_result::{Contract, Finding};
use crate::port::view::links::{GuideLink, Place};
use crate::port::work::Session;
use leptos::prelude::*;

/// The verdict, what was run, and the differences, the first with its location.
#[component]
pub(super) fn Verdict(run: TwinRun) -> impl IntoView {
    let session: Session = expect_context();
    let (stale, ran, verdict, good) = (run.stale, run.ran(), run.verdict(), run.is_good());
    let result = run.result.clone();
    let first = result.first.clone().filter(|_| !stale).map(|first| view! { <First first/> });
    let findings = result.findings.iter().skip(usize::from(first.is_some())).cloned();
    let findings = findings.map(|told| view! { <li>{told}</li> }).collect_view();
    let broken = result.contracts.iter().cloned().map(|contract| view! { <Broken contract/> }).collect_view();
    let stale = stale.then(|| {
        view! {
            <p>
                "The code, the target or an option has changed since this run. Download the archive again and rerun it."
            </p>
        }
    });
    view! {
        <section class="verdict" class:good=good class:bad=!good aria-label="Verdict">
            <h3 id="twin-verdict">{verdict}</h3>
            {stale}
            {result.failed.clone().map(|why| view! { <p class="why">{why}</p> })}
            {first}
            <ul>{findings} {broken}</ul>
            <p class="fine">{ran} " Speed, memory and what the vendor’s compiler accepts were not tested."</p>
            <p>
                <button class="button quiet small" id="drop-twin" on:click=move |_| session.state.update(|s| s.drop_twin())>
                    "Remove this result"
                </button>
            </p>
        </section>
    }
}

/// The first difference.
#[component]
fn First(first: Finding) -> impl IntoView {
    let Finding { told, place, recipe } = first;
    view! {
        <p class="first">
            {told}
            {place.map(|(path, line)| view! { ", at " <InPort path line/> })}
            {recipe.map(|recipe| view! { ", written by " <GuideLink recipe=recipe.clone() title=recipe/> })}
            "."
        </p>
    }
}

/// A rule that the port violated.
#[component]
fn Broken(contract: Contract) -> impl IntoView {
    let Contract { rule, why, file, line } = contract;
    view! { <li><code>{rule}</code> ": " {why} " (" <InPort path=file line/> ")"</li> }
}

/// A line of the port, as a button if its file is open.
#[component]
fn InPort(path: String, line: usize) -> impl IntoView {
    let session: Session = expect_context();
    let file = session.state.with_untracked(|state| state.files.iter().position(|file| file.path == path));
    match file {
        Some(file) => view! { <Place file line path original=line/> }.into_any(),
        None => view! { <code>{format!("{path}:{line}")}</code> }.into_any(),
    }
}
