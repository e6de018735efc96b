//! Maps of a plan: their images and channels.

use crate::kernels::Map;
use crate::network::PLANES;

/// A map and its real channels; `channels` of the map includes the padding.
#[derive(Clone, Copy)]
pub(crate) struct Layer {
    pub(crate) map: Map,
    pub(crate) channels: usize,
}

impl Layer {
    /// Some of the images.
    pub(super) fn group(&self, group: &Group) -> Layer {
        let offset = self.map.offset + group.first * self.map.image_step;
        let image_step = self.map.image_step * group.step;
        Layer { map: Map { offset, images: group.images, image_step, ..self.map }, ..*self }
    }

    /// One plane of every image.
    pub(super) fn plane(&self, plane: usize) -> Layer {
        self.group(&Group::plane(plane, self.map.images / PLANES))
    }

    pub(super) fn size(&self) -> (usize, usize) {
        (self.map.height, self.map.width)
    }

    pub(super) fn numbers(&self) -> usize {
        self.map.images * self.map.image_step
    }
}

/// The planes in a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planes {
    /// All, as separate images, picture by picture.
    All,
    /// One, one image per picture.
    One(usize),
    /// All, joined in the channels, one image per picture.
    Joined,
    /// All, as separate images, of a module that has them joined.
    Joining,
}

/// Images that are processed together in a level.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub(super) first: usize,
    pub(super) step: usize,
    pub(super) images: usize,
    pub(super) planes: Planes,
}

impl Group {
    pub(super) fn plane(plane: usize, pictures: usize) -> Group {
        Group { first: plane, step: PLANES, images: pictures, planes: Planes::One(plane) }
    }
}
