//! Mouse, touch and keys on the planes.

use super::{draw_soon, on, text, with};
use crate::browser::{document, window};
use crate::check::picture::Size;
use crate::check::planes::{canvas, screen};
use uresnet::PLANES;
use web_sys::{Event, HtmlCanvasElement, KeyboardEvent, PointerEvent, WheelEvent};

/// Fingers, or the mouse with its button down: number, x, y.
#[derive(Default)]
pub(crate) struct Pointer {
    down: Vec<(i32, f64, f64)>,
}

/// Listens on every canvas.
pub(super) fn listen() {
    for plane in 0..PLANES {
        let Some(canvas) = canvas(plane) else { continue };
        on(&canvas, "pointerdown", {
            let canvas = canvas.clone();
            move |event: PointerEvent| {
                if event.button() == 0 {
                    // Without capture the drag ends at the canvas's edge.
                    let _ = canvas.set_pointer_capture(event.pointer_id());
                    let (x, y) = place(&canvas, event.client_x(), event.client_y());
                    with(|state| state.pointer.down.push((event.pointer_id(), x, y)));
                    read_out(plane, &canvas, x, y);
                }
            }
        });
        on(&canvas, "pointermove", {
            let canvas = canvas.clone();
            move |event: PointerEvent| moved(plane, &canvas, &event)
        });
        for kind in ["pointerup", "pointercancel"] {
            on(&canvas, kind, |event: PointerEvent| {
                with(|state| state.pointer.down.retain(|(id, ..)| *id != event.pointer_id()));
            });
        }
        on(&canvas, "wheel", {
            let canvas = canvas.clone();
            move |event: WheelEvent| wheel(&canvas, &event)
        });
        on(&canvas, "keydown", {
            let canvas = canvas.clone();
            move |event: KeyboardEvent| key(plane, &canvas, &event)
        });
        on(&canvas, "focus", {
            let canvas = canvas.clone();
            move |_: Event| {
                if with(|state| state.planes.cursor.is_none_or(|cursor| cursor.0 != plane)) {
                    step(plane, &canvas, 0, 0);
                }
            }
        });
    }
}

/// A point of the window in pixels of the canvas.
fn place(canvas: &HtmlCanvasElement, x: i32, y: i32) -> (f64, f64) {
    let frame = canvas.get_bounding_client_rect();
    let sharp = window().device_pixel_ratio().clamp(1.0, 2.0);
    let border = (f64::from(canvas.client_left()), f64::from(canvas.client_top()));
    ((f64::from(x) - frame.left() - border.0) * sharp, (f64::from(y) - frame.top() - border.1) * sharp)
}

fn moved(plane: usize, canvas: &HtmlCanvasElement, event: &PointerEvent) {
    let (x, y) = place(canvas, event.client_x(), event.client_y());
    let size = screen(canvas);
    let dragged = with(|state| {
        let fingers = &mut state.pointer.down;
        let Some(at) = fingers.iter().position(|(id, ..)| *id == event.pointer_id()) else { return false };
        let before = fingers[at];
        let other = fingers.iter().find(|(id, ..)| *id != event.pointer_id()).copied();
        fingers[at] = (before.0, x, y);
        match other {
            None => state.planes.shift(x - before.1, y - before.2, size),
            Some((_, ox, oy)) => {
                let apart = |x: f64, y: f64| (x - ox).hypot(y - oy).max(1.0);
                let middle = ((x + ox) / 2.0, (y + oy) / 2.0);
                state.planes.zoom(apart(x, y) / apart(before.1, before.2), Some(middle), size);
            }
        }
        true
    });
    if dragged {
        after_move();
    } else {
        read_out(plane, canvas, x, y);
    }
}

/// While the whole plane is seen a finger scrolls the page; when not, it moves the plane.
fn after_move() {
    let near = with(|state| state.planes.is_near());
    for plane in 0..PLANES {
        if let Some(canvas) = canvas(plane) {
            let _ = canvas.class_list().toggle_with_force("near", near);
        }
    }
    draw_soon();
}

fn wheel(canvas: &HtmlCanvasElement, event: &WheelEvent) {
    let focused = document().active_element().is_some_and(|element| element.is_same_node(Some(canvas)));
    // Otherwise the wheel scrolls the page, as everywhere.
    if !(event.ctrl_key() || event.meta_key() || focused) {
        return;
    }
    event.prevent_default();
    let (at, size) = (place(canvas, event.client_x(), event.client_y()), screen(canvas));
    with(|state| state.planes.zoom((-event.delta_y() * 0.002).exp(), Some(at), size));
    after_move();
}

fn key(plane: usize, canvas: &HtmlCanvasElement, event: &KeyboardEvent) {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return;
    }
    let far = if event.shift_key() { 10 } else { 1 };
    match event.key().as_str() {
        "ArrowUp" => step(plane, canvas, -far, 0),
        "ArrowDown" => step(plane, canvas, far, 0),
        "ArrowLeft" => step(plane, canvas, 0, -far),
        "ArrowRight" => step(plane, canvas, 0, far),
        "+" | "=" => zoom_at_cursor(canvas, 1.5),
        "-" | "_" => zoom_at_cursor(canvas, 1.0 / 1.5),
        "0" => {
            with(|state| state.planes.fit());
            after_move();
        }
        _ => return,
    }
    event.prevent_default();
}

fn zoom_at_cursor(canvas: &HtmlCanvasElement, factor: f64) {
    let size = screen(canvas);
    with(|state| {
        let at = state.planes.cursor_place(size);
        state.planes.zoom(factor, at, size);
    });
    after_move();
}

fn step(plane: usize, canvas: &HtmlCanvasElement, down: isize, right: isize) {
    let size: Size = screen(canvas);
    with(|state| state.planes.step(plane, down, right, size));
    tell();
}

fn read_out(plane: usize, canvas: &HtmlCanvasElement, x: f64, y: f64) {
    let size = screen(canvas);
    let changed = with(|state| {
        let Some((row, column)) = state.planes.under(x, y, size) else { return false };
        let cursor = Some((plane, row, column));
        std::mem::replace(&mut state.planes.cursor, cursor) != cursor
    });
    if changed {
        tell();
    }
}

/// Says what is known of the pixel, under its plane.
fn tell() {
    let (cursor, value) = with(|state| (state.planes.cursor, state.planes.value()));
    for plane in 0..PLANES {
        text(&format!("value-{plane}"), if cursor.is_some_and(|c| c.0 == plane) { &value } else { "" });
    }
    draw_soon();
}

/// Zooms from a button.
pub(super) fn zoom(factor: f64) {
    if let Some(canvas) = canvas(0) {
        zoom_at_cursor(&canvas, factor);
    }
}
