//! SIMD128, and relaxed SIMD with its fused multiply-add.
//!
//! A module can't detect what its browser supports: one that contains an unknown instruction is rejected as a whole. So
//! the choice is made by the crate's features `simd128` and `relaxed-simd` when the module is built, and the page loads
//! the module that its browser accepts.

use std::arch::wasm32::*;

use super::simd::Simd;
use super::{Kernels, kernel_table};

/// The kernels this module is built with, the plainest first.
pub(crate) fn all() -> Vec<Kernels> {
    #[cfg(feature = "relaxed-simd")]
    {
        if cfg!(feature = "best-only") { vec![RELAXED_SIMD] } else { vec![SIMD128, RELAXED_SIMD] }
    }
    #[cfg(not(feature = "relaxed-simd"))]
    {
        vec![SIMD128]
    }
}

macro_rules! instructions {
    ($name:ident, $fused:literal, |$x:ident, $y:ident, $z:ident| $mul_add:expr) => {
        #[derive(Clone, Copy)]
        struct $name;

        // SAFETY of every block: the trait's contract covers the pointers. The instructions are safe on wasm32, as a
        // module with unknown ones is never run.
        impl Simd for $name {
            type V = v128;
            const LANES: usize = 4;
            const WIDE: bool = false;
            const SPARE: bool = true;
            const FUSED: bool = $fused;
            #[inline(always)]
            unsafe fn splat(value: f32) -> v128 {
                f32x4_splat(value)
            }
            #[inline(always)]
            unsafe fn splat_from(from: *const f32) -> v128 {
                unsafe { v128_load32_splat(from.cast()) }
            }
            #[inline(always)]
            unsafe fn load(from: *const f32) -> v128 {
                unsafe { v128_load(from.cast()) }
            }
            #[inline(always)]
            unsafe fn store(to: *mut f32, value: v128) {
                unsafe { v128_store(to.cast(), value) }
            }
            #[inline(always)]
            unsafe fn add(a: v128, b: v128) -> v128 {
                f32x4_add(a, b)
            }
            #[inline(always)]
            unsafe fn sub(a: v128, b: v128) -> v128 {
                f32x4_sub(a, b)
            }
            #[inline(always)]
            unsafe fn mul(a: v128, b: v128) -> v128 {
                f32x4_mul(a, b)
            }
            #[inline(always)]
            unsafe fn max(a: v128, b: v128) -> v128 {
                // `b < a ? a : b` is one instruction on x86; `f32x4_max` takes several for NaN and signed zeros.
                f32x4_pmax(b, a)
            }
            #[inline(always)]
            unsafe fn equal(a: v128, b: v128) -> bool {
                i32x4_all_true(f32x4_eq(a, b))
            }
            #[inline(always)]
            unsafe fn mul_add($x: v128, $y: v128, $z: v128) -> v128 {
                $mul_add
            }
        }
    };
}

instructions!(Simd128, false, |a, b, c| f32x4_add(f32x4_mul(a, b), c));
#[cfg(feature = "relaxed-simd")]
instructions!(RelaxedSimd, true, |a, b, c| f32x4_relaxed_madd(a, b, c));

kernel_table!(SIMD128, "simd128", Simd128, #[target_feature(enable = "simd128")]);
#[cfg(feature = "relaxed-simd")]
kernel_table!(RELAXED_SIMD, "relaxed-simd", RelaxedSimd, #[target_feature(enable = "simd128,relaxed-simd")]);
