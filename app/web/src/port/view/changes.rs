//! The changes, or why there are none.

use super::bar::choose_style;
use super::diff::Diff;
use super::overview::Overview;
use super::twin::TwinStrip;
use crate::port::state::{Phase, State};
use crate::port::work::{Session, open_sample};
use crate::shared::text::count;
use crate::shared::view::Prose;
use leptos::prelude::*;

/// The first panel.
#[component]
pub(super) fn Changes() -> impl IntoView {
    let session: Session = expect_context();
    let phase = session.memo(State::phase);
    let stale = session.memo(State::is_stale);
    let show = move || match phase.get() {
        Phase::Changes => view! { <Overview/> <TwinStrip/> <Diff/> }.into_any(),
        Phase::Nothing => view! { <Overview/> <Nothing/> }.into_any(),
        Phase::Failed { message, line, column } if stale.get() => {
            view! { <Stale message line column/> <Diff/> }.into_any()
        }
        Phase::Failed { message, line, column } => view! { <Failed message line column/> }.into_any(),
        other => waiting(session, other),
    };
    view! { {show} }
}

/// Nothing to show yet, or not any more.
fn waiting(session: Session, phase: Phase) -> AnyView {
    let port = move |_| session.port_now();
    match phase {
        Phase::Empty => view! {
            <div class="state">
                <h3>"No script yet"</h3>
                <p>
                    "Paste a training script on the left, open files, or start from the sample. The port appears here as you type. Your code never leaves this browser."
                </p>
                <ol class="steps">
                    <li>"Paste the script, or open its project."</li>
                    <li>"Name the file as in your project, and choose the target."</li>
                    <li>"Review each change; reject what you do not want."</li>
                    <li>"Work through To do."</li>
                    <li>"Download the patch and apply it."</li>
                </ol>
                <p>
                    <button class="button" on:click=move |_| open_sample(session)>"Start from the sample"</button>
                </p>
            </div>
        }
        .into_any(),
        Phase::Starting => view! {
            <div class="state">
                <h3>"Loading the engine…"</h3>
                <p>"Your text is ported as soon as the engine has loaded."</p>
            </div>
        }
        .into_any(),
        Phase::Stopped => view! {
            <div class="state">
                <h3>"Stopped"</h3>
                <p>"Your text is unchanged."</p>
                <p>
                    <button class="button" on:click=port>"Port now"</button>
                </p>
            </div>
        }
        .into_any(),
        Phase::Broken(why) => view! {
            <div class="state bad">
                <h3>"The engine stopped"</h3>
                <p>
                    "It failed on this input, ran out of memory, or could not be loaded. Your text is unchanged. "
                    <code>{why}</code>
                </p>
                <p>
                    <button class="button" on:click=port>"Restart the engine"</button>
                </p>
            </div>
        }
        .into_any(),
        _ => view! {
            <div class="state">
                <h3>"Porting…"</h3>
            </div>
        }
        .into_any(),
    }
}

/// The file can't be ported.
#[component]
fn Failed(message: String, line: usize, column: usize) -> impl IntoView {
    let session: Session = expect_context();
    let not_python = session.state.with_untracked(State::not_python);
    let text = not_python.map_or(message, str::to_owned);
    view! {
        <div class="state bad">
            <h3>{if not_python.is_some() { "This is not a Python script" } else { "This file can’t be ported yet" }}</h3>
            <p>
                <Prose text/>
            </p>
            <p>
                <Remedy line column/>
            </p>
        </div>
    }
}

/// The button that leads on from a failure.
#[component]
fn Remedy(line: usize, column: usize) -> impl IntoView {
    let session: Session = expect_context();
    match session.state.with_untracked(State::wants_in_place) {
        true => view! {
            <button class="button" on:click=move |_| choose_style(session, "in-place")>"Replace CUDA code instead"</button>
        }
        .into_any(),
        false => view! {
            <button class="button" on:click=move |_| session.go_to_source(line, column)>
                {format!("Go to line {line}, column {column}")}
            </button>
        }
        .into_any(),
    }
}

/// What stands above the last good diff while the file does not parse.
#[component]
fn Stale(message: String, line: usize, column: usize) -> impl IntoView {
    view! {
        <div class="stale-notice" role="note">
            <p>
                <b>"Earlier port. "</b>
                <Prose text=message/>
            </p>
            <Remedy line column/>
        </div>
    }
}

/// A file that the port leaves as it is.
#[component]
fn Nothing() -> impl IntoView {
    let session: Session = expect_context();
    let text = session.memo(State::unchanged);
    let elsewhere = session.memo(State::changed_elsewhere);
    let has_diff = session.memo(|state| {
        state.has_refused() || state.outcome_of(state.selected).is_some_and(|file| !file.diagnostics.is_empty())
    });
    let entry = move |(index, path, changes): (usize, String, usize)| {
        view! {
            <li>
                <button class="link" on:click=move |_| session.select(index)>{path}</button>
                {format!(": {}", count(changes, "change"))}
            </li>
        }
    };
    view! {
        <div class="state">
            <h3>"Nothing changed"</h3>
            <p>{move || view! { <Prose text=text.get()/> }}</p>
            <ul>{move || elsewhere.get().into_iter().map(entry).collect_view()}</ul>
        </div>
        <Show when=move || has_diff.get()>
            <Diff/>
        </Show>
    }
}
