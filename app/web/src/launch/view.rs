//! The page's components. Each shows part of the state; what a control does is a method of it or of [`Session`].

mod about;
mod command;
mod field;
mod form;
mod lint;
mod missing;
mod script;

use super::work::Session;
use crate::shared::browser;
use command::Command;
use form::Form;
use leptos::prelude::*;
use lint::OwnScript;
use script::Script;

/// Fills `#launch-page`, for as long as the window is open.
pub fn mount() {
    let Some(place) = browser::element("launch-page") else { return };
    place.set_text_content(None);
    leptos::mount::mount_to(place, || Page(PageProps { session: Session::start() })).forget();
}

/// The page below its heading.
#[component]
fn Page(session: Session) -> impl IntoView {
    provide_context(session);
    // Everything after the form is created in a task of its own: a phone lays out the form in the meantime.
    let complete = RwSignal::new(false);
    browser::later(0, move || complete.set(true));
    view! {
        <Form/>
        <Show when=move || complete.get()>
            <section class="launch-script" aria-labelledby="script-name">
                // As high as the form, so that what stays in view in it ends with the form.
                <div>
                    <Script/>
                </div>
            </section>
            <OwnScript/>
        </Show>
    }
}
