//! The three planes, the layer shown and the view.

use super::canvas::Canvas;
use super::legend::Legend;
use crate::check::state::picture::Layer;
use crate::check::work::{Session, screen};
use leptos::html;
use leptos::prelude::*;
use uresnet::PLANES;

/// All planes. They share one view.
#[component]
pub(super) fn Planes() -> impl IntoView {
    let session: Session = expect_context();
    let planes = session.planes;
    let canvases: [NodeRef<html::Canvas>; PLANES] = std::array::from_fn(|_| NodeRef::new());
    let zoom = move |factor: f64| {
        let Some(canvas) = canvases[0].get_untracked() else { return };
        planes.update(|planes| planes.zoom_at_cursor(factor, screen(&canvas)));
    };
    view! {
        <h2>"Planes"</h2>
        <p class="notice" id="caution-of-run">
            {move || session.state.with(|state| state.results.as_ref().map(|results| results.about.caution))}
        </p>
        <div class="bar">
            <div class="layers" role="radiogroup" aria-label="What to show">
                {Layer::ALL.map(|layer| view! { <Choice layer/> }).collect_view()}
            </div>
            <div class="zoom" role="group" aria-label="Zoom">
                <button type="button" class="button quiet small" aria-label="Zoom in" on:click=move |_| zoom(1.5)>"+"</button>
                <button type="button" class="button quiet small" aria-label="Zoom out" on:click=move |_| zoom(1.0 / 1.5)>
                    "−"
                </button>
                <button type="button" class="button quiet small" on:click=move |_| planes.update(|planes| planes.fit())>
                    "Whole plane"
                </button>
            </div>
        </div>
        <Legend/>
        <p class="hint" id="keys">
            "Drag to move; pinch, or Ctrl and the mouse wheel, to zoom. With the keyboard: arrow keys select the pixel whose values are shown (with Shift, in steps of ten), + and − zoom, 0 shows the whole plane."
        </p>
        <div class="planes">
            {canvases.into_iter().enumerate().map(|(plane, canvas)| view! { <Canvas plane canvas/> }).collect_view()}
        </div>
    }
}

/// The radio button of a layer.
#[component]
fn Choice(layer: Layer) -> impl IntoView {
    let session: Session = expect_context();
    let planes = session.planes;
    let (word, name) = (layer.word(), layer.name());
    view! {
        <label>
            <input
                type="radio"
                name="layer"
                value=word
                data-layer=word
                prop:checked=move || planes.with(|planes| planes.layer == layer)
                prop:disabled=move || !planes.with(|planes| planes.has(layer))
                on:change=move |_| planes.update(|planes| planes.layer = layer)
            />
            " "
            {name}
        </label>
    }
}
