//! One field of the form: its label, control and problem.

use crate::check::state::choice::{Kind, PRESETS, kind};
use crate::check::work::Session;
use leptos::prelude::*;

/// The field of a key.
#[component]
pub(super) fn Field(key: &'static str, #[prop(optional)] label: &'static str) -> impl IntoView {
    let session: Session = expect_context();
    let state = session.state;
    let id = format!("f-{key}");
    let fault_id = format!("fault-{key}");
    let value = Memo::new(move |_| state.with(|state| state.value(key)));
    let said = Memo::new(move |_| state.with(|state| state.said_of(key)));
    let invalid = move || (!said.with(|said| said.problem.is_empty())).then_some("true");
    // The fields of the configuration have CosmicTagger's own names.
    let label = if label.is_empty() { view! { <code>{key}</code> }.into_any() } else { label.into_any() };
    let choose = move |event| session.choose(key, &event_target_value(&event));
    let control = match kind(key) {
        Kind::Switch => view! {
            <label>
                <input
                    type="checkbox"
                    id=id
                    aria-describedby=fault_id.clone()
                    aria-invalid=invalid
                    prop:checked=move || value.with(|value| value == "true")
                    on:change=move |event| session.choose(key, if event_target_checked(&event) { "true" } else { "false" })
                />
                " "
                {label}
            </label>
        }
        .into_any(),
        Kind::Number => view! {
            <label for=id.clone()>{label}</label>
            <input
                type="text"
                inputmode="numeric"
                autocomplete="off"
                id=id
                aria-describedby=fault_id.clone()
                aria-invalid=invalid
                prop:value=value
                on:change=choose
            />
        }
        .into_any(),
        Kind::Words(words) => {
            let own = (key == "preset").then_some(("", "custom"));
            let words = words.into_iter().map(|word| (word, label_of(key, word))).chain(own);
            let option = move |(word, label): (&'static str, &'static str)| {
                let selected = move || value.with(|value| value == word);
                view! { <option value=word disabled=word.is_empty() prop:selected=selected>{label}</option> }
            };
            view! {
                <label for=id.clone()>{label}</label>
                <select id=id aria-describedby=fault_id.clone() aria-invalid=invalid on:change=choose>
                    {words.map(option).collect_view()}
                </select>
            }
            .into_any()
        }
    };
    let hint = hint(key);
    view! {
        <div class="field" class:tick=move || kind(key) == Kind::Switch>
            {control}
            {(!hint.is_empty()).then(|| view! { <p class="hint">{hint}</p> })}
            <Fault key/>
        </div>
    }
}

/// The problem of a field, and a size that would be valid.
#[component]
fn Fault(key: &'static str) -> impl IntoView {
    let session: Session = expect_context();
    let said = Memo::new(move |_| session.state.with(|state| state.said_of(key)));
    let offer = move || {
        said.with(|said| said.next_size).map(|(height, width)| {
            let take = move |_| session.take_size((height, width));
            view! {
                " "
                <button type="button" class="button quiet small" on:click=take>
                    {format!("Use {height} × {width}")}
                </button>
            }
        })
    };
    view! {
        <p class="fault" id=format!("fault-{key}") role="alert">
            {move || said.with(|said| said.problem.clone())}
            {offer}
        </p>
    }
}

/// The help for controls whose name is not self-explanatory.
fn hint(key: &str) -> &'static str {
    match key {
        "block_concat" => "keeps the planes separate in the deepest block",
        "depth" => "number of downsampling steps, each halving the image",
        _ => "",
    }
}

/// Labels of list entries that are not values of a field.
fn label_of(key: &str, word: &'static str) -> &'static str {
    match (key, word) {
        ("weights", "sample") => "Sample: small, trained",
        ("weights", "seeded") => "Random, from a seed",
        ("weights" | "input", "file") => "From a file",
        ("input", "synthetic") => "Synthetic event",
        ("stages", "none") => "No module outputs",
        ("stages", "coarse") => "Module outputs (no inner blocks)",
        ("stages", "all") => "Every module’s output",
        ("precision", "fp32") => "float32",
        ("precision", "bf16") => "bfloat16",
        ("precision", "fp16") => "float16",
        _ => PRESETS.into_iter().find(|preset| *preset == word).unwrap_or(word),
    }
}
