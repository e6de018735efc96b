//! Moves the focus when the focused control disappears: to the part of the page that contained it, so that keyboard
//! users are not sent back to the beginning of the page.

use crate::port::work::Session;
use crate::shared::browser;
use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// What can contain a control, innermost first.
const PLACES: [&str; 6] = ["#panel", "#notice", "#named", "#tabs", "#source-pane", "#result-pane"];

/// Does this for as long as the page is open.
pub(super) fn keep(session: Session) {
    let last = StoredValue::new_local(None::<(Element, Vec<Element>)>);
    window_event_listener(ev::focusin, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        last.set_value(target.map(|target| {
            let places = PLACES.iter().filter_map(|place| target.closest(place).ok().flatten());
            let places = places.collect();
            (target, places)
        }));
    });
    Effect::new(move |_| {
        session.state.track();
        // After the page has been updated.
        browser::later(0, move || {
            let Some((control, places)) = last.try_get_value().flatten() else { return };
            let document = browser::document();
            let nowhere =
                document.active_element().is_none_or(|active| document.body().is_some_and(|body| *body == active));
            if !nowhere || control.is_connected() {
                return;
            }
            // The same control may have been recreated elsewhere.
            let again = Some(control.id()).filter(|id| !id.is_empty()).and_then(|id| browser::element(&id));
            if let Some(again) = again {
                let _ = again.focus();
                return;
            }
            if let Some(place) = places.into_iter().find(|place| place.is_connected()) {
                let place: HtmlElement = place.unchecked_into();
                place.set_tab_index(-1);
                let _ = place.focus();
            }
        });
    });
}

/// Moves the focus to a control that is about to be shown.
pub(super) fn go_to(id: &'static str) {
    browser::later(0, move || {
        if let Some(control) = browser::element(id) {
            let _ = control.focus();
        }
    });
}
