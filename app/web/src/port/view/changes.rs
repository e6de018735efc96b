//! The changes, or the reason why there are none.

mod waiting;

use super::bar::choose_style;
use super::diff::Diff;
use super::overview::Overview;
use super::twin::TwinStrip;
use crate::port::state::{Phase, State};
use crate::port::work::Session;
use crate::shared::text::{count, sentence};
use crate::shared::view::{Prose, When, live};
use leptos::prelude::*;
use waiting::waiting;

/// The first panel.
#[component]
pub(super) fn Changes() -> impl IntoView {
    let session: Session = expect_context();
    let phase = session.memo(State::phase);
    let stale = session.memo(State::is_stale);
    let has_notes = session.memo(|state| {
        state.has_refused() || state.outcome_of(state.selected).is_some_and(|file| !file.diagnostics.is_empty())
    });
    // While the user types, a file stops parsing and parses again; recreating a long diff each time would be too slow.
    let has_diff = Memo::new(move |_| {
        phase.with(|phase| match phase {
            Phase::Changes => true,
            Phase::Nothing => has_notes.get(),
            Phase::Failed { .. } => stale.get(),
            _ => false,
        })
    });
    let above = move || match phase.get() {
        Phase::Changes => view! { <Overview folded=true/> <TwinStrip/> }.into_any(),
        Phase::Nothing => view! { <Nothing has_notes/> }.into_any(),
        Phase::Failed { message, line, column } if stale.get() => view! { <Stale message line column/> }.into_any(),
        Phase::Failed { message, line, column } => view! { <Failed message line column/> }.into_any(),
        other => waiting(session, other),
    };
    view! {
        {live(above)}
        <When holds=has_diff>
            <Diff/>
        </When>
    }
}

/// The requirement of the menu entry “Keep CUDA, add a branch”, in the menu's words.
const NO_MODES: &str = "“Keep CUDA, add a branch” needs a project that chooses between compute modes. None was found, so nothing is \
                        changed.";

/// Shown if the file can't be ported.
#[component]
fn Failed(message: String, line: usize, column: usize) -> impl IntoView {
    let session: Session = expect_context();
    let (not_python, no_modes) = session.state.with_untracked(|state| (state.not_python(), state.wants_in_place()));
    let text = match not_python {
        Some(advice) => advice.to_owned(),
        None if no_modes => NO_MODES.to_owned(),
        None => sentence(&message),
    };
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

/// The button that offers a way forward after a failure.
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

/// Shown above the last good diff while the file does not parse.
#[component]
fn Stale(message: String, line: usize, column: usize) -> impl IntoView {
    view! {
        <div class="stale-notice" role="note">
            <p>
                <b>"Earlier port. "</b>
                <Prose text=sentence(&message)/>
            </p>
            <Remedy line column/>
        </div>
    }
}

/// Shown for a file that the port does not change. Any messages about it are in the diff below.
#[component]
fn Nothing(has_notes: Memo<bool>) -> impl IntoView {
    let session: Session = expect_context();
    let text = session.memo(State::unchanged);
    let head = session.memo(|state| match state.not_python() {
        Some(_) => "This is not a Python script",
        None => "Nothing changed in this file",
    });
    let elsewhere = session.memo(State::changed_elsewhere);
    let entry = move |(index, path, changes): (usize, String, usize)| {
        view! {
            <li>
                <button class="link" on:click=move |_| session.select(index)>{path}</button>
                {format!(": {}", count(changes, "change"))}
            </li>
        }
    };
    // An overview says all of this above the messages, which then use the space.
    let is_told = session.memo(|state| state.outcome.as_ref().is_some_and(|outcome| outcome.overview.is_some()));
    let told = move || has_notes.get() && is_told.get() && elsewhere.with(Vec::is_empty);
    view! {
        {live(move || view! { <Overview folded=has_notes.get()/> })}
        <div class="state" class:brief=has_notes hidden=told>
            <h3>{head}</h3>
            <p>{live(move || view! { <Prose text=text.get()/> })}</p>
            <p class="elsewhere">"The changes are in:"</p>
            <ul>{live(move || elsewhere.get().into_iter().map(entry).collect_view())}</ul>
        </div>
    }
}
