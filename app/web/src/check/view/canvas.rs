//! One plane on its canvas: painted when something changes, moved with mouse, touch and keys.

mod pointer;

use crate::check::work::{Session, draw, screen};
use crate::shared::browser::{self, window};
use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use leptos::{ev, html};
use pointer::{Finger, moved, place, read_out, wheel};
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

/// A plane with its canvas and the inspected pixel.
#[component]
pub(super) fn Canvas(plane: usize, canvas: NodeRef<html::Canvas>) -> impl IntoView {
    let session: Session = expect_context();
    let planes = session.planes;
    let fingers = StoredValue::new(Vec::<Finger>::new());
    paint_when_needed(session, plane, canvas);
    let with_canvas = move |act: &dyn Fn(&HtmlCanvasElement)| {
        if let Some(canvas) = canvas.get_untracked() {
            act(&canvas);
        }
    };
    let step = move |down, right| {
        with_canvas(&|canvas| planes.update(|planes| planes.step(plane, down, right, screen(canvas))));
    };
    let pressed = move |event: PointerEvent| {
        with_canvas(&|canvas| {
            if event.button() == 0 {
                // Without capture, the drag ends at the canvas's edge.
                let _ = canvas.set_pointer_capture(event.pointer_id());
                let (x, y) = place(canvas, event.client_x(), event.client_y());
                fingers.update_value(|fingers| fingers.push((event.pointer_id(), x, y)));
                read_out(session, plane, canvas, x, y);
            }
        });
    };
    let released = move |event: PointerEvent| {
        fingers.update_value(|fingers| fingers.retain(|(id, ..)| *id != event.pointer_id()));
    };
    let key = move |event: KeyboardEvent| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let far = if event.shift_key() { 10 } else { 1 };
        let zoom = |factor| {
            with_canvas(&|canvas| planes.update(|planes| planes.zoom_at_cursor(factor, screen(canvas))));
        };
        match event.key().as_str() {
            "ArrowUp" => step(-far, 0),
            "ArrowDown" => step(far, 0),
            "ArrowLeft" => step(0, -far),
            "ArrowRight" => step(0, far),
            "+" | "=" => zoom(1.5),
            "-" | "_" => zoom(1.0 / 1.5),
            "0" => planes.update(|planes| planes.fit()),
            _ => return,
        }
        event.prevent_default();
    };
    view! {
        <figure>
            <figcaption>{format!("Plane {plane}")}</figcaption>
            <canvas
                id=format!("plane-{plane}")
                node_ref=canvas
                class:near=move || planes.with(|planes| planes.is_near())
                tabindex="0"
                role="application"
                aria-roledescription="picture"
                aria-label=format!("Plane {plane}")
                aria-describedby=format!("keys value-{plane}")
                on:pointerdown=pressed
                on:pointermove=move |event| with_canvas(&|canvas| moved(session, plane, fingers, canvas, &event))
                on:pointerup=released
                on:pointercancel=released
                on:wheel=move |event| with_canvas(&|canvas| wheel(session, canvas, &event))
                on:keydown=key
                on:focus=move |_| {
                    if planes.with_untracked(|planes| planes.cursor.is_none_or(|cursor| cursor.0 != plane)) {
                        step(0, 0);
                    }
                }
            ></canvas>
            <output id=format!("value-{plane}") aria-live="polite">
                {move || planes.with(|planes| planes.value(plane))}
            </output>
        </figure>
    }
}

/// Paints before the next frame, no matter how often it is requested before that.
fn paint_when_needed(session: Session, plane: usize, canvas: NodeRef<html::Canvas>) {
    let looks = RwSignal::new(0u32);
    let look_again = move || {
        looks.try_update(|looks| *looks = looks.wrapping_add(1));
    };
    let due = StoredValue::new(false);
    Effect::new(move |_| {
        looks.track();
        session.planes.track();
        if due.get_value() {
            return;
        }
        due.set_value(true);
        browser::later(16, move || {
            due.try_update_value(|due| *due = false);
            if let Some(canvas) = canvas.try_get_untracked().flatten() {
                // Nothing can be painted on a canvas without a context.
                let _ = session.planes.with_untracked(|planes| draw(planes, plane, &canvas));
            }
        });
    });
    canvas.on_load(move |canvas| browser::when_resized(&canvas, look_again));
    // The colours depend on the theme.
    if let Ok(Some(scheme)) = window().match_media("(prefers-color-scheme: dark)") {
        let call = Closure::<dyn FnMut()>::new(look_again).into_js_value();
        let _ = scheme.add_event_listener_with_callback("change", call.unchecked_ref());
    }
    let handle = window_event_listener(ev::click, move |_| look_again());
    on_cleanup(move || handle.remove());
}
