//! Outputs of the network's modules.

use crate::network::PLANES;
use crate::tensor::Tensor;

/// The output of a module for one plane, or of a module that sees the planes joined.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// The module's path in PyTorch.
    pub path: &'a str,
    /// Its plane; none if the planes are joined in the channels.
    pub plane: Option<usize>,
    /// [images, channels, height, width].
    pub output: &'a Tensor,
}

impl Stage<'_> {
    /// Its name in files: `PATH.plane0` to `PATH.plane2`, or `PATH.all` if the planes are joined.
    pub fn name(&self) -> String {
        match self.plane {
            Some(plane) => format!("{}.plane{plane}", self.path),
            None => format!("{}.all", self.path),
        }
    }
}

/// Shows a module's output plane by plane. `maps` are [images, channels, height, width], where image `b * 3 + p` is
/// plane `p` of picture `b`; if the planes are `joined` there is one image per picture.
pub(crate) fn show(observe: &mut dyn FnMut(Stage), path: &str, maps: &Tensor, joined: bool) {
    if joined {
        return observe(Stage { path, plane: None, output: maps });
    }
    for plane in 0..PLANES {
        observe(Stage { path, plane: Some(plane), output: &one_plane(maps, plane) });
    }
}

fn one_plane(maps: &Tensor, plane: usize) -> Tensor {
    let [images, channels, height, width] = maps.nchw();
    let length = channels * height * width;
    let image = |picture: usize| &maps.data()[(picture * PLANES + plane) * length..][..length];
    let data = (0..images / PLANES).flat_map(image).copied().collect();
    Tensor::from_vec(&[images / PLANES, channels, height, width], data).expect("one plane's maps")
}
