//! AVX2 with FMA, and AVX-512.

use std::arch::x86_64::*;

use super::simd::Simd;
use super::{Kernels, kernel_table};

/// The kernels with 8 lanes, if the processor has AVX2 and FMA.
pub(crate) fn avx2() -> Option<Kernels> {
    (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(AVX2)
}

/// The kernels with 16 lanes, if the processor has AVX-512.
pub(crate) fn avx512() -> Option<Kernels> {
    is_x86_feature_detected!("avx512f").then_some(AVX512)
}

macro_rules! intrinsics {
    ($name:ident, $vector:ty, $lanes:literal, $wide:literal, $set1:ident, $load:ident, $store:ident, $add:ident,
     $sub:ident, $mul:ident, $max:ident, $fma:ident, |$a:ident, $b:ident| $equal:expr) => {
        #[derive(Clone, Copy)]
        struct $name;

        // SAFETY of every block: the trait's contract is that of the intrinsics: the instructions are supported and the
        // pointers are valid for a vector; unaligned forms are used.
        impl Simd for $name {
            type V = $vector;
            const LANES: usize = $lanes;
            const WIDE: bool = $wide;
            const FUSED: bool = true;
            #[inline(always)]
            unsafe fn splat(value: f32) -> Self::V {
                unsafe { $set1(value) }
            }
            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self::V {
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(to: *mut f32, value: Self::V) {
                unsafe { $store(to, value) }
            }
            #[inline(always)]
            unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            unsafe fn sub(a: Self::V, b: Self::V) -> Self::V {
                unsafe { $sub(a, b) }
            }
            #[inline(always)]
            unsafe fn mul(a: Self::V, b: Self::V) -> Self::V {
                unsafe { $mul(a, b) }
            }
            #[inline(always)]
            unsafe fn max(a: Self::V, b: Self::V) -> Self::V {
                unsafe { $max(a, b) }
            }
            #[inline(always)]
            unsafe fn equal($a: Self::V, $b: Self::V) -> bool {
                unsafe { $equal }
            }
            #[inline(always)]
            unsafe fn mul_add(a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                unsafe { $fma(a, b, c) }
            }
        }
    };
}

intrinsics!(
    Avx2,
    __m256,
    8,
    false,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    _mm256_max_ps,
    _mm256_fmadd_ps,
    |a, b| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b)) == 0xff
);
intrinsics!(
    Avx512,
    __m512,
    16,
    true,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_max_ps,
    _mm512_fmadd_ps,
    |a, b| _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b) == 0xffff
);

kernel_table!(AVX2, "avx2", Avx2, #[target_feature(enable = "avx2,fma")]);
kernel_table!(AVX512, "avx512", Avx512, #[target_feature(enable = "avx512f,avx2,fma")]);
