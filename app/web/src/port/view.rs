//! The page's components. Each shows a part of the state; what a control does is a method of it or of [`Session`].
//! [`mount`] starts the page.

mod bar;
mod changes;
mod checks;
mod diff;
mod editor;
mod files;
mod focus;
mod keys;
mod ledger;
mod links;
mod matrix;
mod notice;
mod options;
mod overview;
mod recipes;
mod result;
mod source;
mod splitter;
mod take;
mod todo;
mod twin;

use super::work::{Session, is_kept, offer, open_dropped};
use crate::shared::browser;
use bar::Bar;
use keys::Keys;
use leptos::ev::{self, DragEvent};
use leptos::prelude::*;
use notice::Notice;
use result::Result;
use source::Source;
use splitter::Splitter;
use wasm_bindgen::JsCast;
use web_sys::{HashChangeEvent, HtmlElement};

/// Fills `#port`, for as long as the window is open.
pub fn mount() {
    let Some(place) = browser::element("port") else { return };
    let mounted = leptos::mount::mount_to(place.clone(), || {
        let session = Session::start();
        offer(session);
        // Else what is kept comes first, and whoever keeps it lets the address be read.
        if !is_kept() {
            session.read_fragment();
        }
        session.follow_edits();
        window_event_listener(ev::hashchange, move |event: HashChangeEvent| {
            session.read_fragment();
            back_to_entry(&event);
        });
        let shown = RwSignal::new(false);
        // In a task of its own: the program has just been started, which takes a phone long enough.
        browser::later(0, move || {
            while let Some(waiting) = place.first_element_child() {
                waiting.remove();
            }
            shown.set(true);
        });
        move || shown.get().then(|| view! { <Page session/> })
    });
    mounted.forget();
}

/// Back from a place: to the entry that led there.
fn back_to_entry(event: &HashChangeEvent) {
    let from = event.old_url().rsplit_once('#').map(|(_, from)| format!("a[href=\"#{from}\"]"));
    browser::later(0, move || {
        let entry = from.and_then(|from| browser::element("panel")?.query_selector(&from).ok().flatten());
        if let Some(entry) = entry {
            let _ = entry.unchecked_into::<HtmlElement>().focus();
        }
    });
}

/// The whole page.
#[component]
fn Page(session: Session) -> impl IntoView {
    provide_context(session);
    let dropping = RwSignal::new(false);
    for_drops(session, dropping);
    focus::keep(session);
    let hidden = session.memo(|state| state.source_hidden);
    let tree = session.memo(|state| state.files.len() > 1);
    // In a task of its own, as the page itself: each part compiles when it is first shown.
    let complete = RwSignal::new(false);
    browser::later(0, move || complete.set(true));
    let result = move || match complete.get() {
        true => view! { <Result/> }.into_any(),
        false => view! { <section class="port-result" aria-label="Port" aria-busy="true"></section> }.into_any(),
    };
    let share = RwSignal::new(None::<f64>);
    let columns = move || share.get().map(|share| format!("{share:.1}%"));
    view! {
        <div
            class="port"
            id="port-page"
            class:alone=move || hidden.get() && !tree.get()
            class:folded=move || hidden.get() && tree.get()
            class:dropping=dropping
            style:--source-width=columns
        >
            <Bar/>
            <Notice/>
            <Source/>
            <Splitter share/>
            {result}
            <Keys/>
        </div>
    }
}

/// Files may be dropped anywhere.
fn for_drops(session: Session, dropping: RwSignal<bool>) {
    let has_files = |event: &DragEvent| event.data_transfer().filter(|data| data.types().includes(&"Files".into(), 0));
    window_event_listener(ev::dragover, move |event| {
        if has_files(&event).is_some() {
            event.prevent_default();
            dropping.set(true);
        }
    });
    window_event_listener(ev::dragleave, move |event| {
        // Leaving one element for another is not leaving the page.
        dropping.set(event.related_target().is_some() && has_files(&event).is_some());
    });
    window_event_listener(ev::drop, move |event| {
        dropping.set(false);
        if let Some(data) = has_files(&event) {
            event.prevent_default();
            open_dropped(session, &data);
        }
    });
}
