//! SIMD128, and relaxed SIMD where the module is built for it.
//!
//! A module can't ask what its browser knows: one that holds an unknown instruction is refused as a whole. So the
//! choice is made at build time, by `-C target-feature=+simd128` or `+simd128,+relaxed-simd`, and the page loads the
//! module its browser takes.

use std::arch::wasm32::*;

use super::simd::Simd;
use super::{Kernels, kernel_table};

/// The kernels of the instructions this module is built with.
pub(crate) fn simd128() -> Option<Kernels> {
    Some(SIMD128)
}

#[derive(Clone, Copy)]
struct Simd128;

// SAFETY of every block: the module holds these instructions or would not have been loaded, and the trait's contract
// covers the pointers.
impl Simd for Simd128 {
    type V = v128;
    const LANES: usize = 4;
    const WIDE: bool = false;
    const SPARE: bool = true;
    const FUSED: bool = cfg!(target_feature = "relaxed-simd");
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
    #[cfg(target_feature = "relaxed-simd")]
    #[inline(always)]
    unsafe fn mul_add(a: v128, b: v128, c: v128) -> v128 {
        f32x4_relaxed_madd(a, b, c)
    }
    #[cfg(not(target_feature = "relaxed-simd"))]
    #[inline(always)]
    unsafe fn mul_add(a: v128, b: v128, c: v128) -> v128 {
        f32x4_add(f32x4_mul(a, b), c)
    }
}

kernel_table!(SIMD128, if cfg!(target_feature = "relaxed-simd") { "relaxed-simd" } else { "simd128" }, Simd128,);
