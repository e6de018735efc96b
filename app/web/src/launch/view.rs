//! The page's components. Each shows a part of the state; what a control does is a method of it or of [`Session`].

mod about;
mod command;
mod field;
mod form;
mod lint;
mod missing;
mod script;

use super::work::Session;
use command::Command;
use form::Form;
use leptos::prelude::*;
use lint::OwnScript;
use script::Script;

/// The page below its heading.
#[component]
pub(super) fn Page(session: Session) -> impl IntoView {
    provide_context(session);
    view! {
        <Form/>
        <section class="launch-script" aria-labelledby="script-name">
            <Script/>
        </section>
        <OwnScript/>
    }
}
