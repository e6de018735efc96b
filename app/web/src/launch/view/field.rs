//! One field of the form: its label, its control, what it is about, what is wrong with it.

use crate::launch::work::Session;
use launch::form::{FieldKind, FormField};
use leptos::prelude::*;

/// A field by its name. Its label, help and default may depend on other fields.
#[component]
pub(super) fn Field(name: String) -> impl IntoView {
    let session: Session = expect_context();
    let field = field_named(session, name.clone());
    let kind = Memo::new(move |_| field.with(|field| kind_of(&field.kind)));
    let problem = Memo::new(move |_| {
        let of = |problems: &Vec<_>| session.state.with(|state| field.with(|field| state.problem_at(field, problems)));
        session.result.with(|result| result.as_ref().err().map(of).unwrap_or_default())
    });
    let id = format!("field-{name}");
    let about = {
        let name = name.clone();
        move || match field.with(|field| field.help.is_empty()) {
            true => format!("problem-{name}"),
            false => format!("problem-{name} help-{name}"),
        }
    };
    let control = {
        let (id, name) = (id.clone(), name.clone());
        move || view! { <Control kind=kind.get() id=id.clone() name=name.clone() field problem about=about.clone()/> }
    };
    let help_id = format!("help-{name}");
    let help = move || {
        let help = field.with(|field| field.help.clone());
        (!help.is_empty()).then(|| view! { <p class="help" id=help_id.clone()>{help}</p> })
    };
    view! {
        <div class=move || kind.get().class()>
            <label for=id>
                {move || field.with(|field| field.label.clone())}
                {move || field.with(|field| field.required).then(|| view! { " " <span class="needed">"required"</span> })}
            </label>
            {control}
            {help}
            <p class="problem" id=format!("problem-{name}")>{problem}</p>
        </div>
    }
}

/// The field as it stands; the last one while its element is being taken away.
fn field_named(session: Session, name: String) -> Memo<FormField> {
    let missing = FormField {
        name: name.clone(),
        label: String::new(),
        help: String::new(),
        kind: FieldKind::Text,
        required: false,
        default: String::new(),
    };
    Memo::new(move |last: Option<&FormField>| {
        let found = session
            .form
            .with(|groups| groups.iter().flat_map(|group| &group.fields).find(|field| field.name == name).cloned());
        found.or_else(|| last.cloned()).unwrap_or_else(|| missing.clone())
    })
}

/// Which control a field has.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Choice,
    Number,
    Text,
    Lines,
    Switch,
}

fn kind_of(kind: &FieldKind) -> Kind {
    match kind {
        FieldKind::Choice(_) => Kind::Choice,
        FieldKind::Number => Kind::Number,
        FieldKind::Text => Kind::Text,
        FieldKind::Lines => Kind::Lines,
        FieldKind::Switch => Kind::Switch,
    }
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Kind::Switch => "field switched",
            Kind::Number => "field narrow",
            _ => "field",
        }
    }
}

#[component]
fn Control(
    kind: Kind,
    id: String,
    name: String,
    field: Memo<FormField>,
    problem: Memo<String>,
    #[prop(into)] about: Signal<String>,
) -> impl IntoView {
    let session: Session = expect_context();
    // A whole file is read in its field; variables and directives are a few lines.
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

/// The entries of a list. A value that it lacks came with a link: it is shown, and the problem beside it says more.
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
