//! The diff: the tools above it, and a table in which only the visible rows have elements.

mod find;
mod heads;
mod hunk;
mod place;
mod row;
mod sheet;
mod table;
mod tools;

use crate::port::work::Session;
use crate::shared::browser;
use find::Find;
use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use place::follow;
use sheet::{Frame, in_sight, sheet};
use table::Rows;
use tools::Tools;

/// The tools and the table.
#[component]
pub(super) fn Diff() -> impl IntoView {
    let session: Session = expect_context();
    let scroller = NodeRef::<Div>::new();
    let frame = RwSignal::<Frame>::new((0.0, 600.0, 800.0));
    let page_width = RwSignal::new(browser::page_width());
    let look = move || {
        if let Some(scroller) = scroller.try_get_untracked().flatten() {
            let now = (
                f64::from(scroller.scroll_top()),
                f64::from(scroller.client_height()),
                f64::from(scroller.client_width()),
            );
            if frame.get_untracked() != now {
                frame.set(now);
            }
        }
    };
    scroller.on_load(move |scroller| {
        look();
        browser::when_resized(&scroller, look);
    });
    let handle = window_event_listener(ev::resize, move |_| page_width.set(browser::page_width()));
    on_cleanup(move || handle.remove());

    let sheet = sheet(session, frame, page_width);
    let rows = Memo::new(move |_| in_sight(&sheet.get().paper, frame.get()));
    follow(session, sheet, frame, scroller);
    view! {
        <Tools/>
        <Find/>
        <Rows rows sheet scroller look=Callback::new(move |()| look())/>
    }
}
