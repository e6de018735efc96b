//! Shown in place of the script while there is none.

use crate::launch::state::behind_label;
use crate::launch::work::Session;
use crate::shared::browser;
use crate::shared::view::Prose;
use launch::Problem;
use leptos::prelude::*;

/// The fields that have problems; each entry links to its control.
#[component]
pub(super) fn Missing() -> impl IntoView {
    let session: Session = expect_context();
    let problems = move || session.result.with(|result| result.as_ref().err().cloned());
    let state = move |problems: Vec<Problem>| {
        view! {
            <div class="state">
                <h3>"No script yet"</h3>
                <p>"Complete or correct:"</p>
                <ul>{problems.into_iter().map(|problem| view! { <Entry problem/> }).collect_view()}</ul>
            </div>
        }
    };
    view! { <div id="missing">{move || problems().map(state)}</div> }
}

#[component]
fn Entry(problem: Problem) -> impl IntoView {
    let session: Session = expect_context();
    let Problem { field, message } = problem;
    let label = session.form.with_untracked(|groups| {
        let mut fields = groups.iter().flat_map(|group| &group.fields);
        fields.find(|shown| shown.name == field).map(|shown| shown.label.clone())
    });
    let message = behind_label(message, label.as_deref());
    let name = match label {
        Some(label) => {
            let go = move |_| go_to(session, &field);
            view! { <button class="link" type="button" on:click=go>{label}</button> }.into_any()
        }
        None => view! { <code>{field}</code> }.into_any(),
    };
    // A sentence that starts with the field's name.
    let join = if message.starts_with("is ") { " " } else { ": " };
    view! { <li>{name} {join} <Prose text=message/></li> }
}

/// Focuses a field, also in a collapsed group.
fn go_to(session: Session, field: &str) {
    session.state.update(|state| state.touch(field));
    let Some(control) = browser::element(&format!("field-{field}")) else { return };
    if let Ok(Some(folded)) = control.closest("details") {
        let _ = folded.set_attribute("open", "");
    }
    let _ = control.focus();
}
