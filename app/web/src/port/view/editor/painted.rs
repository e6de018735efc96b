//! The colours under the field's transparent letters.

use super::LINE;
use crate::port::state::PaintedLine;
use crate::port::work::Session;
use crate::shared::view::{Code, coloured};
use leptos::prelude::*;

/// The lines in sight, in their colours.
#[component]
pub(super) fn Painted(window: RwSignal<(usize, usize)>) -> impl IntoView {
    let session: Session = expect_context();
    let lines = Memo::new(move |_| {
        let (first, count) = window.get();
        session.state.with(|state| state.painted(first..first + count))
    });
    let above = move || format!("{}px", lines.with(|lines| lines.first().map_or(0, |line| line.number)) * LINE);
    view! {
        <div class="painted" id="painted" aria-hidden="true">
            <div style:height=above></div>
            <For each=move || lines.get() key=|line| line.key let(line)>
                {painted_line(line)}
            </For>
        </div>
    }
}

fn painted_line(line: PaintedLine) -> impl IntoView {
    let PaintedLine { number, text, colours, mark, .. } = line;
    let class = mark.map_or("ln", |urgent| if urgent { "ln urgent" } else { "ln noted" });
    view! {
        <div class=class>
            <b class="number">{number + 1}</b>
            <Code line=coloured(&text, &colours, &[])/>
        </div>
    }
}
