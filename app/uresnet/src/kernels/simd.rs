//! The few vector operations that the kernels use, and their implementation without SIMD.

/// A vector instruction set.
///
/// # Safety
/// Every method requires that the processor supports the instructions; a pointer must be valid for `LANES` elements, or
/// one for `splat_from`.
pub(crate) trait Simd: Copy {
    /// `LANES` elements.
    type V: Copy;
    /// Elements of a vector.
    const LANES: usize;
    /// There are 32 registers, not 16, so blocks may have twice as many sums.
    const WIDE: bool;
    /// The code generator allocates registers less well, so blocks of sums must leave some free.
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
    /// All lanes of one are equal to those of the other.
    unsafe fn equal(a: Self::V, b: Self::V) -> bool;
    /// `a * b + c`, rounded once if the processor can.
    unsafe fn mul_add(a: Self::V, b: Self::V, c: Self::V) -> Self::V;

    /// One value in every lane.
    #[inline(always)]
    unsafe fn splat_from(from: *const f32) -> Self::V {
        // SAFETY: the caller's pointer is valid for one element.
        unsafe { Self::splat(*from) }
    }

    /// Leaky ReLU: the slope is below one, so the result is the larger of the value and its product with the slope.
    #[inline(always)]
    unsafe fn leaky(a: Self::V, slope: Self::V) -> Self::V {
        // SAFETY: the caller guarantees the instructions.
        unsafe { Self::max(a, Self::mul(a, slope)) }
    }
}

/// Arrays that the compiler may vectorise; runs everywhere.
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
        // SAFETY: the caller's pointer is valid for four elements; no alignment is assumed.
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
