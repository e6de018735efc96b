//! The peak multiply-add rate of an instruction set, with which the kernels' speed is compared.

use super::simd::Simd;

/// Multiplies and adds in registers, in enough sums to hide the latency; returns the number of operations and a value
/// that depends on all of them.
///
/// # Safety
/// The processor supports `S`'s instructions.
#[inline(always)]
pub(crate) unsafe fn peak<S: Simd>(rounds: usize) -> (u64, f32) {
    // SAFETY: the caller guarantees the instructions; the store has an array of sixteen elements, the longest vector.
    unsafe { if S::WIDE { sums::<S, 24>(rounds) } else { sums::<S, 10>(rounds) } }
}

#[inline(always)]
unsafe fn sums<S: Simd, const N: usize>(rounds: usize) -> (u64, f32) {
    // SAFETY: as for [`peak`].
    unsafe {
        // Each sum is multiplied, so that if the two operations are two instructions, neither is moved out of the loop.
        // The sums converge near one, far from denormal numbers.
        let (factor, term) = (S::splat(0.75), S::splat(0.25));
        let mut sums = [S::splat(0.5); N];
        for _ in 0..rounds {
            for i in 0..N {
                sums[i] = S::mul_add(sums[i], factor, term);
            }
        }
        let mut total = sums[0];
        for i in 1..N {
            total = S::add(total, sums[i]);
        }
        let mut lanes = [0.0; 16];
        S::store(lanes.as_mut_ptr(), total);
        ((2 * rounds * N * S::LANES) as u64, lanes[0])
    }
}
