//! Maps: where they lie, and what is done to them as they are read.

/// Which memory a map lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// The caller's pictures, read only; one number a pixel.
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
    /// The first number of the first image.
    pub(crate) offset: usize,
    /// Numbers from an image to the next.
    pub(crate) image_step: usize,
    pub(crate) images: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Numbers of a pixel, padding included.
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

/// What a job reads, and what is done to it on the way in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) map: Map,
    pub(crate) form: Form,
}

/// What is done to a map on the way in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// Nothing.
    Plain,
    /// The largest of each 2x2.
    Pooled,
    /// Twice the size, linear in between, then leaky ReLU with this slope.
    Upsampled(f32),
}

impl Source {
    /// Height and width after the form.
    pub(super) fn size(&self) -> (usize, usize) {
        match self.form {
            Form::Plain => (self.map.height, self.map.width),
            Form::Pooled => (self.map.height / 2, self.map.width / 2),
            Form::Upsampled(_) => (self.map.height * 2, self.map.width * 2),
        }
    }
}

/// Weights and bias of a job: where they begin in the packed weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed {
    pub(crate) weights: usize,
    pub(crate) bias: usize,
    /// Inputs of one vector's weights.
    pub(crate) inputs: usize,
    /// Vectors of outputs.
    pub(crate) vectors: usize,
}
