//! Tiles whose inputs are all the same: detecting them, and writing a known output.

use super::{Place, Winograd};
use crate::kernels::simd::Simd;

/// The element before the cached inputs: whether there are any.
pub(super) const FLAG: usize = 16;

/// Whether all pixels of an inside tile's inputs are the same.
#[inline(always)]
pub(super) unsafe fn is_flat<S: Simd, const N: usize>(job: &Winograd, (image, row, column): Place) -> bool {
    // SAFETY: an inside tile has all its inputs within the map.
    unsafe {
        // The middle first: if there is a track, it is the most likely to differ.
        let first = job.from.pixel(image, row - 1, column - 1, job.inputs);
        let middle = job.from.pixel(image, row + 1, column + 1, job.inputs);
        if !S::equal(S::load(first), S::load(middle)) {
            return false;
        }
        for vector in 0..job.inputs / S::LANES {
            let expected = S::load(first.add(vector * S::LANES));
            for r in 0..N {
                let from = job.from.pixel(image, row + r - 1, column - 1, job.inputs).add(vector * S::LANES);
                for c in 0..N {
                    if !S::equal(S::load(from.add(c * job.inputs)), expected) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

/// Whether a flat tile's inputs are the cached ones.
#[inline(always)]
pub(super) unsafe fn is_remembered<S: Simd>(job: &Winograd, (image, row, column): Place) -> bool {
    // SAFETY: the tile is inside, and the memory contains the inputs after the flag.
    unsafe {
        let from = job.from.pixel(image, row, column, job.inputs);
        let mut same = *job.memory != 0.0;
        for vector in 0..job.inputs / S::LANES {
            let known = S::load(job.memory.add(FLAG + vector * S::LANES));
            same = same && S::equal(S::load(from.add(vector * S::LANES)), known);
        }
        same
    }
}

/// Writes the cached output everywhere.
#[inline(always)]
pub(super) unsafe fn repeat<S: Simd, const N: usize>(job: &Winograd, (image, row, column): Place) {
    let channels = job.vectors * S::LANES;
    // SAFETY: an inside tile has all its outputs within the map.
    unsafe {
        let slope = S::splat(job.slope);
        for r in 0..N - 2 {
            let from = job.memory.add(FLAG + job.inputs);
            let to = job.to.pixel(image, row + r, column, channels);
            let residual = match job.residual.base.is_null() {
                true => std::ptr::null_mut(),
                false => job.residual.pixel(image, row + r, column, channels),
            };
            for v in (0..channels).step_by(S::LANES) {
                let known = S::load(from.add(v));
                for i in (0..N - 2).map(|c| c * channels + v) {
                    let mut value = known;
                    if !residual.is_null() {
                        value = S::add(value, S::load(residual.add(i)));
                    }
                    S::store(to.add(i), S::leaky(value, slope));
                }
            }
        }
    }
}
