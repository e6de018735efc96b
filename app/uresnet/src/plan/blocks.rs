//! Series of blocks, as chains if they are large.

use crate::kernels::{BLOCK, Chain, Job, Link, Work};
use crate::network::{Block, Series, Unit};
use crate::reference::SLOPE;

use super::layer::Layer;
use super::planner::Planner;
use super::steps::macs_of;

/// Convolutions on images of at least this many bytes run as chains.
const CHAINED: usize = 1 << 20;

/// The maximum number of convolutions in a chain: each adds a margin of tiles to those before it.
const LINKS: usize = 4;

/// Columns of tiles that a chain processes at a time.
const STRIPE: usize = 64;

/// The approximate number of tasks of a chain.
const TASKS: usize = 12;

/// Rows of tiles of a task for each additional row that its links compute.
const MARGIN: usize = 16;

/// Weights and rings of a chain should fit into a cache of this many bytes.
const NEAR_CACHE: usize = 768 << 10;

impl Planner<'_> {
    /// Consecutive blocks; the last one writes to `to` if there is one. The input is overwritten unless it has to be
    /// kept. The result is `to`, the input itself, or a map of its own.
    pub(super) fn series(&mut self, series: &Series, input: Layer, keep: bool, to: Option<Layer>) -> Layer {
        let mut x = input;
        let mut spare: Option<Layer> = None;
        let (together, chained) = self.blocks_together(series, &input);
        let pieces = series.blocks.chunks(together);
        let count = pieces.len();
        for (i, piece) in pieces.enumerate() {
            let mine = !keep || x.map.offset != input.map.offset;
            let in_place = mine && !chained && matches!(piece[0], Block::Residual { .. });
            let target = match to {
                Some(to) if i + 1 == count => to,
                _ if in_place => x,
                _ => self.take_for(&piece[0], x, spare.take()),
            };
            if chained {
                self.chain(piece, x, target);
            } else {
                self.block(&piece[0], x, target);
            }
            if let [block] = piece {
                self.capture(block.path(), target);
            }
            if mine && target.map.offset != x.map.offset {
                spare = Some(x);
            }
            x = target;
        }
        if let Some(spare) = spare.filter(|s| s.map.offset != input.map.offset) {
            self.give_back(spare);
        }
        self.capture(&series.path, x);
        x
    }

    /// The number of blocks that run as one step, and whether as a chain.
    fn blocks_together(&self, series: &Series, input: &Layer) -> (usize, bool) {
        let Some(size) = self.tile() else { return (1, false) };
        if series.blocks.iter().any(|block| self.shows_within(block)) {
            return (1, false);
        }
        let first = series.blocks.first().map(|block| match block {
            Block::Plain(unit) => (unit, 1),
            Block::Residual { first, .. } => (first, 2),
        });
        let Some((unit, links)) = first.filter(|(unit, _)| unit.kernel == 3) else { return (1, false) };
        if input.map.image_step * size_of::<f32>() < CHAINED {
            return (1, false);
        }
        let channels = unit.outputs.next_multiple_of(BLOCK);
        let bytes = |blocks: usize| {
            let n = blocks * links;
            let weights = n * (size + 2) * (size + 2) * channels * channels;
            let rings = (n - 1) * 3 * size * (STRIPE + 2 * (n - 1)) * size * channels;
            (weights + rings) * size_of::<f32>()
        };
        let most = (1..=LINKS / links).take_while(|&blocks| blocks == 1 || bytes(blocks) <= NEAR_CACHE).last();
        (most.unwrap_or(1), true)
    }

    /// Blocks of 3x3 convolutions as one step.
    pub(super) fn chain(&mut self, blocks: &[Block], from: Layer, to: Layer) {
        let channels = from.map.channels;
        let kernels = self.kernels_for(channels);
        let size = self.tile().expect("only Winograd's method is chained");
        let mut links = Vec::new();
        let mut macs = 0;
        for block in blocks {
            let units: Vec<&Unit> = match block {
                Block::Plain(unit) => vec![unit],
                Block::Residual { first, second, .. } => vec![first, second],
            };
            for (i, unit) in units.into_iter().enumerate() {
                let packed = self.pack_winograd(unit, kernels, channels, channels, size);
                links.push(Link { packed, residual: i == 1, slope: SLOPE });
                macs += macs_of(unit, &to.map);
            }
        }
        let (rows, columns) = (from.map.height.div_ceil(size), from.map.width.div_ceil(size));
        let stripes = columns.div_ceil(STRIPE);
        let most = rows / (MARGIN * (links.len() - 1)).max(1);
        let chunks = (TASKS / (stripes * from.map.images)).min(most).max(1);
        let (stripe, chunk) = (columns.div_ceil(stripes), rows.div_ceil(chunks));
        let work = Work::Chain(Chain { from: from.map, size, batch: kernels.tiles, stripe, chunk, links });
        let job = Job { kernels, to: to.map, slope: SLOPE, work };
        self.push_step(blocks[0].path(), &format!("3x3 winograd{size}"), macs, job);
    }

    /// A map for a block's output: the spare one if it has the size.
    fn take_for(&mut self, block: &Block, x: Layer, spare: Option<Layer>) -> Layer {
        let unit = match block {
            Block::Plain(unit) => unit,
            Block::Residual { second, .. } => second,
        };
        let (height, width) = x.size();
        let size = (unit.output_length(height), unit.output_length(width));
        match spare {
            Some(spare) if spare.size() == size => spare,
            _ => self.take(x.map.images, size, unit.outputs),
        }
    }

    fn block(&mut self, block: &Block, x: Layer, to: Layer) {
        match block {
            Block::Plain(unit) => self.convolution(unit, x, to, None, SLOPE),
            Block::Residual { first, second, .. } => {
                let between = self.take(x.map.images, x.size(), first.outputs);
                self.convolution(first, x, between, None, SLOPE);
                self.capture(&first.path, between);
                if (self.shows)(&second.path) {
                    let alone = self.take(x.map.images, x.size(), second.outputs);
                    self.convolution(second, between, alone, None, 1.0);
                    self.capture(&second.path, alone);
                    self.give_back(alone);
                }
                self.convolution(second, between, to, Some(x), SLOPE);
                self.give_back(between);
            }
        }
    }
}
