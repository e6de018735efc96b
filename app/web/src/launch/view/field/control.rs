//! A field's control.

use crate::launch::work::Session;
use launch::form::{FieldKind, FormField};
use leptos::prelude::*;

/// The kind of a field's control.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Choice,
    Number,
    Text,
    Lines,
    Switch,
}

/// The control of a kind of field.
pub(super) fn kind_of(kind: &FieldKind) -> Kind {
    match kind {
        FieldKind::Choice(_) => Kind::Choice,
        FieldKind::Number => Kind::Number,
        FieldKind::Text => Kind::Text,
        FieldKind::Lines => Kind::Lines,
        FieldKind::Switch => Kind::Switch,
    }
}

impl Kind {
    /// The class of the field around it.
    pub(super) fn class(self) -> &'static str {
        match self {
            Kind::Switch => "field switched",
            Kind::Number => "field narrow",
            _ => "field",
        }
    }
}

/// The control, with its description for screen readers.
#[component]
pub(super) fn Control(
    kind: Kind,
    id: String,
    name: String,
    field: Memo<FormField>,
    problem: Memo<String>,
    #[prop(into)] about: Signal<String>,
) -> impl IntoView {
    let session: Session = expect_context();
    // A whole file needs a tall field; variables and directives are a few lines.
    let rows = if name == "site-file" { "9" } else { "3" };
    let value = Memo::new(move |_| session.state.with(|state| field.with(|field| state.value(field))));
    let invalid = move || if problem.with(String::is_empty) { "false" } else { "true" };
    let required = move || field.with(|field| field.required).then_some("true");
    let default = move || field.with(|field| field.default.clone());
    let edit = {
        let name = name.clone();
        move |value: String, finished| session.edit(&name, value, finished)
    };
    let (typed, done) = (edit.clone(), edit.clone());
    let typed = move |event| typed(event_target_value(&event), false);
    let done = move |event| done(event_target_value(&event), true);
    match kind {
        Kind::Choice => view! {
            <select id=id name=name aria-describedby=about aria-invalid=invalid on:change=done>
                <Options field value/>
            </select>
        }
        .into_any(),
        Kind::Switch => view! {
            <input
                type="checkbox"
                id=id
                name=name
                value="on"
                aria-describedby=about
                aria-invalid=invalid
                prop:checked=move || value.with(|value| value == "on")
                on:change=move |event| {
                    let on = if event_target_checked(&event) { "on" } else { "" };
                    edit(on.to_owned(), true);
                }
            />
        }
        .into_any(),
        Kind::Lines => view! {
            <textarea
                id=id
                name=name
                rows=rows
                spellcheck="false"
                aria-describedby=about
                aria-invalid=invalid
                aria-required=required
                prop:value=value
                on:input=typed
                on:change=done
            ></textarea>
        }
        .into_any(),
        Kind::Number | Kind::Text => view! {
            <input
                type="text"
                id=id
                name=name
                inputmode=(kind == Kind::Number).then_some("numeric")
                size=(kind == Kind::Number).then_some("6")
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                placeholder=default
                aria-describedby=about
                aria-invalid=invalid
                aria-required=required
                prop:value=value
                on:input=typed
                on:change=done
            />
        }
        .into_any(),
    }
}

/// The entries of a list. A value that is not in the list is from a link: it is shown, and a message next to it
/// explains it.
#[component]
fn Options(field: Memo<FormField>, value: Memo<String>) -> impl IntoView {
    let options = move || {
        let FieldKind::Choice(mut options) = field.with(|field| field.kind.clone()) else { return Vec::new() };
        let value = value.get();
        if !options.iter().any(|(known, _)| *known == value) {
            options.insert(0, (value.clone(), value));
        }
        options
    };
    view! {
        <For each=options key=|option| option.clone() let((known, label))>
            <option value=known.clone() prop:selected=move || value.with(|value| *value == known)>{label}</option>
        </For>
    }
}
