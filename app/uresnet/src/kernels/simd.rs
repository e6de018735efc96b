//! The few vector operations the kernels are written in, and their form without SIMD.

/// A set of vector instructions.
///
/// # Safety
/// Every method asks that the processor has the set's instructions; a pointer must be good for `LANES` numbers, or one
/// for `splat_from`.
pub(crate) trait Simd: Copy {
    /// `LANES` numbers.
    type V: Copy;
    /// Numbers in a vector.
    const LANES: usize;
    /// There are 32 registers, not 16, so blocks may hold twice as many sums.
    const WIDE: bool;
    /// The compiler behind this one allocates registers less well, so blocks of sums must leave some over.
    const SPARE: bool = false;
    /// `mul_add` is one instruction.
    const FUSED: bool;

    unsafe fn splat(value: f32) -> Self::V;
    unsafe fn load(from: *const f32) -> Self::V;
    unsafe fn store(to: *mut f32, value: Self::V);
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sub(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mul(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V;
    /// Every lane of one equals that of the other.
    unsafe fn equal(a: Self::V, b: Self::V) -> bool;
    /// `a * b + c`, rounded once where the processor can.
    unsafe fn mul_add(a: Self::V, b: Self::V, c: Self::V) -> Self::V;

    /// One number in every lane.
    #[inline(always)]
    unsafe fn splat_from(from: *const f32) -> Self::V {
        // SAFETY: the caller's pointer is good for one number.
        unsafe { Self::splat(*from) }
    }

    /// Leaky ReLU: the slope is below one, so the larger of the number and its share is the answer.
    #[inline(always)]
    unsafe fn leaky(a: Self::V, slope: Self::V) -> Self::V {
        // SAFETY: the caller vouches for the instructions.
        unsafe { Self::max(a, Self::mul(a, slope)) }
    }
}

/// Arrays that the compiler may vectorise as it can; runs everywhere.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Simd for Portable {
    type V = [f32; 4];
    const LANES: usize = 4;
    const WIDE: bool = false;
    const FUSED: bool = false;

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self::V {
        [value; 4]
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::V {
        // SAFETY: the caller's pointer is good for four numbers; no alignment is assumed.
        unsafe { from.cast::<[f32; 4]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, value: Self::V) {
        // SAFETY: as for `load`.
        unsafe { to.cast::<[f32; 4]>().write_unaligned(value) }
    }
    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|i| a[i] + b[i])
    }
    #[inline(always)]
    unsafe fn sub(a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|i| a[i] - b[i])
    }
    #[inline(always)]
    unsafe fn mul(a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|i| a[i] * b[i])
    }
    #[inline(always)]
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    unsafe fn equal(a: Self::V, b: Self::V) -> bool {
        a == b
    }
    #[inline(always)]
    unsafe fn mul_add(a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        std::array::from_fn(|i| a[i] * b[i] + c[i])
    }
}
