//! The colours under the field's transparent letters.

use super::LINE;
use crate::port::state::PaintedLine;
use crate::port::work::Session;
use crate::shared::view::{Code, coloured, each, live};
use leptos::prelude::*;

/// The visible lines, highlighted, with their line numbers. The numbers share one sticky element, because the browser
/// creates a compositing layer for each sticky element.
#[component]
pub(super) fn Painted(window: RwSignal<(usize, usize)>) -> impl IntoView {
    let session: Session = expect_context();
    let lines = session.memo_of_text(move |state| {
        let (first, count) = window.get();
        state.painted(first..first + count)
    });
    let above = move || format!("{}px", lines.with(|lines| lines.first().map_or(0, |line| line.number)) * LINE);
    let numbers = Memo::new(move |_| {
        lines.with(|lines| lines.iter().map(|line| (line.number + 1, line.mark)).collect::<Vec<_>>())
    });
    view! {
        <div class="painted" id="painted" aria-hidden="true">
            <div style:height=above></div>
            <div class="gutter">
                <div>{live(move || numbers.get().into_iter().map(numbered).collect_view())}</div>
            </div>
            {each(move || lines.get(), |line| line.key, painted)}
        </div>
    }
}

fn painted(line: PaintedLine) -> impl IntoView {
    view! {
        <div class="ln">
            <Code line=coloured(&line.text, &line.colours, &[], &[])/>
        </div>
    }
}

/// A line number, highlighted if there is a message about the line.
fn numbered((number, mark): (usize, Option<bool>)) -> impl IntoView {
    let class = mark.map_or("number", |urgent| if urgent { "number urgent" } else { "number noted" });
    view! { <b class=class>{number}</b> }
}
