//! The three planes: their data, and the view.

use crate::check::state::names::CLASS_NAMES;
use crate::check::state::picture::{Colours, Layer, Size, View, paint};
/// The data and the view. All planes share one view.
#[derive(Clone, Debug, Default)]
pub struct Planes {
    /// Height and width of the image.
    pub input_size: Size,
    /// Height and width of the logits.
    pub output_size: Size,
    /// The three planes of each layer, one after the other; empty for layers without data.
    pub charge: Vec<f32>,
    /// The most charge.
    pub brightest: f32,
    /// Predicted classes.
    pub predicted: Vec<u8>,
    /// Known classes.
    pub labels: Vec<u8>,
    /// Classes of the other run.
    pub candidate: Vec<u8>,
    /// Differences from the other run.
    pub difference: Vec<f32>,
    /// The largest finite difference.
    pub largest: f32,
    /// The layer that is shown.
    pub layer: Layer,
    /// The view; `None` while the whole planes are visible.
    pub view: Option<View>,
    /// The inspected pixel: plane, row, column.
    pub cursor: Option<(usize, usize, usize)>,
}

impl Planes {
    /// Whether a layer has data.
    pub fn has(&self, layer: Layer) -> bool {
        match layer {
            Layer::Input => !self.charge.is_empty(),
            Layer::Prediction => !self.predicted.is_empty(),
            Layer::Labels => !self.labels.is_empty(),
            Layer::Candidate => !self.candidate.is_empty(),
            Layer::Difference => !self.difference.is_empty(),
        }
    }

    /// Shows the whole planes again.
    pub fn fit(&mut self) {
        self.view = None;
    }

    /// Zooms in or out around a point of the screen, or around its centre.
    pub fn zoom(&mut self, factor: f64, at: Option<(f64, f64)>, screen: Size) {
        let (x, y) = at.unwrap_or((screen.1 as f64 / 2.0, screen.0 as f64 / 2.0));
        self.view = Some(self.view(screen).zoomed(factor, x, y, self.input_size, screen));
    }

    /// Zooms in or out around the inspected pixel.
    pub fn zoom_at_cursor(&mut self, factor: f64, screen: Size) {
        self.zoom(factor, self.cursor_place(screen), screen);
    }

    /// Moves by this many device pixels.
    pub fn shift(&mut self, x: f64, y: f64, screen: Size) {
        self.view = Some(self.view(screen).moved(x, y, self.input_size, screen));
    }

    /// Whether only a part is visible.
    pub fn is_near(&self) -> bool {
        self.view.is_some()
    }

    fn view(&self, screen: Size) -> View {
        self.view.unwrap_or_else(|| View::whole(self.input_size, screen))
    }

    /// The row and column under a point of the screen.
    pub fn under(&self, x: f64, y: f64, screen: Size) -> Option<(usize, usize)> {
        self.view(screen).under(x, y, self.input_size)
    }

    /// The position of the inspected pixel on the screen.
    pub fn cursor_place(&self, screen: Size) -> Option<(f64, f64)> {
        let ((_, row, column), view) = (self.cursor?, self.view(screen));
        let place = |at: usize, start: f64| (at as f64 + 0.5 - start) * view.scale;
        Some((place(column, view.left), place(row, view.top)))
    }

    /// Moves the inspected pixel, and the view if necessary.
    pub fn step(&mut self, plane: usize, down: isize, right: isize, screen: Size) {
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

    /// Inspects the pixel under a point of the screen. Returns whether it is a different one.
    pub fn point(&mut self, plane: usize, x: f64, y: f64, screen: Size) -> bool {
        let Some((row, column)) = self.under(x, y, screen) else { return false };
        let cursor = Some((plane, row, column));
        std::mem::replace(&mut self.cursor, cursor) != cursor
    }

    /// The inspected pixel as a rectangle of a plane's canvas: left, top, side.
    pub fn marked(&self, plane: usize, screen: Size) -> Option<(f64, f64, f64)> {
        let (_, row, column) = self.cursor.filter(|cursor| cursor.0 == plane)?;
        let view = self.view(screen);
        Some(((column as f64 - view.left) * view.scale, (row as f64 - view.top) * view.scale, view.scale.max(3.0)))
    }

    /// The values of the inspected pixel, if it is in this plane.
    pub fn value(&self, of: usize) -> String {
        let Some((plane, row, column)) = self.cursor.filter(|cursor| cursor.0 == of) else { return String::new() };
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

    /// The contents of a canvas of this size for a plane, as RGBA.
    pub fn pixels(&self, plane: usize, screen: Size, colours: &Colours) -> Vec<u8> {
        fn one<T>(all: &[T], plane: usize, (height, width): Size) -> &[T] {
            let area = height * width;
            all.get(plane * area..(plane + 1) * area).unwrap_or_default()
        }
        let view = self.view(screen);
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
}
