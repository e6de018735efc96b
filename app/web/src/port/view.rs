//! The page's components. Each shows a part of the state; what a control does is a method of it or of [`Session`].

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
mod row;
mod source;
mod splitter;
mod take;
mod todo;

use super::work::{Session, open_dropped};
use bar::Bar;
use keys::Keys;
use leptos::ev::{self, DragEvent};
use leptos::prelude::*;
use notice::Notice;
use result::Result;
use source::Source;
use splitter::Splitter;

/// The whole page.
#[component]
pub(super) fn Page(session: Session) -> impl IntoView {
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
            class:alone=move || hidden.get() && !tree.get()
            class:folded=move || hidden.get() && tree.get()
            class:dropping=dropping
            style:--source-width=columns
        >
            <Bar/>
            <Notice/>
            <Source/>
            <Splitter share/>
            <Result/>
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
