//! The bar above the panes, with the choice of target. `index.html` has the same controls, to reserve their space.

use super::early;
use super::guides::Guides;
use super::options::{Named, OptionsButton};
use crate::port::state::State;
use crate::port::work::Session;
use crate::shared::text::hash_of;
use crate::shared::view::{each, part};
use codemod::{Style, TargetInfo};
use leptos::prelude::*;

/// The bar.
#[component]
pub(super) fn Bar() -> impl IntoView {
    let session: Session = expect_context();
    let is_unsafe = session.memo(|state| state.choice.switches.allow_unsafe);
    view! {
        <div class="port-bar">
            <h1>"Port a training script"</h1>
            <div class="controls" role="group" aria-label="Port to">
                <label class="field">
                    <span>"Target"</span>
                    {part(|| view! { <Target/> }.into_any())}
                </label>
                <label
                    class="field"
                    title="Replace: the file becomes code for the target only. Branch: other devices keep their code, and the target’s runs under a condition. One program for all: it chooses the target where it chooses its device, and still runs on CUDA and the CPU. Automatic: branch where the project chooses between compute modes, one program where it chooses its device."
                >
                    <span>"Port style"</span>
                    {part(|| view! { <StyleChoice/> }.into_any())}
                </label>
                <label class="field">
                    <span>"SDK"</span>
                    {part(|| view! { <Sdk/> }.into_any())}
                </label>
                <label class="switch" id="unsafe-switch">
                    <input
                        type="checkbox"
                        id="unsafe"
                        prop:checked=is_unsafe
                        on:change=move |event| {
                            let on = event_target_checked(&event);
                            session.change_and_port(|state| state.choose(|choice| choice.switches.allow_unsafe = on));
                        }
                    />
                    <span>"Include changes that may alter results"</span>
                </label>
                {part(|| view! { <OptionsButton/> }.into_any())}
            </div>
            {part(|| view! { <Named/> <Guides/> }.into_any())}
        </div>
    }
}

/// A value of a list and its label.
pub(super) type Entry = (String, String);

#[component]
fn Target() -> impl IntoView {
    let session: Session = expect_context();
    let early = early::targets();
    let of = move |state: &State| {
        let label = |target: &TargetInfo| state.catalogue.labels.get(&target.id).unwrap_or(&target.name).clone();
        if state.catalogue.targets.is_empty() {
            return early.clone();
        }
        state.catalogue.targets.iter().map(|target| (target.id.clone(), label(target))).collect::<Vec<Entry>>()
    };
    let choose = move |value: String| {
        session.change_and_port(|state| state.choose_target(&value));
    };
    view! {
        <List id="target" entries=session.memo(of) chosen=session.memo(State::shown_target) choose/>
    }
}

#[component]
fn StyleChoice() -> impl IntoView {
    let session: Session = expect_context();
    let of = |state: &State| {
        let came_to = state.outcome.as_ref().filter(|_| state.choice.style == Style::Auto).map(|outcome| outcome.style);
        let auto = match came_to {
            Some(Style::Branch) => "Automatic: branch",
            Some(Style::InPlace) => "Automatic: replace",
            Some(Style::Agnostic) => "Automatic: one program",
            _ => "Automatic",
        };
        let mut entries =
            vec![("auto", auto), ("in-place", "Replace CUDA code"), ("branch", "Keep CUDA, add a branch")];
        let is_offered = state.target().is_none_or(|target| target.is_device);
        entries.extend(is_offered.then_some(("agnostic", "One program for all")));
        entries.into_iter().map(|(value, label)| (value.to_owned(), label.to_owned())).collect()
    };
    let chosen = |state: &State| state.choice.style.name().unwrap_or("auto").to_owned();
    view! {
        <List id="style" entries=session.memo(of) chosen=session.memo(chosen) choose=move |value: String| choose_style(session, &value)/>
    }
}

/// Selects a style by its name.
pub(super) fn choose_style(session: Session, word: &str) {
    let style = Style::named(word).unwrap_or_default();
    session.change_and_port(|state| state.choose(|choice| choice.style = style));
}

/// The SDKs, newest first.
#[component]
fn Sdk() -> impl IntoView {
    let session: Session = expect_context();
    let of = |state: &State| {
        if state.catalogue.targets.is_empty() {
            return vec![(String::new(), state.choice.sdk.clone().unwrap_or_else(|| "newest".to_owned()))];
        }
        let sdks = state.target().map(|target| &target.sdks[..]).unwrap_or_default();
        let label = |sdk: &String| if sdks.last() == Some(sdk) { format!("{sdk} (newest)") } else { sdk.clone() };
        sdks.iter().rev().map(|sdk| (sdk.clone(), label(sdk))).collect::<Vec<Entry>>()
    };
    let chosen = |state: &State| {
        let newest = || state.target().and_then(|target| target.sdks.last().cloned());
        state.choice.sdk.clone().or_else(newest).unwrap_or_default()
    };
    let choose =
        move |value: String| session.change_and_port(|state| state.choose(|choice| choice.sdk = Some(value.clone())));
    view! { <List id="sdk" entries=session.memo(of) chosen=session.memo(chosen) choose/> }
}

/// A select box with one selected entry. That of the SDKs can't be used before it is known which there are.
#[component]
fn List(
    id: &'static str,
    entries: Memo<Vec<Entry>>,
    chosen: Memo<String>,
    choose: impl Fn(String) + 'static,
) -> impl IntoView {
    let option = move |(value, label): Entry| {
        view! { <option value=value.clone() prop:selected=move || chosen.with(|chosen| *chosen == value)>{label}</option> }
    };
    let session: Session = expect_context();
    let disabled = session.memo(move |state| id == "sdk" && state.catalogue.targets.is_empty());
    view! {
        <select id=id disabled=disabled on:change=move |event| choose(event_target_value(&event))>
            {each(move || entries.get(), hash_of, option)}
        </select>
    }
}
