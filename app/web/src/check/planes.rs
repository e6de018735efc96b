//! The three planes on their canvases.

use crate::browser::{element, window};
use crate::check::parts::CLASS_NAMES;
use crate::check::picture::{Colours, DARK, LIGHT, Layer, Size, View, paint};
use uresnet::PLANES;
use wasm_bindgen::prelude::*;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

/// What there is to see, and from where one looks. All planes are looked at alike.
#[derive(Default)]
pub(crate) struct Planes {
    pub(crate) input_size: Size,
    pub(crate) output_size: Size,
    /// Each layer's three planes, one after the other; empty where there is none.
    pub(crate) charge: Vec<f32>,
    pub(crate) brightest: f32,
    pub(crate) predicted: Vec<u8>,
    pub(crate) labels: Vec<u8>,
    pub(crate) candidate: Vec<u8>,
    pub(crate) difference: Vec<f32>,
    pub(crate) largest: f32,
    pub(crate) layer: Layer,
    /// None while the whole planes are seen.
    pub(crate) view: Option<View>,
    /// The pixel that is read out: plane, row, column.
    pub(crate) cursor: Option<(usize, usize, usize)>,
}

impl Planes {
    pub(crate) fn has(&self, layer: Layer) -> bool {
        match layer {
            Layer::Input => !self.charge.is_empty(),
            Layer::Prediction => !self.predicted.is_empty(),
            Layer::Labels => !self.labels.is_empty(),
            Layer::Candidate => !self.candidate.is_empty(),
            Layer::Difference => !self.difference.is_empty(),
        }
    }

    /// Looks at the whole planes again.
    pub(crate) fn fit(&mut self) {
        self.view = None;
    }

    pub(crate) fn zoom(&mut self, factor: f64, at: Option<(f64, f64)>, screen: Size) {
        let (x, y) = at.unwrap_or((screen.1 as f64 / 2.0, screen.0 as f64 / 2.0));
        self.view = Some(self.view(screen).zoomed(factor, x, y, self.input_size, screen));
    }

    pub(crate) fn shift(&mut self, x: f64, y: f64, screen: Size) {
        self.view = Some(self.view(screen).moved(x, y, self.input_size, screen));
    }

    pub(crate) fn is_near(&self) -> bool {
        self.view.is_some()
    }

    fn view(&self, screen: Size) -> View {
        self.view.unwrap_or_else(|| View::whole(self.input_size, screen))
    }

    pub(crate) fn under(&self, x: f64, y: f64, screen: Size) -> Option<(usize, usize)> {
        self.view(screen).under(x, y, self.input_size)
    }

    /// Where on the screen the pixel that is read out is.
    pub(crate) fn cursor_place(&self, screen: Size) -> Option<(f64, f64)> {
        let ((_, row, column), view) = (self.cursor?, self.view(screen));
        let place = |at: usize, start: f64| (at as f64 + 0.5 - start) * view.scale;
        Some((place(column, view.left), place(row, view.top)))
    }

    /// Moves the pixel that is read out, and the view after it.
    pub(crate) fn step(&mut self, plane: usize, down: isize, right: isize, screen: Size) {
        let (height, width) = self.input_size;
        let (row, column) = match self.cursor {
            Some((there, row, column)) if there == plane => {
                let to = |at: usize, by: isize, end: usize| at.saturating_add_signed(by).min(end.saturating_sub(1));
                (to(row, down, height), to(column, right, width))
            }
            _ => self.under(screen.1 as f64 / 2.0, screen.0 as f64 / 2.0, screen).unwrap_or((0, 0)),
        };
        self.cursor = Some((plane, row, column));
        if self.view.is_some() {
            self.view = Some(self.view(screen).showing((row, column), self.input_size, screen));
        }
    }

    /// What is known of the pixel that is read out.
    pub(crate) fn value(&self) -> String {
        let Some((plane, row, column)) = self.cursor else { return String::new() };
        let place =
            |(height, width): Size| (row < height && column < width).then_some((plane * height + row) * width + column);
        let input = place(self.input_size).and_then(|at| self.charge.get(at));
        let output = place(self.output_size);
        let class = |classes: &[u8]| Some(CLASS_NAMES[usize::from(*classes.get(output?)?) % CLASS_NAMES.len()]);
        let label = place(self.input_size).and_then(|at| self.labels.get(at));
        let mut text = format!("row {row}, column {column}");
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                text.push_str(&format!(" · {name} {value}"));
            }
        };
        add("charge", input.map(|value| format!("{value:.3}")));
        add("predicted", class(&self.predicted).map(str::to_string));
        add("label", label.map(|&label| CLASS_NAMES[usize::from(label) % CLASS_NAMES.len()].to_string()));
        add("other run", class(&self.candidate).map(str::to_string));
        add("difference", output.and_then(|at| self.difference.get(at)).map(|value| format!("{value:.3e}")));
        text
    }

    /// Paints all planes as large as their canvases are.
    pub(crate) fn draw(&self) {
        for plane in 0..PLANES {
            // A canvas without a context has nothing to paint on, and nobody to tell.
            let _ = self.draw_plane(plane);
        }
    }

    fn draw_plane(&self, plane: usize) -> Result<(), JsValue> {
        let Some(canvas) = canvas(plane) else { return Ok(()) };
        let screen = screen(&canvas);
        if screen.0 == 0 || screen.1 == 0 || self.charge.is_empty() {
            return Ok(());
        }
        if (canvas.height() as usize, canvas.width() as usize) != screen {
            canvas.set_height(screen.0 as u32);
            canvas.set_width(screen.1 as u32);
        }
        let colours = colours(&canvas);
        let view = self.view(screen);
        let pixels = self.pixels(plane, view, screen, &colours);
        let context: CanvasRenderingContext2d = canvas.get_context("2d")?.ok_or("no context")?.unchecked_into();
        let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), screen.1 as u32, screen.0 as u32)?;
        context.put_image_data(&image, 0.0, 0.0)?;
        if let Some((_, row, column)) = self.cursor.filter(|cursor| cursor.0 == plane) {
            let (x, y) = ((column as f64 - view.left) * view.scale, (row as f64 - view.top) * view.scale);
            let [r, g, b] = colours.mark;
            context.set_stroke_style_str(&format!("rgb({r} {g} {b})"));
            context.set_line_width(2.0);
            let side = view.scale.max(3.0);
            context.stroke_rect(x - 2.0, y - 2.0, side + 4.0, side + 4.0);
        }
        Ok(())
    }

    fn pixels(&self, plane: usize, view: View, screen: Size, colours: &Colours) -> Vec<u8> {
        fn one<T>(all: &[T], plane: usize, (height, width): Size) -> &[T] {
            let area = height * width;
            all.get(plane * area..(plane + 1) * area).unwrap_or_default()
        }
        let (input, output, beyond) = (self.input_size, self.output_size, colours.beyond);
        let classes = |all: &[u8], size| paint(one(all, plane, size), size, view, screen, beyond, |c| colours.class(c));
        match self.layer {
            Layer::Input => {
                let charge = |value| colours.charge(value, self.brightest);
                paint(one(&self.charge, plane, input), input, view, screen, beyond, charge)
            }
            Layer::Prediction => classes(&self.predicted, output),
            Layer::Labels => classes(&self.labels, input),
            Layer::Candidate => classes(&self.candidate, output),
            Layer::Difference => {
                let difference = |value| colours.difference(value, self.largest);
                paint(one(&self.difference, plane, output), output, view, screen, beyond, difference)
            }
        }
    }

    /// What the colours of the layer mean, as HTML.
    pub(crate) fn legend(&self) -> String {
        match self.layer {
            Layer::Input => {
                format!("<span class=\"ramp charge\"></span> charge from 0 to {:.1}, logarithmic", self.brightest)
            }
            Layer::Difference if self.largest > 0.0 => format!(
                "<span class=\"ramp difference\"></span> largest difference of a pixel’s logits from {:.0e} to {:.1e}, \
                 logarithmic; <span class=\"swatch nothing\"></span> no number",
                self.largest * 1e-6,
                self.largest
            ),
            Layer::Difference => "no difference anywhere; <span class=\"swatch nothing\"></span> no number".to_string(),
            _ => CLASS_NAMES.iter().map(|name| format!("<span class=\"swatch {name}\"></span> {name} ")).collect(),
        }
    }
}

/// The canvas of a plane.
pub(crate) fn canvas(plane: usize) -> Option<HtmlCanvasElement> {
    element(&format!("plane-{plane}"))?.dyn_into().ok()
}

/// How many pixels of the screen a canvas has: height and width.
pub(crate) fn screen(canvas: &HtmlCanvasElement) -> Size {
    let sharp = window().device_pixel_ratio().clamp(1.0, 2.0);
    let length = |css: i32| (f64::from(css) * sharp).round() as usize;
    (length(canvas.client_height()), length(canvas.client_width()))
}

/// The theme's colours: those whose ground differs from the text.
fn colours(canvas: &HtmlCanvasElement) -> Colours {
    let style = window().get_computed_style(canvas).ok().flatten();
    let text = style.and_then(|style| style.get_property_value("color").ok()).unwrap_or_default();
    let parts = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok());
    if parts.take(3).sum::<u32>() > 3 * 128 { DARK } else { LIGHT }
}
