//! Stages of a plan: which maps to show, and after which job.
//!
//! A plan overwrites its maps as soon as possible and fuses what it can, so a stage must be requested while planning.
//! The jobs are run up to the next capture, and its map is read before the others continue; a plan without captures
//! runs without interruption.

use crate::kernels::{Map, Space};
use crate::network::PLANES;
use crate::stage::{Stage, show};
use crate::tensor::Tensor;

use super::layer::{Layer, Planes};

/// A map to show.
pub(crate) struct Capture {
    /// The number of jobs after which it is available.
    pub(crate) after: usize,
    pub(crate) path: String,
    pub(crate) layer: Layer,
    pub(crate) planes: Planes,
}

impl Capture {
    /// Shows the map, which is in the arena or is the logits.
    pub(crate) fn show(&self, arena: &[f32], logits: &[f32], observe: &mut dyn FnMut(Stage)) {
        let maps = match self.layer.map.space {
            Space::Output => copied(&self.layer.map, logits),
            _ => unpacked(&self.layer.map, self.layer.channels, arena),
        };
        match self.planes {
            Planes::All => show(observe, &self.path, &maps, false),
            Planes::One(plane) => observe(Stage { path: &self.path, plane: Some(plane), output: &maps }),
            Planes::Joined => show(observe, &self.path, &maps, true),
            Planes::Joining => {
                let [images, channels, height, width] = maps.nchw();
                let maps = maps.reshaped(&[images / PLANES, channels * PLANES, height, width]);
                show(observe, &self.path, &maps, true);
            }
        }
    }
}

/// Converts NHWC with padding to NCHW without.
fn unpacked(map: &Map, channels: usize, arena: &[f32]) -> Tensor {
    let area = map.height * map.width;
    let mut tensor = Tensor::zeros(&[map.images, channels, map.height, map.width]);
    for (i, to) in tensor.data_mut().chunks_exact_mut((channels * area).max(1)).enumerate() {
        let image = &arena[map.offset + i * map.image_step..][..area * map.channels];
        for (place, pixel) in image.chunks_exact(map.channels).enumerate() {
            for (channel, &value) in pixel[..channels].iter().enumerate() {
                to[channel * area + place] = value;
            }
        }
    }
    tensor
}

/// The logits are already stored class by class.
fn copied(map: &Map, logits: &[f32]) -> Tensor {
    let length = map.channels * map.height * map.width;
    let image = |i: usize| &logits[map.offset + i * map.image_step..][..length];
    let data = (0..map.images).flat_map(image).copied().collect();
    Tensor::from_vec(&[map.images, map.channels, map.height, map.width], data).expect("the logits' maps")
}
