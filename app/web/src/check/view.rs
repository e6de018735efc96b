//! The page's components. Each shows a part of the state; what a control does is a method of it or of [`Session`].

mod actions;
mod canvas;
mod comparison;
mod field;
mod file_field;
mod form;
mod histogram;
mod layers;
mod legend;
mod machine;
mod planes;
mod reference;
mod results;
mod stages;
mod statistics;
mod table;

use super::work::Session;
use form::Form;
use leptos::prelude::*;
use results::Results;

/// The page's form, and beside it what came out.
#[component]
pub(super) fn Page(session: Session) -> impl IntoView {
    provide_context(session);
    view! {
        <Form/>
        <Results/>
    }
}
