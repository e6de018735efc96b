//! Consecutive 3x3 convolutions, a few rows of each at a time.
//!
//! On large maps a convolution with few channels is limited by memory: its inputs and outputs are read and written
//! once, and there is little computation on each. A chain keeps the intermediate results in rings of three rows of
//! tiles, narrow enough to stay in the cache, so that only its ends are whole maps.
//!
//! A task is a part of the output. Each link computes its part and, for every link after it, one more tile on each
//! side, so that every tile is computed from whole inputs and has the same bits in every task.

use super::{Kernels, Map, Packed, Rows, Winograd};

/// Rows of tiles in a ring: link `i` computes tile row `u`, for which it reads `u - 1` to `u + 1`, one step after link
/// `i - 1` has computed `u + 1`; link `i + 1`, a step later, adds tile row `u - 1` of the same ring as its residual.
const RING: usize = 3;

/// Consecutive convolutions, from one map to another of the same size.
pub(crate) struct Chain {
    pub(crate) from: Map,
    /// Output rows and columns of a tile.
    pub(crate) size: usize,
    /// Tiles of a batch.
    pub(crate) batch: usize,
    /// Columns of tiles per task.
    pub(crate) stripe: usize,
    /// Rows of tiles per task.
    pub(crate) chunk: usize,
    pub(crate) links: Vec<Link>,
}

/// One convolution of a chain.
pub(crate) struct Link {
    pub(crate) packed: Packed,
    /// The input of the previous link is added before activation.
    pub(crate) residual: bool,
    /// As in [`super::Dense`].
    pub(crate) slope: f32,
}

impl Chain {
    fn tiles(&self) -> (usize, usize) {
        (self.from.height.div_ceil(self.size), self.from.width.div_ceil(self.size))
    }

    /// Elements of a ring: its rows are as long as the widest link's part.
    fn ring(&self) -> usize {
        RING * self.size * self.ring_row()
    }

    fn ring_row(&self) -> usize {
        let columns = self.stripe + 2 * (self.links.len() - 1);
        columns.min(self.tiles().1) * self.size * self.from.channels
    }

    /// Elements of scratch memory for a worker.
    pub(crate) fn scratch(&self) -> usize {
        self.batch_scratch() + self.links.len() * self.memory() + (self.links.len() - 1) * self.ring()
    }

    fn batch_scratch(&self) -> usize {
        Winograd::scratch(self.size, self.batch, self.from.channels, self.from.channels)
    }

    fn memory(&self) -> usize {
        Winograd::memory(self.from.channels, self.from.channels)
    }

    /// Parts of the output.
    pub(crate) fn tasks(&self) -> usize {
        let (rows, columns) = self.tiles();
        self.from.images * rows.div_ceil(self.chunk) * columns.div_ceil(self.stripe)
    }

    /// # Safety
    /// `from` and `to` are the job's maps, `weights` returns what the links have packed, `scratch` has room for
    /// [`Chain::scratch`] elements, and nothing else runs the task.
    pub(crate) unsafe fn run(
        &self,
        task: usize,
        kernels: &Kernels,
        from: Rows,
        to: Rows,
        weights: &dyn Fn(usize) -> *const f32,
        scratch: *mut f32,
    ) {
        let (rows, columns) = self.tiles();
        let (chunks, stripes) = (rows.div_ceil(self.chunk), columns.div_ceil(self.stripe));
        let (image, chunk, stripe) = (task / (chunks * stripes), task / stripes % chunks, task % stripes);
        let (top, left) = (chunk * self.chunk, stripe * self.stripe);
        let (bottom, right) = ((top + self.chunk).min(rows), (left + self.stripe).min(columns));
        let last = self.links.len() - 1;
        let from = Rows { base: from.base.wrapping_add(image * from.image_step), ..from };
        let to = Rows { base: to.base.wrapping_add(image * to.image_step), ..to };
        let first_column = left.saturating_sub(last) * self.size;
        let ring_rows = RING * self.size;
        // After the batch come the links' memories of flat tiles, and then the rings.
        let memories = self.batch_scratch();
        let rings = memories + self.links.len() * self.memory();
        for link in 0..self.links.len() {
            // SAFETY: within `Chain::scratch`.
            unsafe { *scratch.add(memories + link * self.memory()) = 0.0 };
        }
        // The input of link `i`, for computing tile row `row`.
        let input = |i: usize, row: usize| {
            if i == 0 {
                return from;
            }
            let first = row.saturating_sub(1) * self.size;
            Rows {
                base: scratch.wrapping_add(rings + (i - 1) * self.ring()),
                image_step: 0,
                row_step: self.ring_row(),
                shift: (first % ring_rows).wrapping_sub(first),
                ring: ring_rows,
                first_column,
            }
        };
        let begin = top.saturating_sub(last);
        for step in begin..bottom + last {
            for (i, link) in self.links.iter().enumerate() {
                let more = last - i;
                let Some(row) = step.checked_sub(i).filter(|&row| row + more >= top && row < (bottom + more).min(rows))
                else {
                    continue;
                };
                let job = Winograd {
                    from: input(i, row),
                    height: self.from.height,
                    width: self.from.width,
                    inputs: self.from.channels,
                    weights: weights(link.packed.weights),
                    bias: weights(link.packed.bias),
                    vectors: link.packed.vectors,
                    to: if i == last { to } else { input(i + 1, row) },
                    residual: if link.residual { input(i - 1, row) } else { Rows::NONE },
                    slope: link.slope,
                    size: self.size,
                    first: row * columns + left.saturating_sub(more),
                    end: row * columns + (right + more).min(columns),
                    batch: self.batch,
                    scratch,
                    memory: scratch.wrapping_add(memories + i * self.memory()),
                };
                // SAFETY: the previous links have computed every row and column that this one reads, as ensured by the
                // rings' lengths and the widening of the parts; only this task writes this part of `to`.
                unsafe { kernels.winograd.run(&job) };
            }
        }
    }
}
