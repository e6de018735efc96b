//! Fields for the recipes' own options: first those that matter to the open project, the others folded away.

use crate::port::state::State;
use crate::port::work::Session;
use crate::shared::text::count;
use codemod::{OptionKind, TargetOption};
use leptos::prelude::*;

/// Shows the options, or puts them away.
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
            <span id="options-chosen">{number}</span>
        </button>
    }
}

/// An option, its default, and whether it is among the first.
type Asked = (TargetOption, String, bool);

/// The fields, while they are wanted.
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
    view! {
        <div id="named" role="group" aria-label="Options" hidden=move || !wanted.get()>
            {move || (!said.with(String::is_empty)).then(|| view! { <p>{said.get()}</p> })}
            <div class="fields">
                <For each=move || of(true) key=|asked| asked.0.name.clone() let((asked, default, _))>
                    <Field asked default/>
                </For>
            </div>
            <details hidden=move || of(false).is_empty()>
                <summary>{rest}</summary>
                <div class="fields">
                    <For each=move || of(false) key=|asked| asked.0.name.clone() let((asked, default, _))>
                        <Field asked default/>
                    </For>
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

/// One of them, with a line of help.
#[component]
fn Field(asked: TargetOption, default: String) -> impl IntoView {
    let session: Session = expect_context();
    let TargetOption { name, label, kind, .. } = asked;
    let chosen = {
        let name = name.clone();
        session.memo(move |state| state.choice.options.get(&name).cloned().unwrap_or_default())
    };
    let id = format!("option-{name}");
    let about = format!("about-{name}");
    let help = format!("{kind}. Default: {default}. ");
    let choose = {
        let name = name.clone();
        move |event| {
            let value = event_target_value(&event);
            session.change_and_port(|state| {
                state.choose(|choice| match value.is_empty() {
                    true => drop(choice.options.remove(&name)),
                    // A value that the option doesn't have falls back to the default.
                    false => drop(choice.options.insert(name.clone(), value.clone())),
                });
            });
        }
    };
    let control = match kind {
        OptionKind::OneOf(values) => {
            let option = move |value: String| {
                let this = value.clone();
                view! { <option value=value.clone() prop:selected=move || chosen.with(|c| *c == this)>{value.clone()}</option> }
            };
            view! {
                <select id=id.clone() aria-describedby=about.clone() on:change=choose>
                    <option value="" prop:selected=move || chosen.with(String::is_empty)>{format!("default ({default})")}</option>
                    {values.into_iter().map(option).collect_view()}
                </select>
            }
            .into_any()
        }
        OptionKind::Number => view! {
            <input
                type="number"
                min="1"
                max="999999999"
                step="1"
                inputmode="numeric"
                placeholder=default
                id=id.clone()
                aria-describedby=about.clone()
                prop:value=chosen
                on:change=choose
            />
        }
        .into_any(),
        OptionKind::Text => view! {
            <input type="text" placeholder=default id=id.clone() aria-describedby=about.clone() prop:value=chosen on:change=choose/>
        }
        .into_any(),
    };
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {control}
            <small id=about>
                {help}
                <code>{format!("--option {name}=…")}</code>
            </small>
        </div>
    }
}
