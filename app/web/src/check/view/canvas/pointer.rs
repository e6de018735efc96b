//! How mouse and touch move the planes.

use crate::check::work::{Session, screen};
use crate::shared::browser::{document, window};
use leptos::ev::{PointerEvent, WheelEvent};
use leptos::prelude::*;
use web_sys::HtmlCanvasElement;

/// A finger, or the mouse with a button pressed: number, x, y.
pub(super) type Finger = (i32, f64, f64);

/// A point of the window in pixels of the canvas.
pub(super) fn place(canvas: &HtmlCanvasElement, x: i32, y: i32) -> (f64, f64) {
    let frame = canvas.get_bounding_client_rect();
    let sharp = window().device_pixel_ratio().clamp(1.0, 2.0);
    let border = (f64::from(canvas.client_left()), f64::from(canvas.client_top()));
    ((f64::from(x) - frame.left() - border.0) * sharp, (f64::from(y) - frame.top() - border.1) * sharp)
}

/// One finger moves the planes, two zoom; the mouse without a button inspects pixels.
pub(super) fn moved(
    session: Session,
    plane: usize,
    fingers: StoredValue<Vec<Finger>>,
    canvas: &HtmlCanvasElement,
    event: &PointerEvent,
) {
    let (x, y) = place(canvas, event.client_x(), event.client_y());
    let size = screen(canvas);
    let dragged = fingers.try_update_value(|fingers| {
        let at = fingers.iter().position(|(id, ..)| *id == event.pointer_id())?;
        let before = std::mem::replace(&mut fingers[at], (event.pointer_id(), x, y));
        Some((before, fingers.iter().find(|(id, ..)| *id != event.pointer_id()).copied()))
    });
    let Some(Some((before, other))) = dragged else { return read_out(session, plane, canvas, x, y) };
    session.planes.update(|planes| match other {
        None => planes.shift(x - before.1, y - before.2, size),
        Some((_, ox, oy)) => {
            let apart = |x: f64, y: f64| (x - ox).hypot(y - oy).max(1.0);
            let middle = ((x + ox) / 2.0, (y + oy) / 2.0);
            planes.zoom(apart(x, y) / apart(before.1, before.2), Some(middle), size);
        }
    });
}

pub(super) fn wheel(session: Session, canvas: &HtmlCanvasElement, event: &WheelEvent) {
    let focused = document().active_element().is_some_and(|element| element.is_same_node(Some(canvas)));
    // Otherwise the wheel scrolls the page, as usual.
    if !(event.ctrl_key() || event.meta_key() || focused) {
        return;
    }
    event.prevent_default();
    let (at, size) = (place(canvas, event.client_x(), event.client_y()), screen(canvas));
    session.planes.update(|planes| planes.zoom((-event.delta_y() * 0.002).exp(), Some(at), size));
}

pub(super) fn read_out(session: Session, plane: usize, canvas: &HtmlCanvasElement, x: f64, y: f64) {
    let size = screen(canvas);
    if session.planes.try_update_untracked(|planes| planes.point(plane, x, y, size)) == Some(true) {
        session.planes.notify();
    }
}
