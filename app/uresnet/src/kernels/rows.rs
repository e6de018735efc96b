//! Rows computed from rows: pooling, interpolation, sums.

use super::simd::Simd;

/// One output row computed from two rows of a map.
///
/// `upper` and `lower` are valid for `from_width` pixels of `channels` elements, `to` for all output pixels.
pub(crate) struct Blend {
    pub(crate) upper: *const f32,
    pub(crate) lower: *const f32,
    /// Pixels of the two rows.
    pub(crate) from_width: usize,
    /// Elements per pixel, a multiple of the lanes.
    pub(crate) channels: usize,
    /// Weight of the lower row, when interpolating.
    pub(crate) share: f32,
    pub(crate) to: *mut f32,
    /// As in [`super::Dense`], when interpolating.
    pub(crate) slope: f32,
}

/// `to = from + other`, `length` elements, a multiple of the lanes; `other` is null for a copy. May be in place.
pub(crate) struct Sum {
    pub(crate) from: *const f32,
    pub(crate) other: *const f32,
    pub(crate) to: *mut f32,
    pub(crate) length: usize,
}

/// The maximum of each 2x2.
///
/// # Safety
/// The processor supports `S`'s instructions, and the job's pointers satisfy [`Blend`]'s contract.
#[inline(always)]
pub(crate) unsafe fn pool<S: Simd>(job: &Blend) {
    for x in 0..job.from_width / 2 {
        for c in (0..job.channels).step_by(S::LANES) {
            let (left, right) = (2 * x * job.channels + c, (2 * x + 1) * job.channels + c);
            // SAFETY: both columns are within `from_width`, the output within its half.
            unsafe {
                let upper = S::max(S::load(job.upper.add(left)), S::load(job.upper.add(right)));
                let lower = S::max(S::load(job.lower.add(left)), S::load(job.lower.add(right)));
                S::store(job.to.add(x * job.channels + c), S::max(upper, lower));
            }
        }
    }
}

/// Twice the pixels, with linear interpolation between rows and columns, where pixels are areas.
///
/// # Safety
/// The processor supports `S`'s instructions, and the job's pointers satisfy [`Blend`]'s contract.
#[inline(always)]
pub(crate) unsafe fn upsample<S: Simd>(job: &Blend) {
    // SAFETY: columns are clamped to `from_width`, outputs are below its double.
    unsafe {
        let (quarter, most) = (S::splat(0.25), S::splat(0.75));
        let (share, rest, slope) = (S::splat(job.share), S::splat(1.0 - job.share), S::splat(job.slope));
        for c in (0..job.channels).step_by(S::LANES) {
            let mut left = between::<S>(job, c, share, rest);
            let mut here = left;
            for x in 0..job.from_width {
                let right = between::<S>(job, (x + 1).min(job.from_width - 1) * job.channels + c, share, rest);
                let part = S::mul(here, most);
                let to = job.to.add(2 * x * job.channels + c);
                S::store(to, S::leaky(S::mul_add(left, quarter, part), slope));
                S::store(to.add(job.channels), S::leaky(S::mul_add(right, quarter, part), slope));
                (left, here) = (here, right);
            }
        }
    }
}

/// The vector at a position of both rows, with linear interpolation.
///
/// # Safety
/// As for [`upsample`]; the position is within the rows.
#[inline(always)]
unsafe fn between<S: Simd>(job: &Blend, at: usize, share: S::V, rest: S::V) -> S::V {
    // SAFETY: the caller's position is within the rows.
    unsafe { S::mul_add(S::load(job.upper.add(at)), rest, S::mul(S::load(job.lower.add(at)), share)) }
}

/// # Safety
/// The processor supports `S`'s instructions, and the job's pointers satisfy [`Sum`]'s contract.
#[inline(always)]
pub(crate) unsafe fn sum<S: Simd>(job: &Sum) {
    for i in (0..job.length).step_by(S::LANES) {
        // SAFETY: `i` is below `length`.
        unsafe {
            let mut value = S::load(job.from.add(i));
            if !job.other.is_null() {
                value = S::add(value, S::load(job.other.add(i)));
            }
            S::store(job.to.add(i), value);
        }
    }
}
