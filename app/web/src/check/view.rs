//! The page's components. Each shows part of the state; what a control does is a method of it or of [`Session`].

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

use super::work::{Session, offer};
use crate::shared::browser;
use form::Form;
use leptos::prelude::*;
use results::Results;

/// Fills `#check`, for as long as the window is open.
pub fn mount() {
    let Some(place) = browser::element("check") else { return };
    place.set_text_content(None);
    leptos::mount::mount_to(place, || {
        let session = Session::start();
        offer(session);
        Page(PageProps { session })
    })
    .forget();
}

/// The page's form, with the results next to it.
#[component]
fn Page(session: Session) -> impl IntoView {
    provide_context(session);
    view! {
        <Form/>
        <Results/>
    }
}
