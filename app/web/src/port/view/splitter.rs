use crate::port::work::Session;
use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html::Div;
use leptos::prelude::*;

/// The minimum and maximum width of the source, in percent of the page.
const BOUNDS: (f64, f64) = (12.0, 70.0);
/// The change per key press.
const STEP: f64 = 2.0;
/// The initial value in the style sheet.
const BEGIN: f64 = 36.0;

/// The border between the panes, which can be dragged or moved with the arrow keys. `share` is the width of the source
/// in percent.
#[component]
pub(super) fn Splitter(share: RwSignal<Option<f64>>) -> impl IntoView {
    let session: Session = expect_context();
    let hidden = session.memo(|state| state.source_hidden && state.files.len() < 2);
    let bar = NodeRef::<Div>::new();
    let dragged = StoredValue::new(false);
    let set = move |to: f64| share.set(Some(to.clamp(BOUNDS.0, BOUNDS.1)));
    let pressed = move |event: PointerEvent| {
        if let Some(bar) = bar.get_untracked() {
            let _ = bar.set_pointer_capture(event.pointer_id());
            dragged.set_value(true);
            event.prevent_default();
        }
    };
    let moved = move |event: PointerEvent| {
        let page = bar.get_untracked().and_then(|bar| bar.parent_element());
        if let Some(page) = page.filter(|_| dragged.get_value()) {
            let frame = page.get_bounding_client_rect();
            set(100.0 * (f64::from(event.client_x()) - frame.left()) / frame.width().max(1.0));
        }
    };
    let key = move |event: KeyboardEvent| {
        let now = share.get_untracked().unwrap_or(BEGIN);
        match event.key().as_str() {
            "ArrowLeft" => set(now - STEP),
            "ArrowRight" => set(now + STEP),
            "Home" => set(BOUNDS.0),
            "End" => set(BOUNDS.1),
            _ => return,
        }
        event.prevent_default();
    };
    view! {
        <div
            class="splitter"
            role="separator"
            aria-orientation="vertical"
            aria-label="Width of the source"
            aria-valuemin=BOUNDS.0.to_string()
            aria-valuemax=BOUNDS.1.to_string()
            aria-valuenow=move || format!("{:.0}", share.get().unwrap_or(BEGIN))
            tabindex="0"
            hidden=hidden
            node_ref=bar
            on:pointerdown=pressed
            on:pointermove=moved
            on:pointerup=move |_| dragged.set_value(false)
            on:pointercancel=move |_| dragged.set_value(false)
            on:keydown=key
        ></div>
    }
}
