//! The form: groups of fields, some of them collapsed.

use super::field::Field;
use crate::launch::state::State;
use crate::launch::work::Session;
use crate::shared::browser;
use crate::shared::view::part;
use launch::form::FormGroup;
use leptos::ev::SubmitEvent;
use leptos::html::Details;
use leptos::prelude::*;

/// All groups. Groups that stay when another field changes keep their elements, and with them the focus. The form is
/// hidden until it is complete.
#[component]
pub(super) fn Form(shown: RwSignal<bool>) -> impl IntoView {
    let session: Session = expect_context();
    let titles = move || session.form.with(|groups| groups.iter().map(|g| (g.title, g.folded)).collect::<Vec<_>>());
    let end = move || {
        view! {
            <p class="form-end">
                <button class="button quiet small" id="clear" type="button" on:click=move |_| session.clear()>
                    "Clear the form"
                </button>
            </p>
        }
        .into_any()
    };
    view! {
        <form
            class="launch-form"
            hidden=move || !shown.get()
            id="launch-form"
            aria-label="Job"
            on:submit=move |event: SubmitEvent| event.prevent_default()
        >
            {part(|| view! { <Way/> }.into_any())}
            <For each=titles key=|group| *group let((title, folded))>
                {part(move || if folded { view! { <FoldedGroup title/> }.into_any() } else { view! { <Group title/> }.into_any() })}
            </For>
            {part(end)}
        </form>
    }
}

/// Links from the form to the script, for pages where the script is below it, and to the check of an existing script.
#[component]
fn Way() -> impl IntoView {
    let session: Session = expect_context();
    let said = move || session.result.with(State::summary);
    view! {
        <p class="launch-way">
            <button class="link" type="button" on:click=|_| to("script-name")>
                {said}
                <span class="visually-hidden">" Go to the script"</span>
                " "
                <span aria-hidden="true">"↓"</span>
            </button>
        </p>
        <p class="to-check">
            <button class="link" type="button" on:click=|_| to("check-name")>
                "Check an existing script"
                " "
                <span aria-hidden="true">"↓"</span>
            </button>
        </p>
    }
}

/// Scrolls to a heading and focuses it.
fn to(heading: &str) {
    if let Some(head) = browser::element(heading) {
        head.scroll_into_view();
        let _ = head.focus();
    }
}

/// A group that is always open.
#[component]
fn Group(title: &'static str) -> impl IntoView {
    view! {
        <fieldset>
            <legend>{title}</legend>
            <Fields title/>
        </fieldset>
    }
}

/// A group that most users do not need. It opens if one of its fields has a value or a problem.
#[component]
fn FoldedGroup(title: &'static str) -> impl IntoView {
    let session: Session = expect_context();
    let unfolded = Memo::new(move |_| {
        let problems = session.result.with(|result| result.as_ref().err().cloned().unwrap_or_default());
        session.form.with(|groups| {
            let group = groups.iter().find(|group| group.title == title);
            group.is_some_and(|group| session.state.with(|state| state.is_unfolded(group, &problems)))
        })
    });
    let details = NodeRef::<Details>::new();
    // The reader can collapse it again: it only reopens for a new reason.
    Effect::new(move |_| {
        if let (true, Some(details)) = (unfolded.get(), details.get()) {
            details.set_open(true);
        }
    });
    let toggled = move |_| {
        if let Some(details) = details.get_untracked() {
            session.state.update_untracked(|state| state.unfold(title, details.open()));
        }
    };
    view! {
        <details class="folded" node_ref=details on:toggle=toggled>
            <summary>{title}</summary>
            <Fields title/>
        </details>
    }
}

/// The fields of a group, by name.
#[component]
fn Fields(title: &'static str) -> impl IntoView {
    let session: Session = expect_context();
    let names = move || {
        let of = |group: &FormGroup| group.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>();
        session.form.with(|groups| groups.iter().find(|group| group.title == title).map(of).unwrap_or_default())
    };
    view! {
        <For each=names key=|name| name.clone() let(name)>
            {part(move || view! { <Field name=name.clone()/> }.into_any())}
        </For>
    }
}
