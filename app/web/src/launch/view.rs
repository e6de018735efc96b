//! The page's components. Each shows part of the state; what a control does is a method of it or of [`Session`].

mod about;
mod command;
mod field;
mod form;
mod lint;
mod missing;
mod script;

use super::work::Session;
use crate::shared::view::{part, when_made};
use crate::shared::{browser, tasks};
use command::Command;
use form::Form;
use leptos::prelude::*;
use lint::OwnScript;
use script::Script;

/// Fills `#launch-page`, for as long as the window is open.
pub fn mount() {
    tasks::start(|| {
        let Some(place) = browser::element("launch-page") else { return };
        leptos::mount::mount_to(place, || {
            let session = Session::start();
            tasks::next(move || session.write());
            part(move || view! { <Page session/> }.into_any())
        })
        .forget();
    });
}

/// The page below its heading.
#[component]
fn Page(session: Session) -> impl IntoView {
    provide_context(session);
    let shown = RwSignal::new(false);
    let form = move || {
        when_made(move || {
            if let Ok(Some(waiting)) = browser::document().query_selector(".launch-page > .help") {
                waiting.remove();
            }
            shown.set(true);
        });
        view! { <Form shown/> }.into_any()
    };
    let script = || {
        view! {
            <section class="launch-script" aria-labelledby="script-name">
                // As high as the form, so that what stays in view in it ends with the form.
                <div>
                    <Script/>
                </div>
            </section>
        }
        .into_any()
    };
    view! {
        {part(form)}
        {part(script)}
        {part(|| view! { <OwnScript/> }.into_any())}
    }
}
