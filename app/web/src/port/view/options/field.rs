//! The field of one option, with a line of help.

use crate::port::work::Session;
use codemod::{OptionKind, TargetOption};
use leptos::prelude::*;

/// The field; if it is empty, the option has its default value.
#[component]
pub(super) fn Field(asked: TargetOption, default: String) -> impl IntoView {
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
        let (name, kind, label) = (name.clone(), kind.clone(), label.clone());
        move |event| {
            let value = event_target_value(&event);
            session.change_and_port(|state| {
                state.choose(|choice| match value.is_empty() {
                    true => drop(choice.options.remove(&name)),
                    // The option falls back to the default if it does not have this value.
                    false => drop(choice.options.insert(name.clone(), value.clone())),
                });
            });
            if !value.is_empty() && !kind.admits(&value) {
                event_target::<web_sys::HtmlInputElement>(&event).set_value("");
                session.say(true, format!("{label}: {kind}, not “{value}”. The default applies."));
            }
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
        OptionKind::Shapes => view! {
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
