//! The differences between two outputs.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::network::CLASSES;
use crate::tensor::Tensor;

/// The differences between a candidate's values and a reference's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// Numbers compared.
    pub count: usize,
    /// Largest absolute difference.
    pub max_absolute: f64,
    /// Its position, in row-major order; zero if nothing differs.
    pub worst_index: usize,
    /// Mean absolute difference.
    pub mean_absolute: f64,
    /// Largest absolute difference over the largest reference magnitude.
    pub max_relative_to_range: f64,
    /// Largest difference relative to the reference value, except where that is zero.
    pub max_relative: f64,
    /// Values that are NaN or infinite in one of the two and not the same in the other.
    pub not_finite: usize,
    /// Histogram of distances in units in the last place: 0, 1, 2-3, 4-7, ... up to 2^31 and more.
    pub ulps: Vec<u64>,
}

/// The agreement of two logits on the class of each pixel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Pixels compared.
    pub pixels: usize,
    /// Pixels with the same class.
    pub same: usize,
    /// Pixels of a class in both, and in either, by class: their quotient is the intersection over union.
    pub overlap: [(usize, usize); CLASSES],
}

impl Agreement {
    /// The share of pixels with the same class.
    pub fn share(&self) -> f64 {
        if self.pixels == 0 { 1.0 } else { self.same as f64 / self.pixels as f64 }
    }

    /// Intersection over union of a class; `None` if neither has the class anywhere.
    pub fn iou(&self, class: usize) -> Option<f64> {
        let (both, either) = self.overlap[class];
        (either > 0).then(|| both as f64 / either as f64)
    }
}

/// Compares value by value.
pub fn distance(reference: &Tensor, candidate: &Tensor) -> Result<Distance, Error> {
    same_shape(reference, candidate)?;
    let mut found = Distance {
        count: reference.data().len(),
        max_absolute: 0.0,
        worst_index: 0,
        mean_absolute: 0.0,
        max_relative_to_range: 0.0,
        max_relative: 0.0,
        not_finite: 0,
        ulps: vec![0; 33],
    };
    let (mut sum, mut range) = (0.0, 0f64);
    for (index, (&a, &b)) in reference.data().iter().zip(candidate.data()).enumerate() {
        if !a.is_finite() || !b.is_finite() {
            found.not_finite += usize::from(a.to_bits() != b.to_bits() && !(a.is_nan() && b.is_nan()));
            continue;
        }
        let difference = (f64::from(a) - f64::from(b)).abs();
        range = range.max(f64::from(a.abs()));
        sum += difference;
        if difference > found.max_absolute {
            (found.max_absolute, found.worst_index) = (difference, index);
        }
        if a != 0.0 {
            found.max_relative = found.max_relative.max(difference / f64::from(a.abs()));
        }
        let ulps = ulps(a, b);
        found.ulps[(u32::BITS - ulps.leading_zeros()) as usize] += 1;
    }
    found.mean_absolute = sum / (found.count.max(1)) as f64;
    found.max_relative_to_range = if range > 0.0 { found.max_absolute / range } else { found.max_absolute };
    Ok(found)
}

/// Compares the class of each pixel, which is that of the largest logit; of equal logits the first counts, as in
/// PyTorch.
pub fn agreement(reference: &Tensor, candidate: &Tensor) -> Result<Agreement, Error> {
    same_shape(reference, candidate)?;
    let (a, b) = (classes(reference)?, classes(candidate)?);
    let mut found = Agreement { pixels: a.len(), same: 0, overlap: [(0, 0); CLASSES] };
    for (&a, &b) in a.iter().zip(&b) {
        found.same += usize::from(a == b);
        for class in 0..CLASSES {
            let (a, b) = (usize::from(a) == class, usize::from(b) == class);
            found.overlap[class].0 += usize::from(a && b);
            found.overlap[class].1 += usize::from(a || b);
        }
    }
    Ok(found)
}

/// The class of each pixel of logits [..., classes, height, width].
pub fn classes(logits: &Tensor) -> Result<Vec<u8>, Error> {
    let [.., CLASSES, height, width] = *logits.shape() else {
        return Err(Error::Input(format!("expected logits of [..., 3, height, width], found {:?}", logits.shape())));
    };
    let area = height * width;
    let best = |image: &[f32], pixel: usize| {
        (1..CLASSES).fold(0, |best, c| if image[c * area + pixel] > image[best * area + pixel] { c } else { best })
            as u8
    };
    Ok(logits.data().chunks_exact((CLASSES * area).max(1)).flat_map(|i| (0..area).map(move |p| best(i, p))).collect())
}

/// The number of f32 values between two finite ones, including the second.
fn ulps(a: f32, b: f32) -> u32 {
    let place = |v: f32| {
        let bits = v.to_bits() as i32;
        i64::from(if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits })
    };
    u32::try_from((place(a) - place(b)).unsigned_abs()).unwrap_or(u32::MAX)
}

fn same_shape(reference: &Tensor, candidate: &Tensor) -> Result<(), Error> {
    if reference.shape() == candidate.shape() {
        return Ok(());
    }
    let (expected, found) = (reference.shape().to_vec(), candidate.shape().to_vec());
    Err(Error::Shape { key: "candidate".to_string(), expected, found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_the_last_place() {
        let check = |a: f32, b: f32, expected| assert_eq!((ulps(a, b), ulps(b, a)), (expected, expected), "{a} {b}");
        check(1.0, 1.0, 0);
        check(1.0, 1.0 + f32::EPSILON, 1);
        check(0.0, -0.0, 0);
        check(f32::from_bits(1), -f32::from_bits(1), 2);
        check(f32::MAX, f32::MIN, 2 * 0x7f7f_ffff);
    }

    #[test]
    fn distances() {
        let tensor = |data: &[f32]| Tensor::from_vec(&[data.len()], data.to_vec()).unwrap();
        let found = distance(&tensor(&[1.0, -4.0, 0.0, f32::NAN]), &tensor(&[1.0, -4.5, 0.25, 1.0])).unwrap();
        assert_eq!((found.max_absolute, found.worst_index, found.not_finite), (0.5, 1, 1));
        assert_eq!((found.max_relative, found.max_relative_to_range), (0.125, 0.125));
        assert_eq!((found.ulps[0], found.ulps.iter().sum::<u64>()), (1, 3));
        assert!(distance(&tensor(&[1.0]), &tensor(&[1.0, 2.0])).is_err());
    }

    #[test]
    fn classes_and_overlap() {
        let logits = |rows: [[f32; 2]; 3]| Tensor::from_vec(&[3, 1, 2], rows.concat()).unwrap();
        let a = logits([[1.0, 0.0], [1.0, 2.0], [0.0, 0.0]]);
        let b = logits([[1.0, 0.0], [0.0, 0.0], [0.0, 3.0]]);
        assert_eq!(classes(&a).unwrap(), [0, 1]);
        let found = agreement(&a, &b).unwrap();
        assert_eq!((found.share(), found.iou(0), found.iou(1), found.iou(2)), (0.5, Some(1.0), Some(0.0), Some(0.0)));
        assert_eq!(agreement(&b, &b).unwrap().iou(1), None);
    }
}
