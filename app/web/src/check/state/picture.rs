//! Planes as images: the view, and the colour of each device pixel.

/// The layer of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layer {
    /// Charge.
    #[default]
    Input,
    /// The class with the largest logit.
    Prediction,
    /// The correct class.
    Labels,
    /// The class with the largest logit in the other run.
    Candidate,
    /// The largest difference of each pixel's logits.
    Difference,
}

impl Layer {
    /// All of them.
    pub const ALL: [Layer; 5] = [Layer::Input, Layer::Prediction, Layer::Labels, Layer::Candidate, Layer::Difference];

    /// A name for attributes.
    pub fn word(self) -> &'static str {
        match self {
            Layer::Input => "input",
            Layer::Prediction => "prediction",
            Layer::Labels => "labels",
            Layer::Candidate => "candidate",
            Layer::Difference => "difference",
        }
    }

    /// The layer with a name.
    pub fn of(word: &str) -> Option<Layer> {
        Layer::ALL.into_iter().find(|layer| layer.word() == word)
    }

    /// A display name.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Input => "Input",
            Layer::Prediction => "Prediction",
            Layer::Labels => "Labels",
            Layer::Candidate => "Other run",
            Layer::Difference => "Difference",
        }
    }
}

/// The visible part of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// Device pixels per pixel of the plane.
    pub scale: f64,
    /// The column at the left edge.
    pub left: f64,
    /// The row at the top edge.
    pub top: f64,
}

/// Height and width.
pub type Size = (usize, usize);

/// The maximum number of device pixels per pixel of the plane.
const CLOSEST: f64 = 48.0;

impl View {
    /// The whole plane.
    pub fn whole(plane: Size, screen: Size) -> View {
        let fit = |screen: usize, plane: usize| screen as f64 / plane.max(1) as f64;
        View { scale: fit(screen.0, plane.0).min(fit(screen.1, plane.1)), left: 0.0, top: 0.0 }.kept(plane, screen)
    }

    /// Zooms in or out; the point (x, y) of the screen stays in place.
    pub fn zoomed(self, factor: f64, x: f64, y: f64, plane: Size, screen: Size) -> View {
        let scale = self.scale * factor;
        let (column, row) = (self.left + x / self.scale, self.top + y / self.scale);
        let scale = scale.clamp(View::whole(plane, screen).scale, CLOSEST.max(self.scale));
        View { scale, left: column - x / scale, top: row - y / scale }.kept(plane, screen)
    }

    /// Moves by this many device pixels.
    pub fn moved(self, x: f64, y: f64, plane: Size, screen: Size) -> View {
        View { left: self.left - x / self.scale, top: self.top - y / self.scale, ..self }.kept(plane, screen)
    }

    /// Moves just far enough to make a pixel visible.
    pub fn showing(self, (row, column): (usize, usize), plane: Size, screen: Size) -> View {
        let inside = |start: f64, at: usize, length: usize| {
            let seen = length as f64 / self.scale;
            start.min(at as f64).max(at as f64 + 1.0 - seen)
        };
        let (left, top) = (inside(self.left, column, screen.1), inside(self.top, row, screen.0));
        View { left, top, ..self }.kept(plane, screen)
    }

    /// The row and column under a point of the screen.
    pub fn under(self, x: f64, y: f64, plane: Size) -> Option<(usize, usize)> {
        let (column, row) = ((self.left + x / self.scale).floor(), (self.top + y / self.scale).floor());
        let inside = row >= 0.0 && column >= 0.0 && row < plane.0 as f64 && column < plane.1 as f64;
        inside.then_some((row as usize, column as usize))
    }

    /// Limited to the plane's edges; a plane that is smaller than the screen is centred.
    fn kept(self, plane: Size, screen: Size) -> View {
        let keep = |start: f64, plane: usize, screen: usize| {
            let (plane, seen) = (plane as f64, screen as f64 / self.scale);
            if seen >= plane { (plane - seen) / 2.0 } else { start.clamp(0.0, plane - seen) }
        };
        View { left: keep(self.left, plane.1, screen.1), top: keep(self.top, plane.0, screen.0), ..self }
    }

    /// For each of this many device pixels, the pixels of the plane that it covers, at least one.
    fn covered(start: f64, scale: f64, screen: usize, plane: usize) -> Vec<std::ops::Range<usize>> {
        let edge = |at: usize| start + at as f64 / scale;
        let range = |at: usize| {
            let (from, to) = (edge(at), edge(at + 1));
            if to <= 0.0 || from >= plane as f64 {
                return 0..0;
            }
            let first = from.max(0.0).floor() as usize;
            first..(to.ceil() as usize).clamp(first + 1, plane).min(if scale >= 1.0 { first + 1 } else { plane })
        };
        (0..screen).map(range).collect()
    }
}

/// A colour.
pub type Rgb = [u8; 3];

/// Paints the visible part of a plane as RGBA. A device pixel that covers several pixels of the plane shows the
/// largest, so that a thin track stays visible when zoomed out.
pub fn paint<T: Copy + PartialOrd>(
    plane: &[T],
    size: Size,
    view: View,
    screen: Size,
    beyond: Rgb,
    colour: impl Fn(T) -> Rgb,
) -> Vec<u8> {
    let rows = View::covered(view.top, view.scale, screen.0, size.0);
    let columns = View::covered(view.left, view.scale, screen.1, size.1);
    let mut out = Vec::with_capacity(4 * screen.0 * screen.1);
    for rows in rows {
        for columns in &columns {
            let mut largest = None;
            for row in rows.clone() {
                let line = plane.get(row * size.1..).unwrap_or_default();
                for &value in line.get(columns.clone()).unwrap_or_default() {
                    if largest.is_none_or(|seen| value > seen) {
                        largest = Some(value);
                    }
                }
            }
            let [r, g, b] = largest.map_or(beyond, &colour);
            out.extend([r, g, b, 255]);
        }
    }
    out
}

/// The colours of a theme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colours {
    /// The background.
    pub ground: Rgb,
    /// Outside the plane.
    pub beyond: Rgb,
    /// The most charge.
    pub ink: Rgb,
    /// Background, cosmic, neutrino; distinguishable with any kind of colour vision.
    pub classes: [Rgb; uresnet::CLASSES],
    /// Small to large differences.
    pub ramp: [Rgb; 5],
    /// A value that is not a number.
    pub nothing: Rgb,
    /// The marker of the inspected pixel.
    pub mark: Rgb,
}

/// For a light background.
pub const LIGHT: Colours = Colours {
    ground: [255, 255, 255],
    beyond: [236, 230, 216],
    ink: [16, 26, 34],
    classes: [[255, 255, 255], [0, 114, 178], [213, 94, 0]],
    ramp: [[244, 236, 200], [188, 175, 111], [124, 123, 120], [65, 77, 107], [0, 32, 77]],
    nothing: [204, 0, 153],
    mark: [204, 0, 153],
};

/// For a dark background.
pub const DARK: Colours = Colours {
    ground: [11, 18, 22],
    beyond: [34, 46, 54],
    ink: [245, 240, 226],
    classes: [[11, 18, 22], [86, 180, 233], [230, 159, 0]],
    ramp: [[28, 42, 66], [65, 77, 107], [124, 123, 120], [188, 175, 111], [255, 234, 70]],
    nothing: [255, 110, 200],
    mark: [255, 110, 200],
};

impl Colours {
    /// Charge, on a logarithmic scale up to the brightest pixel.
    pub fn charge(&self, value: f32, brightest: f32) -> Rgb {
        if value.is_nan() || value <= 0.0 || brightest <= 0.0 {
            return self.ground;
        }
        // Faint pixels are distinguishable from empty ones.
        let share = 0.15 + 0.85 * (1.0 + 100.0 * value / brightest).ln() / 101f32.ln();
        mixed(self.ground, self.ink, share)
    }

    /// A difference, on a logarithmic scale over the six powers of ten below the largest.
    pub fn difference(&self, value: f32, largest: f32) -> Rgb {
        if !value.is_finite() {
            return self.nothing;
        }
        if value <= 0.0 || largest <= 0.0 {
            return self.ground;
        }
        let share = (1.0 + (value / largest).log10() / 6.0).clamp(0.0, 1.0) * (self.ramp.len() - 1) as f32;
        let place = (share as usize).min(self.ramp.len() - 2);
        mixed(self.ramp[place], self.ramp[place + 1], share - place as f32)
    }

    /// A class.
    pub fn class(&self, class: u8) -> Rgb {
        self.classes.get(usize::from(class)).copied().unwrap_or(self.nothing)
    }
}

fn mixed(from: Rgb, to: Rgb, share: f32) -> Rgb {
    let share = share.clamp(0.0, 1.0);
    std::array::from_fn(|i| (f32::from(from[i]) + share * (f32::from(to[i]) - f32::from(from[i]))).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zoom_keeps_the_point_and_the_edges() {
        let (plane, screen) = ((100, 200), (50, 100));
        let whole = View::whole(plane, screen);
        assert_eq!(whole, View { scale: 0.5, left: 0.0, top: 0.0 });
        let near = whole.zoomed(4.0, 50.0, 25.0, plane, screen);
        assert_eq!((near.scale, near.under(50.0, 25.0, plane)), (2.0, Some((50, 100))));
        assert_eq!(near.zoomed(1e-9, 0.0, 0.0, plane, screen), whole);
        assert_eq!(near.moved(1e6, -1e6, plane, screen), View { scale: 2.0, left: 0.0, top: 75.0 });
        assert_eq!(near.showing((0, 199), plane, screen), View { scale: 2.0, left: 150.0, top: 0.0 });
        let flat = View::whole((10, 100), (100, 100));
        assert_eq!((flat.scale, flat.top, flat.under(5.0, 20.0, (10, 100))), (1.0, -45.0, None));
    }

    #[test]
    fn from_afar_the_largest_is_seen_and_near_each_pixel() {
        let check = |view, screen, expected: &[u8]| {
            let colour = |v: u8| [v, v, v];
            let found = paint(&[0u8, 1, 2, 3], (2, 2), view, screen, [9; 3], colour);
            assert_eq!(found.iter().step_by(4).copied().collect::<Vec<_>>(), expected);
            assert!(found.iter().skip(3).step_by(4).all(|&a| a == 255));
        };
        check(View { scale: 0.5, left: 0.0, top: 0.0 }, (1, 1), &[3]);
        check(View { scale: 1.0, left: 0.0, top: 0.0 }, (2, 2), &[0, 1, 2, 3]);
        check(View { scale: 2.0, left: 1.0, top: 0.0 }, (2, 2), &[1, 1, 1, 1]);
        check(View { scale: 1.0, left: -1.0, top: 0.0 }, (1, 3), &[9, 0, 1]);
    }

    #[test]
    fn scales() {
        for colours in [LIGHT, DARK] {
            assert_eq!(colours.charge(0.0, 10.0), colours.ground);
            assert_eq!(colours.charge(f32::NAN, 10.0), colours.ground);
            assert_eq!(colours.charge(10.0, 10.0), colours.ink);
            assert_ne!(colours.charge(0.01, 10.0), colours.ground);
            assert_eq!(colours.difference(0.0, 1.0), colours.ground);
            assert_eq!(colours.difference(1.0, 1.0), colours.ramp[4]);
            assert_eq!(colours.difference(1e-9, 1.0), colours.ramp[0]);
            assert_eq!(colours.difference(f32::INFINITY, 1.0), colours.nothing);
            assert_eq!(colours.class(7), colours.nothing);
        }
    }

    #[test]
    fn words_name_layers() {
        assert!(Layer::ALL.into_iter().all(|layer| Layer::of(layer.word()) == Some(layer)));
        assert_eq!(Layer::of(""), None);
    }
}
