//! The page's components. Each shows part of the state; what a control does is a method of it or of [`Session`].
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
use crate::shared::view::live;
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
        // Otherwise the saved work is opened first, and the script that saves it then triggers reading the address.
        if !is_kept() {
            session.read_fragment();
        }
        session.follow_edits();
        window_event_listener(ev::hashchange, move |event: HashChangeEvent| {
            session.read_fragment();
            back_to_entry(&event);
        });
        let made = RwSignal::new(0);
        make(made, place);
        part(made, 1, move || view! { <Page session made/> }.into_any())
    });
    mounted.forget();
}

/// The parts of the page. Each is created in a task of its own, because a phone compiles it then; they are shown
/// together.
const PARTS: u8 = 3;

/// Creates the next part and those after it.
fn make(made: RwSignal<u8>, place: HtmlElement) {
    browser::later(0, move || {
        made.update(|made| *made += 1);
        if made.get_untracked() < PARTS {
            return make(made, place);
        }
        while let Some(waiting) = place.first_element_child().filter(|child| child.id() != "port-page") {
            waiting.remove();
        }
    });
}

/// A part of the page, as soon as so many are created.
fn part(made: RwSignal<u8>, number: u8, of: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    let is_made = Memo::new(move |_| made.get() >= number);
    live(move || is_made.get().then(&of)).into_any()
}

/// After Back, focuses the link that led to the location.
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
fn Page(session: Session, made: RwSignal<u8>) -> impl IntoView {
    provide_context(session);
    let dropping = RwSignal::new(false);
    for_drops(session, dropping);
    focus::keep(session);
    let hidden = session.memo(|state| state.source_hidden);
    let tree = session.memo(|state| state.files.len() > 1);
    let share = RwSignal::new(None::<f64>);
    let columns = move || share.get().map(|share| format!("{share:.1}%"));
    view! {
        <div
            class="port"
            id="port-page"
            hidden=move || made.get() < PARTS
            class:alone=move || hidden.get() && !tree.get()
            class:folded=move || hidden.get() && tree.get()
            class:dropping=dropping
            style:--source-width=columns
        >
            <Bar/>
            <Notice/>
            {part(made, 2, move || view! { <Source/> <Splitter share/> }.into_any())}
            {part(made, PARTS, || view! { <Result/> <Keys/> }.into_any())}
        </div>
    }
}

/// Files can be dropped anywhere.
fn for_drops(session: Session, dropping: RwSignal<bool>) {
    let has_files = |event: &DragEvent| event.data_transfer().filter(|data| data.types().includes(&"Files".into(), 0));
    window_event_listener(ev::dragover, move |event| {
        if has_files(&event).is_some() {
            event.prevent_default();
            dropping.set(true);
        }
    });
    window_event_listener(ev::dragleave, move |event| {
        // Moving from one element to another does not mean leaving the page.
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
