//! The kernels: the only `unsafe` code of the crate.
//!
//! Maps are stored as NHWC, with a pixel's channels adjacent and padded with zeros to a multiple of [`BLOCK`], so that
//! a vector contains channels of one pixel and no kernel has a remainder loop over channels. Each kernel is written
//! once over the [`simd::Simd`] trait and compiled for each instruction set, in a function with the `target_feature`. A
//! [`Kernels`] is a table of such functions; it exists only if the processor was found to support the instructions, so
//! having one proves that calling them is sound.
#![allow(unsafe_code)]
// The loops over a block of registers have a constant bound and index several arrays; this lets them be unrolled.
#![allow(clippy::needless_range_loop)]

mod chain;
mod dense;
mod execute;
mod map;
mod memory;
mod peak;
mod rows;
mod simd;
mod winograd;

#[cfg(all(target_arch = "wasm32", feature = "simd128"))]
mod wasm32;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use chain::{Chain, Link};
pub(crate) use dense::{Dense, Segment};
pub(crate) use execute::{Job, Memories, Work, execute, scratch_of};
pub(crate) use map::{Form, Map, Packed, Source, Space};
pub(crate) use memory::Aligned;
pub(crate) use rows::{Blend, Sum};
pub(crate) use winograd::{Rows, Stages, Winograd, transform_weights};

/// Channels of a map are padded to a multiple of this.
pub(crate) const BLOCK: usize = 8;

/// The kernels of one instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// Name of the instruction set, for reports.
    pub(crate) name: &'static str,
    /// Elements of a vector.
    pub(crate) lanes: usize,
    /// Tiles that the Winograd kernel processes at once, a multiple of the number in its inner loops.
    pub(crate) tiles: usize,
    dense: unsafe fn(&Dense),
    winograd: Stages,
    pool: unsafe fn(&Blend),
    upsample: unsafe fn(&Blend),
    sum: unsafe fn(&Sum),
    peak: unsafe fn(usize) -> (u64, f32),
}

/// Builds the table of one instruction set from the generic kernels.
macro_rules! kernel_table {
    ($table:ident, $name:expr, $simd:ty, $(#[$feature:meta])?) => {
        const $table: $crate::kernels::Kernels = {
            use $crate::kernels::winograd::{self, Batch, Stages};
            use $crate::kernels::{Blend, Dense, Sum, Winograd, dense, peak, rows};
            // SAFETY of all: the owner of the table has detected the instructions, and the arguments have their own
            // contract.
            $(#[$feature])?
            unsafe fn run_dense(job: &Dense) {
                unsafe { dense::dense::<$simd>(job) }
            }
            $(#[$feature])?
            unsafe fn run_inputs(job: &Winograd, batch: &mut Batch) {
                unsafe { winograd::inputs::<$simd>(job, batch) }
            }
            $(#[$feature])?
            unsafe fn run_products(job: &Winograd, batch: &Batch) {
                unsafe { winograd::products::<$simd>(job, batch) }
            }
            $(#[$feature])?
            unsafe fn run_outputs(job: &Winograd, batch: &Batch) {
                unsafe { winograd::outputs::<$simd>(job, batch) }
            }
            $(#[$feature])?
            unsafe fn run_pool(job: &Blend) {
                unsafe { rows::pool::<$simd>(job) }
            }
            $(#[$feature])?
            unsafe fn run_upsample(job: &Blend) {
                unsafe { rows::upsample::<$simd>(job) }
            }
            $(#[$feature])?
            unsafe fn run_sum(job: &Sum) {
                unsafe { rows::sum::<$simd>(job) }
            }
            $(#[$feature])?
            unsafe fn run_peak(rounds: usize) -> (u64, f32) {
                unsafe { peak::peak::<$simd>(rounds) }
            }
            $crate::kernels::Kernels {
                name: $name,
                lanes: <$simd as $crate::kernels::simd::Simd>::LANES,
                tiles: if <$simd as $crate::kernels::simd::Simd>::WIDE { 16 } else { 12 },
                dense: run_dense,
                winograd: Stages { inputs: run_inputs, products: run_products, outputs: run_outputs },
                pool: run_pool,
                upsample: run_upsample,
                sum: run_sum,
                peak: run_peak,
            }
        };
    };
}
#[allow(unused_imports)] // by the modules of instruction sets, where this target has one
use kernel_table;

kernel_table!(PORTABLE, "portable", simd::Portable,);

impl Kernels {
    /// All sets of kernels that this machine supports, the plainest first. Modules built for downloading have one.
    pub(crate) fn all() -> Vec<Kernels> {
        let one = cfg!(all(target_arch = "wasm32", feature = "simd128", feature = "best-only"));
        #[allow(unused_mut)]
        let mut all = if one { Vec::new() } else { vec![PORTABLE] };
        #[cfg(target_arch = "x86_64")]
        all.extend([x86_64::avx2(), x86_64::avx512()].into_iter().flatten());
        #[cfg(all(target_arch = "wasm32", feature = "simd128"))]
        all.extend(wasm32::all());
        all
    }

    /// The processor's peak rate: see [`crate::peak`].
    pub(crate) fn peak(&self, rounds: usize) -> (u64, f32) {
        // SAFETY: the owner of the table has detected the instructions, and no memory is accessed.
        unsafe { (self.peak)(rounds) }
    }

    /// Whether maps of this many channels can be read or written a vector at a time.
    pub(crate) fn fits(&self, channels: usize) -> bool {
        channels.next_multiple_of(BLOCK).is_multiple_of(self.lanes)
    }
}
