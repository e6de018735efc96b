//! One field of the form: its label, control, help and problems.

mod control;

use crate::launch::work::Session;
use crate::shared::view::Prose;
use control::{Control, kind_of};
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
            <p class="problem" id=format!("problem-{name}")>{move || view! { <Prose text=problem.get()/> }}</p>
        </div>
    }
}

/// The current field; the last one while its element is being removed.
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
