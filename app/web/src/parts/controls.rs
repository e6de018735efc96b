//! Target, style, SDK and the switches.

use crate::app::session;
use codemod::Style;
use leptos::prelude::*;

/// The choices above the panes. A change ports at once.
#[component]
pub(crate) fn Controls() -> impl IntoView {
    let session = session();
    let catalogue = session.keyed(|state| state.catalogue.targets.len() as u64, |state| state.catalogue.clone());
    let choice = session.part(|state| state.choice.clone());
    let target = session.part(|state| state.target().map(|t| (t.sdks.clone(), t.options.clone())).unwrap_or_default());
    let used = session.part(|state| state.outcome.as_ref().map(|outcome| outcome.style == Style::Branch));
    let targets = move || {
        let targets = catalogue.get().targets.clone();
        let one = |id: String, title: String| {
            let chosen = id.clone();
            view! { <option value=id.clone() title=title prop:selected=move || choice.get().target == chosen>{id.to_ascii_uppercase()}</option> }
        };
        targets.into_iter().map(|t| one(t.id, t.title)).collect_view()
    };
    let sdks = move || {
        let (all, _) = target.get();
        let newest = all.last().cloned().unwrap_or_default();
        let one = |sdk: String| {
            let (value, label) = (sdk.clone(), if sdk == newest { format!("{sdk} (newest)") } else { sdk.clone() });
            let is_newest = sdk == newest;
            let chosen = move || choice.get().sdk.map_or(is_newest, |s| s == sdk);
            view! { <option value=value prop:selected=chosen>{label}</option> }
        };
        all.into_iter().rev().map(one).collect_view()
    };
    let style = |value: &'static str, style: Style, label: &'static str| {
        view! { <option value=value prop:selected=move || choice.get().style == style>{label}</option> }
    };
    let automatic = move || match used.get().filter(|_| choice.get().style == Style::Auto) {
        Some(true) => "Auto: branch",
        Some(false) => "Auto: in place",
        _ => "Auto",
    };
    let named = move || {
        let (_, options) = target.get();
        options.into_iter().map(|(name, values)| view! { <Named name values /> }).collect_view()
    };
    view! {
        <div class="controls" role="group" aria-label="Port to">
            <label class="field"><span>"Target"</span>
                <select id="target" on:change:target=move |event| {
                    let value = event.target().value();
                    session.change_and_port(move |state| { state.choice.target = value; state.settle_choice(); });
                }>{targets}</select>
            </label>
            <label class="field"><span>"Style"</span>
                <select id="style" title="In place: the file becomes target code. Branch: other devices keep their code, the target's runs under a guard. Auto: branch when the project chooses between compute modes."
                    on:change:target=move |event| {
                        let style = match event.target().value().as_str() {
                            "in-place" => Style::InPlace,
                            "branch" => Style::Branch,
                            _ => Style::Auto,
                        };
                        session.change_and_port(|state| state.choice.style = style);
                    }>
                    <option value="auto" prop:selected=move || choice.get().style == Style::Auto>{automatic}</option>
                    {style("in-place", Style::InPlace, "In place")}
                    {style("branch", Style::Branch, "Branch")}
                </select>
            </label>
            <label class="field"><span>"SDK"</span>
                <select id="sdk" on:change:target=move |event| {
                    let value = event.target().value();
                    session.change_and_port(move |state| { state.choice.sdk = Some(value); state.settle_choice(); });
                }>{sdks}</select>
            </label>
            {named}
            <label class="switch">
                <input type="checkbox" id="unsafe" prop:checked=move || choice.get().allow_unsafe
                    on:change:target=move |event| {
                        let on = event.target().checked();
                        session.change_and_port(move |state| state.choice.allow_unsafe = on);
                    } />
                <span>"Apply unsafe changes too"</span>
            </label>
        </div>
    }
}

/// One of the recipes' own options.
#[component]
fn Named(name: String, values: Vec<String>) -> impl IntoView {
    let session = session();
    let (key, shown) = (name.clone(), name.clone());
    let choice = session.part(|state| state.choice.options.clone());
    let options = values.into_iter().map(|value| {
        let (key, chosen) = (name.clone(), value.clone());
        let label = value.clone();
        view! { <option value=value prop:selected=move || choice.get().get(&key) == Some(&chosen)>{label}</option> }
    });
    view! {
        <label class="field"><span>{shown}</span>
            <select on:change:target=move |event| {
                let (key, value) = (key.clone(), event.target().value());
                session.change_and_port(move |state| match value.is_empty() {
                    true => drop(state.choice.options.remove(&key)),
                    false => drop(state.choice.options.insert(key, value)),
                });
            }>
                <option value="">"default"</option>
                {options.collect_view()}
            </select>
        </label>
    }
}
