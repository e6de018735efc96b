//! The page's components. Each shows part of the state; what a control does is a method of it or of [`Session`].
//! [`mount`] starts the page.

mod bar;
mod changes;
mod checks;
mod diff;
mod early;
mod editor;
mod error;
mod files;
mod focus;
mod guides;
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

use super::work::{Session, offer, open_dropped};
use crate::shared::view::{part, when_made};
use crate::shared::{browser, tasks};
use bar::Bar;
use editor::EditorField;
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
    early::when_composed(Box::new(|| tasks::start(start)));
}

fn start() {
    let Some(place) = browser::element("port") else { return };
    let mounted = leptos::mount::mount_to(place, || {
        let session = Session::start();
        // Saved work is opened first; the script that saves it then triggers reading the address.
        if !offer(session) {
            session.begin();
        }
        session.follow_edits();
        window_event_listener(ev::hashchange, move |event: HashChangeEvent| {
            session.read_fragment();
            back_to_entry(&event);
        });
        part(move || view! { <Page session/> }.into_any())
    });
    mounted.forget();
}

/// Continues with what `index.html` shows: each of its parts is a stand-in for one of the page's own.
fn take_over() {
    let Some(page) = browser::element("port-page") else { return };
    let focused = browser::document().active_element();
    let scroll = early::field().map(|field| (field.scroll_left(), field.scroll_top()));
    while let Some(shown) = page.previous_element_sibling() {
        while let Some(part) = shown.first_element_child().filter(|part| part.class_list().contains("stand-in")) {
            let _ = page.append_child(&part);
        }
        shown.remove();
    }
    if let Some(focused) = focused.filter(|focused| page.contains(Some(focused))) {
        browser::focus_on(&focused.unchecked_into());
    }
    if let Some((field, (left, top))) = early::field().zip(scroll) {
        field.set_scroll_left(left);
        field.set_scroll_top(top);
    }
}

/// Removes the stand-ins of the current part once it is complete. Before that, `adopt` continues with what the user did in
/// them, and returns the id of the element that gets the focus, if one of them has it.
fn replace(stand_ins: &'static str, adopt: impl FnOnce() -> Option<&'static str> + 'static) {
    when_made(move || {
        let focused = adopt();
        remove(stand_ins);
        if let Some(id) = focused {
            browser::focus(id);
        }
    });
}

fn remove(stand_ins: &str) {
    while let Ok(Some(stand_in)) = browser::document().query_selector(stand_ins) {
        stand_in.remove();
    }
}

/// Removes the stand-ins of the source and of what separates it from the port.
fn remove_source() {
    remove(":is(.port-source, .splitter).stand-in");
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
fn Page(session: Session) -> impl IntoView {
    provide_context(session);
    let dropping = RwSignal::new(false);
    for_drops(session, dropping);
    focus::keep(session);
    let hidden = session.memo(|state| state.source_hidden);
    let tree = session.memo(|state| state.files.len() > 1);
    let share = RwSignal::new(None::<f64>);
    let columns = move || share.get().map(|share| format!("{share:.1}%"));
    let waiting = RwSignal::new(true);
    tasks::last(move || waiting.set(false));
    let bar = move || {
        take_over();
        replace(".port-bar.stand-in", move || early::choose(session));
        view! { <Bar/> <Notice/> }.into_any()
    };
    let source = move || {
        let editor = EditorField::new();
        when_made(move || early::when_composed(Box::new(move || early::hand_over(session, editor))));
        view! { <Source editor/> <Splitter share/> }.into_any()
    };
    let result = || {
        replace(".port-result.stand-in", || None);
        view! { <Result/> <Keys/> }.into_any()
    };
    view! {
        <div
            class="port"
            id="port-page"
            class:waiting=waiting
            class:alone=move || hidden.get() && !tree.get()
            class:folded=move || hidden.get() && tree.get()
            class:dropping=dropping
            style:--source-width=columns
        >
            {part(bar)}
            {part(source)}
            {part(result)}
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
