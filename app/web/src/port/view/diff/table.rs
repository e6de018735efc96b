use super::heads::Heads;
use super::row::Row;
use super::sheet::{InSight, Sheet};
use crate::port::state::paper::Paper;
use crate::port::work::Session;
use crate::shared::text::hash_of;
use crate::shared::view::each;
use leptos::ev::MouseEvent;
use leptos::html::{Div, Table};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Element;

/// The table in its frame.
#[component]
pub(super) fn Rows(
    rows: Memo<Vec<InSight>>,
    sheet: Memo<Sheet>,
    scroller: NodeRef<Div>,
    look: Callback<()>,
) -> impl IntoView {
    let session: Session = expect_context();
    let label = session.memo(|state| format!("Changes in {}", state.file().map_or("", |file| file.path.as_str())));
    let unified = Memo::new(move |_| sheet.with(|sheet| sheet.paper.unified));
    let stale = Memo::new(move |_| sheet.with(|sheet| sheet.paper.stale));
    let count = Memo::new(move |_| sheet.with(|sheet| sheet.paper.layout.rows.len() + 1));
    let digits = Memo::new(move |_| sheet.with(|sheet| Paper::digits(&sheet.paper.view)));
    let above = move || {
        let first = rows.with(|rows| rows.first().map_or(0, |(_, index)| *index));
        sheet.with(|sheet| sheet.paper.layout.tops.get(first).copied().unwrap_or(0))
    };
    let below = move || {
        let end = rows.with(|rows| rows.last().map_or(0, |(_, index)| index + 1));
        sheet.with(|sheet| {
            let layout = &sheet.paper.layout;
            layout.height() - layout.tops.get(end).copied().unwrap_or(0)
        })
    };
    let height = move || sheet.with(|sheet| sheet.paper.layout.height());
    // A text selection covers only one side.
    let side = RwSignal::new("new");
    let table = NodeRef::<Table>::new();
    let choose_side = move |event: MouseEvent| {
        let cell = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if let Some(cell) = cell.and_then(|target| target.closest("td").ok().flatten()) {
            side.set(if cell.class_list().contains("old") { "old" } else { "new" });
        }
    };
    let row = move |(key, index): InSight| view! { <Row sheet=sheet.get_untracked() rows key index/> };
    view! {
        <div
            class="diff-scroll"
            id="diff-scroll"
            tabindex="0"
            role="region"
            aria-label=label
            node_ref=scroller
            on:scroll=move |_| look.run(())
        >
            <div class="diff-sheet" id="diff-sheet" style:height=move || format!("{}px", height())>
                <table
                    class="changes"
                    id="changes"
                    class:unified=unified
                    class:stale=stale
                    aria-label=label
                    aria-rowcount=move || count.get().to_string()
                    data-side=side
                    style:--digits=move || digits.get().to_string()
                    node_ref=table
                    on:mousedown=choose_side
                >
                    <Heads unified/>
                    <tbody>
                        <tr class="space" aria-hidden="true" style:height=move || format!("{}px", above())></tr>
                        {each(move || rows.get(), |row| hash_of(&row.0), row)}
                        <tr class="space" aria-hidden="true" style:height=move || format!("{}px", below())></tr>
                    </tbody>
                </table>
            </div>
        </div>
    }
}
