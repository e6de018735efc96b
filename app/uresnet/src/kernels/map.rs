//! Maps: where they are stored, and the operations applied when they are read.

/// The memory that contains a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// The caller's images, read only; one element per pixel.
    Input,
    /// Between the layers.
    Arena,
    /// The logits, image by image and class by class.
    Output,
}

/// Images of one size in a memory, NHWC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Map {
    pub(crate) space: Space,
    /// The first element of the first image.
    pub(crate) offset: usize,
    /// Elements from one image to the next.
    pub(crate) image_step: usize,
    pub(crate) images: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Elements per pixel, including padding.
    pub(crate) channels: usize,
}

impl Map {
    pub(super) fn row(&self) -> usize {
        self.width * self.channels
    }

    pub(super) fn image(&self) -> usize {
        self.height * self.row()
    }

    pub(super) fn end(&self) -> usize {
        match self.images {
            0 => self.offset,
            n => self.offset + (n - 1) * self.image_step + self.image(),
        }
    }

    pub(super) fn overlaps(&self, other: &Map) -> bool {
        self.space == other.space && self.offset < other.end() && other.offset < self.end()
    }

    pub(super) fn same_place(&self, other: &Map) -> bool {
        (self.space, self.offset, self.image_step, self.channels)
            == (other.space, other.offset, other.image_step, other.channels)
    }

    pub(super) fn same_size(&self, other: &Map) -> bool {
        (self.images, self.height, self.width) == (other.images, other.height, other.width)
    }
}

/// An input of a job, and the operation applied when it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) map: Map,
    pub(crate) form: Form,
}

/// The operation applied when a map is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// Nothing.
    Plain,
    /// The maximum of each 2x2.
    Pooled,
    /// Twice the size, with linear interpolation, then leaky ReLU with this slope.
    Upsampled(f32),
}

impl Source {
    /// Height and width after the operation.
    pub(super) fn size(&self) -> (usize, usize) {
        match self.form {
            Form::Plain => (self.map.height, self.map.width),
            Form::Pooled => (self.map.height / 2, self.map.width / 2),
            Form::Upsampled(_) => (self.map.height * 2, self.map.width * 2),
        }
    }
}

/// Weights and bias of a job: their offsets in the packed weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed {
    pub(crate) weights: usize,
    pub(crate) bias: usize,
    /// Inputs per vector of the weights.
    pub(crate) inputs: usize,
    /// Vectors of outputs.
    pub(crate) vectors: usize,
}
