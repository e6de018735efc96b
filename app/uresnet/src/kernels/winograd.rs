//! 3x3 convolutions with stride 1 by Winograd's method.
//!
//! A tile of 4x4 outputs needs 6x6 inputs. Both are treated as values of polynomials: the inputs are transformed to 36
//! values per channel, each of which is multiplied by one transformed weight per pair of channels, and the sums are
//! transformed back. That is 36 products for 16 outputs, compared with 144 by the definition. The cost is rounding: the
//! transforms add values of different magnitude. Tiles of 2x2 outputs need 16 products instead of 36 and round less.
//!
//! The kernel takes a batch of tiles through all three stages while their values stay in the cache.
//!
//! Most of an image is background, and after the first layers most tiles of it still are: all pixels of their inputs
//! are the same. The outputs of such a tile are all the same too except for rounding, so one is computed and used for
//! all, which keeps the tile flat for the next layer; and it is cached, so that the next tile with these inputs skips
//! all three stages. The order of the tiles does not change any bit.

mod flat;
mod points;
mod sums;

use super::simd::Simd;
use flat::{FLAG, is_flat, is_remembered, repeat};
pub(crate) use points::transform_weights;
use points::{input_points, output_points};
use sums::multiply_all;

/// Rows of pixels: a map, or a ring that contains the latest rows of one.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// The first element of the first image; null if there are no rows.
    pub(crate) base: *mut f32,
    /// Elements from one image to the next.
    pub(crate) image_step: usize,
    /// Elements from one row to the next.
    pub(crate) row_step: usize,
    /// Added to a row's number, with wrapping, before it is looked up.
    pub(crate) shift: usize,
    /// Number of rows; the one after the last is the first again.
    pub(crate) ring: usize,
    /// The column that is stored first in a row.
    pub(crate) first_column: usize,
}

impl Rows {
    /// No rows.
    pub(crate) const NONE: Rows =
        Rows { base: std::ptr::null_mut(), image_step: 0, row_step: 0, shift: 0, ring: 0, first_column: 0 };

    /// # Safety
    /// The pixel is one of those stored.
    #[inline(always)]
    unsafe fn pixel(&self, image: usize, row: usize, column: usize, channels: usize) -> *mut f32 {
        let row = row.wrapping_add(self.shift);
        let row = if row >= self.ring { row - self.ring } else { row };
        // SAFETY: the caller's pixel is stored, so the offset is within the memory.
        unsafe {
            self.base.add(image * self.image_step + row * self.row_step + (column - self.first_column) * channels)
        }
    }
}

/// Tiles `first..end` of maps of `height x width` pixels, counted image by image and row by row.
///
/// `from` contains every pixel of the tiles' inputs that is in the map, `to` and `residual` those of their outputs.
/// Pixels of `from` have `inputs` elements, a multiple of the lanes; the others `vectors * LANES`. `weights` is the
/// result of [`transform_weights`]. `scratch` has room for [`Winograd::scratch`] elements.
pub(crate) struct Winograd {
    pub(crate) from: Rows,
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Elements of an input pixel.
    pub(crate) inputs: usize,
    /// `[frequency][vector][input][lane]`.
    pub(crate) weights: *const f32,
    pub(crate) bias: *const f32,
    /// Vectors of output channels.
    pub(crate) vectors: usize,
    pub(crate) to: Rows,
    /// Added before activation. May be `to` itself.
    pub(crate) residual: Rows,
    /// As in [`super::Dense`].
    pub(crate) slope: f32,
    /// Output rows and columns of a tile: 2 or 4.
    pub(crate) size: usize,
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// Tiles of a batch, a multiple of the kernels' `tiles`.
    pub(crate) batch: usize,
    pub(crate) scratch: *mut f32,
    /// The output of the last tile whose inputs were all the same: it has room for [`Winograd::memory`] elements, and
    /// the first of them is zero as long as there is no output. It belongs to one set of weights.
    pub(crate) memory: *mut f32,
}

/// Image, first output row and first output column of a tile.
type Place = (usize, usize, usize);

impl Winograd {
    /// The largest batch.
    pub(crate) const BATCH: usize = u32::BITS as usize;

    /// Elements for caching one tile.
    pub(crate) fn memory(inputs: usize, outputs: usize) -> usize {
        (FLAG + inputs + outputs).next_multiple_of(16)
    }

    /// Elements of scratch memory for a batch: its inputs and outputs at every frequency, and one half-transformed
    /// tile.
    pub(crate) fn scratch(size: usize, batch: usize, inputs: usize, outputs: usize) -> usize {
        let frequencies = (size + 2) * (size + 2);
        // A tile's vector has at most sixteen lanes.
        frequencies * (input_step(inputs, batch) + output_step(outputs, batch) + 16)
    }

    /// The location of the half-transformed tile.
    ///
    /// # Safety
    /// The job satisfies [`Winograd`]'s contract, for vectors of `lanes` elements.
    #[inline(always)]
    unsafe fn half(&self, lanes: usize) -> *mut f32 {
        let frequencies = (self.size + 2) * (self.size + 2);
        // SAFETY: `scratch` includes it, after the inputs and outputs.
        unsafe {
            self.scratch.add(
                frequencies * (input_step(self.inputs, self.batch) + output_step(self.vectors * lanes, self.batch)),
            )
        }
    }
}

/// Elements from one frequency to the next, a cache line more than needed so that they are in different sets.
fn input_step(inputs: usize, batch: usize) -> usize {
    inputs * batch + 16
}

fn output_step(outputs: usize, batch: usize) -> usize {
    outputs * batch + 16
}

/// The tiles being computed.
pub(crate) struct Batch {
    /// The next tile.
    next: usize,
    /// Tiles in the batch.
    count: usize,
    places: [Place; Winograd::BATCH],
    /// Those that are flat, as a bit each.
    flat: u32,
}

/// The three stages, each compiled separately: a single function would be more than a browser's compiler handles well.
#[derive(Clone, Copy)]
pub(crate) struct Stages {
    pub(crate) inputs: unsafe fn(&Winograd, &mut Batch),
    pub(crate) products: unsafe fn(&Winograd, &Batch),
    pub(crate) outputs: unsafe fn(&Winograd, &Batch),
}

impl Stages {
    /// # Safety
    /// The processor supports the stages' instructions, and the job's pointers satisfy [`Winograd`]'s contract.
    pub(crate) unsafe fn run(&self, job: &Winograd) {
        let mut batch = Batch { next: job.first, count: 0, places: [(0, 0, 0); Winograd::BATCH], flat: 0 };
        while batch.next < job.end {
            // SAFETY: the caller's contract is passed on.
            unsafe {
                (self.inputs)(job, &mut batch);
                if batch.count > 0 {
                    (self.products)(job, &batch);
                    (self.outputs)(job, &batch);
                }
            }
        }
    }
}

/// Collects the next tiles that have to be computed, up to a batch.
///
/// # Safety
/// The processor supports `S`'s instructions, and the job's pointers satisfy [`Winograd`]'s contract; likewise below.
#[inline(always)]
pub(crate) unsafe fn inputs<S: Simd>(job: &Winograd, batch: &mut Batch) {
    // SAFETY: the caller's contract is passed on; likewise below.
    unsafe {
        match job.size {
            2 => take::<S, 4>(job, batch),
            _ => take::<S, 6>(job, batch),
        }
    }
}

/// Multiplies at every frequency.
#[inline(always)]
pub(crate) unsafe fn products<S: Simd>(job: &Winograd, batch: &Batch) {
    let frequencies = (job.size + 2) * (job.size + 2);
    for frequency in 0..frequencies {
        let mut vector = 0;
        while vector < job.vectors {
            // SAFETY: the vectors are below `job.vectors`.
            vector += unsafe {
                match (job.vectors - vector, S::WIDE) {
                    (1, true) => multiply_all::<S, 1, 16, 8, 4>(job, frequency, batch.count, vector),
                    (1, false) => multiply_all::<S, 1, 12, 6, 3>(job, frequency, batch.count, vector),
                    (2 | 4, true) => multiply_all::<S, 2, 8, 4, 2>(job, frequency, batch.count, vector),
                    (2 | 4, false) if S::SPARE => multiply_all::<S, 2, 4, 2, 1>(job, frequency, batch.count, vector),
                    (2 | 4, false) => multiply_all::<S, 2, 6, 3, 1>(job, frequency, batch.count, vector),
                    (_, true) => multiply_all::<S, 3, 8, 4, 2>(job, frequency, batch.count, vector),
                    (_, false) if S::SPARE => multiply_all::<S, 3, 3, 2, 1>(job, frequency, batch.count, vector),
                    (_, false) => multiply_all::<S, 3, 4, 2, 1>(job, frequency, batch.count, vector),
                }
            };
        }
    }
}

/// Transforms back, and caches a flat tile.
#[inline(always)]
pub(crate) unsafe fn outputs<S: Simd>(job: &Winograd, batch: &Batch) {
    unsafe {
        match job.size {
            2 => finish::<S, 4>(job, batch),
            _ => finish::<S, 6>(job, batch),
        }
    }
}

#[inline(always)]
unsafe fn take<S: Simd, const N: usize>(job: &Winograd, batch: &mut Batch) {
    (batch.count, batch.flat) = (0, 0);
    while batch.next < job.end && batch.count < job.batch {
        let place = place(job, batch.next);
        batch.next += 1;
        let (_, row, column) = place;
        let inside = row >= 1 && column >= 1 && row + N - 1 <= job.height && column + N - 1 <= job.width;
        // SAFETY: the tile is below `job.end`, and its index in the batch below the batch's length.
        unsafe {
            if inside && is_flat::<S, N>(job, place) {
                if is_remembered::<S>(job, place) {
                    repeat::<S, N>(job, place);
                    continue;
                }
                batch.flat |= 1 << batch.count;
            }
            transform_inputs::<S, N>(job, place, inside, batch.count);
        }
        batch.places[batch.count] = place;
        batch.count += 1;
    }
}

#[inline(always)]
unsafe fn finish<S: Simd, const N: usize>(job: &Winograd, batch: &Batch) {
    // SAFETY: the tiles are those of the batch.
    unsafe {
        for slot in 0..batch.count {
            if batch.flat >> slot & 1 == 0 {
                transform_back::<S, N, false>(job, batch.places[slot], slot);
            } else {
                transform_back::<S, N, true>(job, batch.places[slot], slot);
                repeat::<S, N>(job, batch.places[slot]);
            }
        }
    }
}

#[inline(always)]
fn place(job: &Winograd, tile: usize) -> Place {
    let (rows, columns) = (job.height.div_ceil(job.size), job.width.div_ceil(job.size));
    (tile / (rows * columns), tile / columns % rows * job.size, tile % columns * job.size)
}

/// Fills scratch with `[frequency][input vector][tile][lane]`.
#[inline(always)]
unsafe fn transform_inputs<S: Simd, const N: usize>(
    job: &Winograd,
    (image, row, column): Place,
    inside: bool,
    slot: usize,
) {
    for vector in 0..job.inputs / S::LANES {
        // SAFETY: the tile is one of the map's; the scratch has room for all tiles of a batch.
        unsafe {
            let to = job.scratch.add((vector * job.batch + slot) * S::LANES);
            if inside {
                transform_tile::<S, N, true>(job, image, row, column, vector * S::LANES, to);
            } else {
                transform_tile::<S, N, false>(job, image, row, column, vector * S::LANES, to);
            }
        }
    }
}

#[inline(always)]
unsafe fn transform_tile<S: Simd, const N: usize, const INSIDE: bool>(
    job: &Winograd,
    image: usize,
    row: usize,
    column: usize,
    channel: usize,
    to: *mut f32,
) {
    // SAFETY: an inside tile has all its inputs within the map; of others only those within are read.
    unsafe {
        let zero = S::splat(0.0);
        let first = column.saturating_sub(1);
        let mut from = [std::ptr::null(); N];
        for r in 0..N {
            if INSIDE || within(row + r, job.height) {
                from[r] = job.from.pixel(image, row + r - 1, first, job.inputs).add(channel).cast_const();
            }
        }
        let half = job.half(S::LANES);
        for c in 0..N {
            let mut x = [zero; N];
            for r in 0..N {
                if INSIDE || within(row + r, job.height) && within(column + c, job.width) {
                    x[r] = S::load(from[r].add((column + c - 1 - first) * job.inputs));
                }
            }
            let y = input_points::<S, N>(x);
            for r in 0..N {
                S::store(half.add((r * N + c) * S::LANES), y[r]);
            }
        }
        let step = input_step(job.inputs, job.batch);
        for r in 0..N {
            let mut x = [zero; N];
            for c in 0..N {
                x[c] = S::load(half.add((r * N + c) * S::LANES));
            }
            let y = input_points::<S, N>(x);
            for c in 0..N {
                S::store(to.add((r * N + c) * step), y[c]);
            }
        }
    }
}

/// Whether a position, counted from one row of padding, is in the map.
#[inline(always)]
fn within(padded: usize, length: usize) -> bool {
    padded >= 1 && padded <= length
}

/// From sums to outputs; for a flat tile the first output is cached, before residual and activation.
#[inline(always)]
unsafe fn transform_back<S: Simd, const N: usize, const FLAT: bool>(
    job: &Winograd,
    (image, row, column): Place,
    slot: usize,
) {
    let (rows, columns) = ((job.height - row).min(N - 2), (job.width - column).min(N - 2));
    let channels = job.vectors * S::LANES;
    let step = output_step(channels, job.batch);
    for v in 0..job.vectors {
        // SAFETY: only the outputs within the map are written.
        unsafe {
            let zero = S::splat(0.0);
            let from = job.scratch.add(N * N * input_step(job.inputs, job.batch) + slot * channels + v * S::LANES);
            let half = job.half(S::LANES);
            for c in 0..N {
                let mut x = [zero; N];
                for r in 0..N {
                    x[r] = S::load(from.add((r * N + c) * step));
                }
                let y = output_points::<S, N>(x);
                for r in 0..N - 2 {
                    S::store(half.add((r * N + c) * S::LANES), y[r]);
                }
            }
            let bias = S::load(job.bias.add(v * S::LANES));
            let slope = S::splat(job.slope);
            for r in 0..rows {
                let mut x = [zero; N];
                for c in 0..N {
                    x[c] = S::load(half.add((r * N + c) * S::LANES));
                }
                let y = output_points::<S, N>(x);
                if FLAT {
                    S::store(job.memory.add(FLAG + job.inputs + v * S::LANES), S::add(y[0], bias));
                    break;
                }
                let to = job.to.pixel(image, row + r, column, channels).add(v * S::LANES);
                let residual = match job.residual.base.is_null() {
                    true => std::ptr::null_mut(),
                    false => job.residual.pixel(image, row + r, column, channels).add(v * S::LANES),
                };
                for c in 0..N - 2 {
                    if c < columns {
                        let mut value = S::add(y[c], bias);
                        if !residual.is_null() {
                            value = S::add(value, S::load(residual.add(c * channels)));
                        }
                        S::store(to.add(c * channels), S::leaky(value, slope));
                    }
                }
            }
        }
    }
    if FLAT {
        // SAFETY: a flat tile is inside, and the memory has room for a pixel of its inputs.
        unsafe {
            let from = job.from.pixel(image, row, column, job.inputs);
            for vector in 0..job.inputs / S::LANES {
                S::store(job.memory.add(FLAG + vector * S::LANES), S::load(from.add(vector * S::LANES)));
            }
            *job.memory = 1.0;
        }
    }
}
