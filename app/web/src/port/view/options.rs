//! Fields for the recipes' own options: first those that affect the open project; the others are collapsed.

mod field;

use super::focus::go_to;
use crate::port::state::State;
use crate::port::work::Session;
use crate::shared::text::{count, hash_of};
use crate::shared::view::{each, live};
use codemod::TargetOption;
use field::Field;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

/// Shows or hides the options.
#[component]
pub(super) fn OptionsButton() -> impl IntoView {
    let session: Session = expect_context();
    let wanted = session.memo(|state| state.trials.wanted);
    let chosen = session.memo(|state| state.choice.options.len());
    let number = move || {
        (chosen.get() > 0).then(|| {
            view! {
                " "
                <span class="count">{chosen.get()} <span class="visually-hidden">" chosen"</span></span>
            }
        })
    };
    view! {
        <button
            class="button quiet small"
            id="options"
            aria-expanded=move || wanted.get().to_string()
            aria-controls="named"
            on:click=move |_| session.flip_options()
        >
            "Options"
            <span id="options-chosen">{live(number)}</span>
        </button>
    }
}

/// An option, its default, and whether it is one of the first.
type Asked = (TargetOption, String, bool);

/// The fields, while they are shown.
#[component]
pub(super) fn Named() -> impl IntoView {
    let session: Session = expect_context();
    let wanted = session.memo(|state| state.trials.wanted);
    let asked = session.memo(asked);
    let of = move |first: bool| asked.with(|asked| asked.iter().filter(|a| a.2 == first).cloned().collect::<Vec<_>>());
    let rest = move || match of(false).len() {
        0 => String::new(),
        1 => "1 option with no effect on this code".to_owned(),
        n => format!("{} with no effect on this code", count(n, "option")),
    };
    let said = session.memo(said);
    let field = |(asked, default, _): Asked| view! { <Field asked default/> };
    let close = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            session.flip_options();
            go_to("options");
        }
    };
    let fields = move |first: bool| each(move || of(first), |asked| hash_of(&asked.0.name), field);
    view! {
        <div id="named" role="group" aria-label="Options" hidden=move || !wanted.get() on:keydown=close>
            {live(move || (!said.with(String::is_empty)).then(|| view! { <p>{said.get()}</p> }))}
            <div class="fields">
                {fields(true)}
            </div>
            <details hidden=move || of(false).is_empty()>
                <summary>{live(rest)}</summary>
                <div class="fields">
                    {fields(false)}
                </div>
            </details>
        </div>
    }
}

fn asked(state: &State) -> Vec<Asked> {
    let Some(target) = state.target() else { return Vec::new() };
    let asked = |(place, option): (usize, &TargetOption)| {
        let idle = state.trials.matters(&target.id, place) == Some(false);
        let first = !idle || state.choice.options.contains_key(&option.name);
        (option.clone(), target.default_of(option, state.choice.sdk.as_deref()), first)
    };
    target.options.iter().enumerate().map(asked).collect()
}

fn said(state: &State) -> String {
    let Some(target) = state.target() else { return String::new() };
    let known = (0..target.options.len()).all(|place| state.trials.matters(&target.id, place).is_some());
    let none = !asked(state).iter().any(|(_, _, first)| *first);
    match (state.outcome.is_some(), known) {
        _ if target.options.is_empty() => format!("{} has no options.", target.name),
        (true, true) if none => "No option has an effect on this project.".to_owned(),
        (true, false) => "Testing which options affect this project…".to_owned(),
        _ => String::new(),
    }
}
