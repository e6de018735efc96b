//! The products of all frequencies: most of the network's arithmetic.

use super::{Winograd, input_step, output_step};
use crate::kernels::simd::Simd;

/// Multiplies at one frequency for `V` vectors of outputs, `P` tiles at a time and fewer at the end; returns `V`.
#[inline(always)]
pub(super) unsafe fn multiply_all<S: Simd, const V: usize, const P: usize, const HALF: usize, const QUARTER: usize>(
    job: &Winograd,
    frequency: usize,
    count: usize,
    vector: usize,
) -> usize {
    let (from_step, to_step) = (input_step(job.inputs, job.batch), output_step(job.vectors * S::LANES, job.batch));
    let frequencies = (job.size + 2) * (job.size + 2);
    // SAFETY: the scratch contains every frequency of a batch's inputs and then of its outputs; the batch is a multiple
    // of P, so the last block's tiles beyond `count` exist too, and are computed but not used.
    unsafe {
        let weights = job.weights.add((frequency * job.vectors + vector) * job.inputs * S::LANES);
        let from = job.scratch.add(frequency * from_step);
        let to = job.scratch.add(frequencies * from_step + frequency * to_step + vector * S::LANES);
        let mut tile = 0;
        while tile < count {
            let (from, to) = (from.add(tile * S::LANES), to.add(tile * job.vectors * S::LANES));
            let left = count - tile;
            tile += if left > HALF {
                multiply::<S, V, P>(job, from, weights, to)
            } else if left > QUARTER {
                multiply::<S, V, HALF>(job, from, weights, to)
            } else {
                multiply::<S, V, QUARTER>(job, from, weights, to)
            };
        }
    }
    V
}

/// `P` tiles and `V` vectors of outputs at one frequency: sums over all inputs, kept in registers. Returns `P`.
#[inline(always)]
unsafe fn multiply<S: Simd, const V: usize, const P: usize>(
    job: &Winograd,
    from: *const f32,
    weights: *const f32,
    to: *mut f32,
) -> usize {
    // SAFETY: `from` contains `[input vector][tile][lane]`, `weights` `[vector][input][lane]`, `to`
    // `[tile][vector][lane]`.
    unsafe {
        let mut sums = [[S::splat(0.0); V]; P];
        for vector in 0..job.inputs / S::LANES {
            let from = from.add(vector * job.batch * S::LANES);
            let weights = weights.add(vector * S::LANES * S::LANES);
            for lane in 0..S::LANES {
                let mut w = [S::splat(0.0); V];
                for v in 0..V {
                    w[v] = S::load(weights.add((v * job.inputs + lane) * S::LANES));
                }
                for p in 0..P {
                    let value = S::splat_from(from.add(p * S::LANES + lane));
                    for v in 0..V {
                        sums[p][v] = S::mul_add(value, w[v], sums[p][v]);
                    }
                }
            }
        }
        for p in 0..P {
            for v in 0..V {
                S::store(to.add((p * job.vectors + v) * S::LANES), sums[p][v]);
            }
        }
    }
    P
}
