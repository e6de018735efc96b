//! A row of outputs as sums over contiguous inputs: 1x1 and 5x5 convolutions, strides, several sources at once.

use super::simd::Simd;

/// Inputs that are contiguous for each pixel: a kernel row of a convolution, or the channels of a map.
#[derive(Clone, Copy)]
pub(crate) struct Segment {
    /// The first input of pixel 0.
    pub(crate) from: *const f32,
    /// Elements from one output pixel's inputs to the next one's.
    pub(crate) step: usize,
    /// Inputs in the segment.
    pub(crate) length: usize,
    /// Offset of the first input in the packed weights.
    pub(crate) weight: usize,
}

/// `pixels` outputs of a row, all channels.
///
/// For each pixel `x` and segment `s`, `s.from + x * s.step` must be valid for `s.length` elements; `to` and `residual`
/// for `vectors` vectors at each multiple of their steps; `weights` for `vectors * inputs` vectors.
pub(crate) struct Dense<'a> {
    pub(crate) segments: &'a [Segment],
    pub(crate) pixels: usize,
    /// `[vector][input][lane]`.
    pub(crate) weights: *const f32,
    /// Inputs per vector of the weights.
    pub(crate) inputs: usize,
    /// Vectors of output channels.
    pub(crate) vectors: usize,
    pub(crate) bias: *const f32,
    pub(crate) to: *mut f32,
    pub(crate) to_step: usize,
    /// Added before activation; null for none. May be `to` itself.
    pub(crate) residual: *const f32,
    pub(crate) residual_step: usize,
    /// The factor for negative values; 1 for no activation.
    pub(crate) slope: f32,
}

/// # Safety
/// The processor supports `S`'s instructions, and the job's pointers satisfy [`Dense`]'s contract.
#[inline(always)]
pub(crate) unsafe fn dense<S: Simd>(job: &Dense) {
    let mut first = 0;
    while first < job.vectors {
        // Three vectors of outputs share one load of an input; four are two pairs. SAFETY: the vectors are within
        // `job.vectors`.
        unsafe {
            match (job.vectors - first, S::WIDE) {
                (1, _) => {
                    columns::<S, 1, 8>(job, first);
                    first += 1;
                }
                (2 | 4, true) => {
                    columns::<S, 2, 8>(job, first);
                    first += 2;
                }
                (2 | 4, false) => {
                    if S::SPARE {
                        columns::<S, 2, 4>(job, first);
                    } else {
                        columns::<S, 2, 6>(job, first);
                    }
                    first += 2;
                }
                (_, true) => {
                    columns::<S, 3, 8>(job, first);
                    first += 3;
                }
                (_, false) => {
                    if S::SPARE {
                        columns::<S, 3, 3>(job, first);
                    } else {
                        columns::<S, 3, 4>(job, first);
                    }
                    first += 3;
                }
            }
        }
    }
}

/// All pixels for `N` vectors of outputs, `P` pixels at a time.
#[inline(always)]
unsafe fn columns<S: Simd, const N: usize, const P: usize>(job: &Dense, first: usize) {
    let mut x = 0;
    // SAFETY: the blocks stay within `job.pixels`.
    unsafe {
        while x + P <= job.pixels {
            block::<S, N, P>(job, first, x);
            x += P;
        }
        while x + 2 <= job.pixels {
            block::<S, N, 2>(job, first, x);
            x += 2;
        }
        if x < job.pixels {
            block::<S, N, 1>(job, first, x);
        }
    }
}

#[inline(always)]
unsafe fn block<S: Simd, const N: usize, const P: usize>(job: &Dense, first: usize, x: usize) {
    // SAFETY: `Dense` guarantees that the offsets are valid for pixels `x..x + P` and vectors `first..first + N`.
    unsafe {
        let mut start = [S::splat(0.0); N];
        for n in 0..N {
            start[n] = S::load(job.bias.add((first + n) * S::LANES));
        }
        let mut sums = [start; P];
        for segment in job.segments {
            let from = segment.from.add(x * segment.step);
            let weights = job.weights.add((first * job.inputs + segment.weight) * S::LANES);
            for i in 0..segment.length {
                let mut w = start;
                for n in 0..N {
                    w[n] = S::load(weights.add((n * job.inputs + i) * S::LANES));
                }
                for p in 0..P {
                    let value = S::splat_from(from.add(p * segment.step + i));
                    for n in 0..N {
                        sums[p][n] = S::mul_add(value, w[n], sums[p][n]);
                    }
                }
            }
        }
        let slope = S::splat(job.slope);
        for p in 0..P {
            for n in 0..N {
                let mut sum = sums[p][n];
                if !job.residual.is_null() {
                    let residual = job.residual.add((x + p) * job.residual_step + (first + n) * S::LANES);
                    sum = S::add(sum, S::load(residual));
                }
                S::store(job.to.add((x + p) * job.to_step + (first + n) * S::LANES), S::leaky(sum, slope));
            }
        }
    }
}
