use crate::error::Error;

/// Values with a shape: f32, row-major; images and maps are NCHW (image, channel, row, column).
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    data: Vec<f32>,
}

impl Tensor {
    /// A tensor of zeros.
    pub fn zeros(shape: &[usize]) -> Tensor {
        Tensor { shape: shape.to_vec(), data: vec![0.0; shape.iter().product()] }
    }

    /// A tensor from its values in row-major order; `None` if their number does not match the shape.
    pub fn from_vec(shape: &[usize], data: Vec<f32>) -> Option<Tensor> {
        let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        (count == Some(data.len())).then(|| Tensor { shape: shape.to_vec(), data })
    }

    /// Length of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The values in row-major order.
    pub fn data(&self) -> &[f32] {
        &self.data
    }

    /// The values in row-major order, mutable.
    pub fn data_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// The numbers alone.
    pub fn into_data(self) -> Vec<f32> {
        self.data
    }

    /// The same values with a different shape of the same size.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn reshaped(mut self, shape: &[usize]) -> Tensor {
        assert_eq!(self.data.len(), shape.iter().product::<usize>(), "{:?} as {shape:?}", self.shape);
        self.shape = shape.to_vec();
        self
    }

    /// The four dimensions of a map.
    ///
    /// # Panics
    /// If the tensor does not have four dimensions.
    pub fn nchw(&self) -> [usize; 4] {
        self.shape.as_slice().try_into().expect("a map has four dimensions")
    }

    /// Rejects NaN and infinities, with the tensor's name and the position of the first one.
    pub fn check_finite(&self, key: &str) -> Result<(), Error> {
        match self.data.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(Error::NotFinite { key: key.to_string(), index }),
            None => Ok(()),
        }
    }
}
