//! Synthetic events. Only sums, products, quotients and roots are used, so that every machine generates the same ones.

use super::Event;
use crate::network::PLANES;
use crate::tensor::Tensor;
use crate::weights::unit_interval;

const COSMIC: f32 = 1.0;
const NEUTRINO: f32 = 2.0;

/// Drift time, height and depth; the detector is the unit cube.
type Point = [f64; 3];

/// The direction of a plane's wires: the column is the sum of height and depth with these factors.
const WIRES: [(f64, f64); PLANES] = [(0.634, 0.366), (-0.634, 0.366), (0.0, 1.0)];

pub(super) fn event(seed: u64, height: usize, width: usize) -> Event {
    let shape = [1, PLANES, height, width];
    let mut canvas = Canvas {
        event: Event { picture: Tensor::zeros(&shape), labels: Some(Tensor::zeros(&shape)) },
        height,
        width,
        dice: Dice { seed, thrown: 0 },
    };
    if height == 0 || width == 0 {
        return canvas.event;
    }
    canvas.noise();
    for _ in 0..6 + (canvas.dice.throw() * 6.0) as usize {
        canvas.cosmic();
    }
    canvas.neutrino();
    canvas.event
}

struct Dice {
    seed: u64,
    thrown: usize,
}

impl Dice {
    /// A number in [0, 1).
    fn throw(&mut self) -> f64 {
        self.thrown += 1;
        unit_interval(self.seed, self.thrown)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.throw()
    }

    /// A unit vector, all directions equally likely: a point in the ball, projected to its surface.
    fn direction(&mut self) -> Point {
        loop {
            let point = [(); 3].map(|()| self.between(-1.0, 1.0));
            let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (0.1..=1.0).contains(&length) {
                return point.map(|x| x / length);
            }
        }
    }
}

struct Canvas {
    event: Event,
    height: usize,
    width: usize,
    dice: Dice,
}

impl Canvas {
    /// Weak isolated pixels of noise, one in about five hundred.
    fn noise(&mut self) {
        let pixels = PLANES * self.height * self.width;
        for _ in 0..pixels / 500 {
            let pixel = (self.dice.throw() * pixels as f64) as usize;
            self.event.picture.data_mut()[pixel] = self.dice.between(3.0, 9.0) as f32;
        }
    }

    /// A muon that enters from above and leaves below, with some knock-on electrons.
    fn cosmic(&mut self) {
        let from = [self.dice.between(-0.2, 1.2), 1.0, self.dice.throw()];
        let to = [from[0] + self.dice.between(-0.6, 0.6), 0.0, from[2] + self.dice.between(-0.5, 0.5)];
        self.line(from, to, 14.0, COSMIC);
        for _ in 0..4 {
            let at = self.dice.throw();
            let start = [0, 1, 2].map(|i| from[i] + (to[i] - from[i]) * at);
            let (way, length) = (self.dice.direction(), self.dice.between(0.005, 0.03));
            self.line(start, along(start, way, length), 9.0, COSMIC);
        }
    }

    /// A vertex inside the detector with two or three short, bright tracks and one shower.
    fn neutrino(&mut self) {
        let vertex = [(); 3].map(|()| self.dice.between(0.25, 0.75));
        for _ in 0..2 + usize::from(self.dice.throw() < 0.5) {
            let (way, length) = (self.dice.direction(), self.dice.between(0.08, 0.3));
            self.line(vertex, along(vertex, way, length), 30.0, NEUTRINO);
        }
        let axis = self.dice.direction();
        let start = along(vertex, axis, self.dice.between(0.01, 0.06));
        for _ in 0..60 {
            // Many short segments, further from the axis and weaker the later they are.
            let depth = self.dice.throw() * self.dice.between(0.05, 0.25);
            let piece = along(along(start, axis, depth), self.dice.direction(), depth * 0.2);
            let way = self.dice.direction();
            let way = [0, 1, 2].map(|i| axis[i] + 0.5 * way[i]);
            self.line(piece, along(piece, way, 0.02), 28.0 - 60.0 * depth, NEUTRINO);
        }
    }

    /// Draws a straight line into all planes. A pixel keeps the largest charge and the largest label that it receives.
    fn line(&mut self, from: Point, to: Point, charge: f64, label: f32) {
        for (plane, (up, deep)) in WIRES.into_iter().enumerate() {
            let shift = if up < 0.0 { -up } else { 0.0 };
            let place = |p: Point| (p[0] * self.height as f64, (up * p[1] + deep * p[2] + shift) * self.width as f64);
            let ((y0, x0), (y1, x1)) = (place(from), place(to));
            let steps = ((y1 - y0).abs().max((x1 - x0).abs()) * 1.5) as usize + 1;
            for step in 0..=steps {
                let at = step as f64 / steps as f64;
                let charge = charge * self.dice.between(0.6, 1.4);
                let (y, x) = (y0 + (y1 - y0) * at, x0 + (x1 - x0) * at);
                self.dot(plane, y, x, charge, label);
                // Charge spreads slightly in time while it drifts.
                self.dot(plane, y + 1.0, x, charge * 0.5, label);
            }
        }
    }

    fn dot(&mut self, plane: usize, y: f64, x: f64, charge: f64, label: f32) {
        if y < 0.0 || x < 0.0 || y >= self.height as f64 || x >= self.width as f64 {
            return;
        }
        let pixel = (plane * self.height + y as usize) * self.width + x as usize;
        let value = &mut self.event.picture.data_mut()[pixel];
        *value = value.max(charge as f32);
        if let Some(labels) = &mut self.event.labels {
            let class = &mut labels.data_mut()[pixel];
            *class = class.max(label);
        }
    }
}

fn along(from: Point, way: Point, length: f64) -> Point {
    [0, 1, 2].map(|i| from[i] + way[i] * length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_has_all_classes_in_a_mostly_empty_picture() {
        for seed in 0..20 {
            let event = event(seed, 160, 256);
            let labels = event.labels.as_ref().unwrap();
            event.picture.check_finite("picture").unwrap();
            let share =
                |class: f32| labels.data().iter().filter(|&&v| v == class).count() as f64 / labels.data().len() as f64;
            assert!(share(0.0) > 0.85, "seed {seed}: {}", share(0.0));
            assert!(share(COSMIC) > 0.005 && share(NEUTRINO) > 0.0005, "seed {seed}");
            let charged = event.picture.data().iter().zip(labels.data()).all(|(&v, &class)| class == 0.0 || v > 0.0);
            assert!(charged, "seed {seed}: a labelled pixel is empty");
            assert!(event == super::event(seed, 160, 256) && event != super::event(seed + 1, 160, 256));
        }
    }
}
