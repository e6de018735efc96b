//! Painting on a canvas.

use crate::check::state::picture::{Colours, DARK, LIGHT, Size};
use crate::check::state::planes::Planes;
use crate::shared::browser::window;
use wasm_bindgen::prelude::*;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

/// The height and width of a canvas in device pixels.
pub(in crate::check) fn screen(canvas: &HtmlCanvasElement) -> Size {
    let sharp = window().device_pixel_ratio().clamp(1.0, 2.0);
    let length = |css: i32| (f64::from(css) * sharp).round() as usize;
    (length(canvas.client_height()), length(canvas.client_width()))
}

/// Paints a plane at the size of its canvas. Does nothing if the canvas has no context.
pub(in crate::check) fn draw(planes: &Planes, plane: usize, canvas: &HtmlCanvasElement) -> Result<(), JsValue> {
    let screen = screen(canvas);
    if screen.0 == 0 || screen.1 == 0 || planes.charge.is_empty() {
        return Ok(());
    }
    if (canvas.height() as usize, canvas.width() as usize) != screen {
        canvas.set_height(screen.0 as u32);
        canvas.set_width(screen.1 as u32);
    }
    let colours = colours(canvas);
    let pixels = planes.pixels(plane, screen, &colours);
    let context: CanvasRenderingContext2d = canvas.get_context("2d")?.ok_or("no context")?.unchecked_into();
    let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), screen.1 as u32, screen.0 as u32)?;
    context.put_image_data(&image, 0.0, 0.0)?;
    if let Some((left, top, side)) = planes.marked(plane, screen) {
        let [r, g, b] = colours.mark;
        context.set_stroke_style_str(&format!("rgb({r} {g} {b})"));
        context.set_line_width(2.0);
        context.stroke_rect(left - 2.0, top - 2.0, side + 4.0, side + 4.0);
    }
    Ok(())
}

/// The theme's colours: dark if the text is bright.
fn colours(canvas: &HtmlCanvasElement) -> Colours {
    let style = window().get_computed_style(canvas).ok().flatten();
    let text = style.and_then(|style| style.get_property_value("color").ok()).unwrap_or_default();
    let parts = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok());
    if parts.take(3).sum::<u32>() > 3 * 128 { DARK } else { LIGHT }
}
