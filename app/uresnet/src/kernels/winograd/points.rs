//! Winograd's transforms: to values of polynomials at a few points, and back.

use crate::kernels::simd::Simd;

/// The points at which the 6-point transforms evaluate, in addition to zero and infinity: these and their negatives.
///
/// Six pairs were tried on five networks. On three of them this one was closest to PyTorch, two to three times as close
/// as the usual 1 and 2; on the other two those were about as good.
const NEAR: f64 = 0.625;
const FAR: f64 = 1.5;

/// The inputs of a row or column as values at the points.
#[inline(always)]
pub(super) unsafe fn input_points<S: Simd, const N: usize>(x: [S::V; N]) -> [S::V; N] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let mut y = x;
        if N == 4 {
            y[0] = S::sub(x[2], x[0]);
            y[1] = S::add(x[2], x[1]);
            y[2] = S::sub(x[2], x[1]);
            y[3] = S::sub(x[3], x[1]);
            return y;
        }
        const PRODUCT: f32 = (NEAR * NEAR * FAR * FAR) as f32;
        const SUM: f32 = (NEAR * NEAR + FAR * FAR) as f32;
        let (product, sum) = (S::splat(PRODUCT), S::splat(-SUM));
        let (near, far) = (S::splat(-(NEAR * NEAR) as f32), S::splat(-(FAR * FAR) as f32));
        y[0] = S::mul_add(x[0], product, S::mul_add(x[2], sum, x[4]));
        y[5] = S::mul_add(x[1], product, S::mul_add(x[3], sum, x[5]));
        let (even, odd) = (S::mul_add(x[2], far, x[4]), S::mul_add(x[1], far, x[3]));
        (y[1], y[2]) = both::<S>(even, odd, NEAR as f32);
        let (even, odd) = (S::mul_add(x[2], near, x[4]), S::mul_add(x[1], near, x[3]));
        (y[3], y[4]) = both::<S>(even, odd, FAR as f32);
        y
    }
}

/// `even + factor * odd` and `even - factor * odd`: the values at a point and its negative.
#[inline(always)]
unsafe fn both<S: Simd>(even: S::V, odd: S::V, factor: f32) -> (S::V, S::V) {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        if S::FUSED {
            (S::mul_add(odd, S::splat(factor), even), S::mul_add(odd, S::splat(-factor), even))
        } else {
            let odd = S::mul(odd, S::splat(factor));
            (S::add(even, odd), S::sub(even, odd))
        }
    }
}

/// From values at the points back to the outputs of a row or column: the first `N - 2` of the result.
#[inline(always)]
pub(super) unsafe fn output_points<S: Simd, const N: usize>(x: [S::V; N]) -> [S::V; 4] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let (sum, difference) = (S::add(x[1], x[2]), S::sub(x[1], x[2]));
        if N == 4 {
            return [S::add(x[0], sum), S::add(difference, x[3]), sum, sum];
        }
        let (far_sum, far_difference) = (S::add(x[3], x[4]), S::sub(x[3], x[4]));
        let near_1 = S::mul(difference, S::splat(NEAR as f32));
        let near_2 = S::mul(sum, S::splat((NEAR * NEAR) as f32));
        let near_3 = S::mul_add(difference, S::splat((NEAR * NEAR * NEAR) as f32), x[5]);
        [
            S::add(S::add(x[0], sum), far_sum),
            S::mul_add(far_difference, S::splat(FAR as f32), near_1),
            S::mul_add(far_sum, S::splat((FAR * FAR) as f32), near_2),
            S::mul_add(far_difference, S::splat((FAR * FAR * FAR) as f32), near_3),
        ]
    }
}

/// One 3x3 kernel at the frequencies of a tile of `size` outputs: `(size + 2)^2` values.
fn transform_kernel(kernel: &[f64], size: usize) -> Vec<f64> {
    // The points, and the weight of each: the inverse of the product of its distances from the others.
    let points: &[(f64, f64)] = if size == 2 {
        &[(0.0, -1.0), (1.0, 0.5), (-1.0, 0.5)]
    } else {
        const N2: f64 = NEAR * NEAR;
        const F2: f64 = FAR * FAR;
        const NEAR_WEIGHT: f64 = 1.0 / (2.0 * N2 * (N2 - F2));
        const FAR_WEIGHT: f64 = 1.0 / (2.0 * F2 * (F2 - N2));
        &[(0.0, 1.0 / (N2 * F2)), (NEAR, NEAR_WEIGHT), (-NEAR, NEAR_WEIGHT), (FAR, FAR_WEIGHT), (-FAR, FAR_WEIGHT)]
    };
    let values = |x: [f64; 3]| -> Vec<f64> {
        let finite = points.iter().map(|(p, weight)| weight * (x[0] + p * (x[1] + p * x[2])));
        finite.chain([x[2]]).collect()
    };
    let columns: Vec<Vec<f64>> = (0..3).map(|c| values([kernel[c], kernel[3 + c], kernel[6 + c]])).collect();
    (0..size + 2).flat_map(|r| values([columns[0][r], columns[1][r], columns[2][r]])).collect()
}

/// Packs 3x3 weights `[output][input][3][3]` as `[frequency][vector][input][lane]`, padded with zeros.
pub(crate) fn transform_weights(
    weights: &[f64],
    inputs: usize,
    padded_inputs: usize,
    vectors: usize,
    lanes: usize,
    size: usize,
) -> Vec<f32> {
    let frequencies = (size + 2) * (size + 2);
    let mut packed = vec![0.0; frequencies * vectors * padded_inputs * lanes];
    for (i, kernel) in weights.chunks_exact(9).enumerate() {
        let (output, input) = (i / inputs, i % inputs);
        for (frequency, value) in transform_kernel(kernel, size).into_iter().enumerate() {
            let row = (frequency * vectors + output / lanes) * padded_inputs + input;
            packed[row * lanes + output % lanes] = value as f32;
        }
    }
    packed
}
