//! The forward pass planned: for one network, one set of weights and one size of picture.
//!
//! Planning folds the batch normalisations into the convolutions, transforms and packs the weights for the kernels of
//! this machine, and lays the maps out in one memory. What is planned runs as often as wanted.
//!
//! The memory is kept small by the order of the steps: a level takes its planes one after the other while its maps are
//! large, so only the level's inputs, which are needed again on the way up, are there for all planes at once. Pooling
//! and interpolation have no maps of their own; the 1x1 convolution behind them makes its input row by row. A 1x1
//! convolution and an interpolation may change places, being linear, so it runs on the small map.

mod arena;
mod capture;
mod fold;
mod packing;
mod progress;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernels::{
    Aligned, Chain, Form, Job, Kernels, Link, Map, Memories, Packed, Source, Space, Work, execute, scratch_of,
};
use crate::kernels::{BLOCK, transform_weights};
use crate::network::{Block, CLASSES, Connection, Level, Network, PLANES, Series, Unit};
use crate::reference::{SLOPE, check_input};
use crate::stage::Stage;
use crate::team::Team;
use crate::tensor::Tensor;
use crate::weights::{Parameters, Weights};
use arena::Arena;
use capture::{Capture, Planes};
use fold::Folded;
use packing::Packing;
pub use progress::Progress;
use progress::cost;

/// How 3x3 convolutions with stride 1 are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Method {
    /// By the definition.
    Direct,
    /// Winograd's method with tiles of 2x2 outputs: 2.25 times fewer products.
    Winograd2,
    /// Winograd's method with tiles of 4x4 outputs: 4 times fewer products, more rounding.
    #[default]
    Winograd4,
}

/// Choices of a plan that change its speed and its rounding, never what it computes.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How 3x3 convolutions are computed.
    pub method: Method,
    /// The instruction set by its name in [`instructions`]; the best one there is when left out.
    pub instructions: Option<String>,
}

/// One step of a plan, for progress and for timing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Module path in PyTorch.
    pub path: String,
    /// What kind of work it is: `3x3 winograd4`, `1x1`, ...
    pub kind: String,
    /// Multiplications and additions of the definition, in pairs.
    pub macs: u64,
}

/// A forward pass ready to run.
pub struct Plan {
    jobs: Vec<Job>,
    steps: Vec<Step>,
    /// What each step takes, in units of its own.
    costs: Vec<f64>,
    captures: Vec<Capture>,
    weights: Aligned,
    arena: usize,
    /// The maps' memory between runs; a second run at the same time takes its own.
    kept: Mutex<Option<Aligned>>,
    input: Vec<usize>,
    output: Vec<usize>,
    largest_pair: usize,
    instructions: &'static str,
}

/// Names of the instruction sets this machine has kernels for, the best last.
pub fn instructions() -> Vec<&'static str> {
    Kernels::all().iter().map(|k| k.name).collect()
}

/// Multiplies and adds in registers, for the caller to time: what this machine can do at most with a set of
/// instructions. Returns the floating-point operations done and a number that depends on all of them; `None` when the
/// machine has no such instructions.
pub fn peak(instructions: &str, rounds: usize) -> Option<(u64, f32)> {
    Kernels::all().iter().find(|k| k.name == instructions).map(|k| k.peak(rounds))
}

impl Plan {
    /// Plans the network for pictures of a shape [pictures, 3, height, width].
    pub fn new(network: &Network, weights: &dyn Parameters, shape: &[usize], options: &Options) -> Result<Plan, Error> {
        Plan::showing(network, weights, shape, options, &|_| false)
    }

    /// The same, for runs that show the output of some modules, chosen by their path in PyTorch.
    ///
    /// A module whose output has no map of its own is computed for itself, beside the steps that there are anyway. So
    /// showing all modules takes about half as long again; showing none costs nothing.
    pub fn showing(
        network: &Network,
        weights: &dyn Parameters,
        shape: &[usize],
        options: &Options,
        shows: &dyn Fn(&str) -> bool,
    ) -> Result<Plan, Error> {
        let &[pictures, PLANES, height, width] = shape else {
            return Err(Error::Input(format!("expected [pictures, 3, height, width], found {shape:?}")));
        };
        let (out_height, out_width) = network.config.output_size(height, width)?;
        let mut kernels = Kernels::all();
        if let Some(name) = &options.instructions {
            let last = kernels.iter().position(|k| k.name == name).ok_or_else(|| {
                Error::Input(format!("no kernels for {name} here; there are {}", instructions().join(", ")))
            })?;
            kernels.truncate(last + 1);
        }
        let instructions = kernels.last().map_or("", |k| k.name);
        let mut planner = Planner::new(weights, kernels, options.method, shows);
        planner.network(network, pictures, height, width, (out_height, out_width));
        Ok(Plan {
            weights: planner.packed.finish(),
            arena: planner.arena.length(),
            kept: Mutex::new(None),
            input: shape.to_vec(),
            output: vec![pictures, PLANES, CLASSES, out_height, out_width],
            largest_pair: planner.largest_pair,
            costs: planner.jobs.iter().zip(&planner.steps).map(|(job, step)| cost(job, step.macs)).collect(),
            jobs: planner.jobs,
            steps: planner.steps,
            captures: planner.captures,
            instructions,
        })
    }

    /// The steps in the order they run.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Shape of the logits: [pictures, 3 planes, 3 classes, height, width].
    pub fn output_shape(&self) -> &[usize] {
        &self.output
    }

    /// The instruction set the plan is made for.
    pub fn instructions(&self) -> &'static str {
        self.instructions
    }

    /// Bytes that the maps between the layers take during a run.
    pub fn map_bytes(&self) -> usize {
        self.arena * size_of::<f32>()
    }

    /// Bytes of the packed weights.
    pub fn weight_bytes(&self) -> usize {
        size_of_val(self.weights.as_slice())
    }

    /// Bytes that each worker needs for itself during a run.
    pub fn worker_bytes(&self) -> usize {
        self.jobs.iter().map(scratch_of).max().unwrap_or(0) * size_of::<f32>()
    }

    /// Bytes of the largest input and output that one layer has, all planes together.
    pub fn largest_pair_bytes(&self) -> usize {
        self.largest_pair * size_of::<f32>()
    }

    /// Runs the plan; the logits are [pictures, 3 planes, 3 classes, height, width].
    pub fn run(&self, input: &Tensor, team: &dyn Team) -> Result<Tensor, Error> {
        self.run_with(input, team, &|_| ControlFlow::Continue(()))
    }

    /// The same; `before` is called with the number of each step as it begins, and with their count at the end. When
    /// it breaks, the run stops and gives [`Error::Cancelled`].
    pub fn run_with(
        &self,
        input: &Tensor,
        team: &dyn Team,
        before: &(dyn Fn(usize) -> ControlFlow<()> + Sync),
    ) -> Result<Tensor, Error> {
        self.run_showing(input, team, before, &mut |_| ())
    }

    /// The same; the stages that were asked for in [`Plan::showing`] are shown between the steps, on this thread.
    ///
    /// Large maps go through the network plane by plane, so the stages of one plane may come before the earlier stages
    /// of the next.
    pub fn run_showing(
        &self,
        input: &Tensor,
        team: &dyn Team,
        before: &(dyn Fn(usize) -> ControlFlow<()> + Sync),
        observe: &mut dyn FnMut(Stage),
    ) -> Result<Tensor, Error> {
        if input.shape() != self.input {
            let (expected, found) = (self.input.clone(), input.shape().to_vec());
            return Err(Error::Shape { key: "input".to_string(), expected, found });
        }
        input.check_finite("input")?;
        let kept = self.kept.lock().ok().and_then(|mut kept| kept.take());
        let mut arena = kept
            .or_else(|| Aligned::zeros(self.arena))
            .ok_or_else(|| Error::Input(format!("no memory for maps of {} bytes", self.map_bytes())))?;
        let mut output = Tensor::zeros(&self.output);
        let mut captures = self.captures.iter().peekable();
        let (mut start, mut done) = (0, true);
        while done && (start < self.jobs.len() || captures.peek().is_some()) {
            let end = captures.peek().map_or(self.jobs.len(), |capture| capture.after);
            let memories = Memories {
                input: input.data(),
                arena: arena.as_mut_slice(),
                output: output.data_mut(),
                weights: self.weights.as_slice(),
            };
            // The end of a part is told as the beginning of the next.
            let before = |i: usize| match start + i == end && end < self.jobs.len() {
                true => ControlFlow::Continue(()),
                false => before(start + i),
            };
            done = end == start || execute(&self.jobs[start..end], memories, team, &before);
            while let Some(capture) = captures.next_if(|capture| done && capture.after == end) {
                capture.show(arena.as_slice(), output.data(), observe);
            }
            start = end;
        }
        if let Ok(mut kept) = self.kept.lock() {
            *kept = Some(arena);
        }
        if done { Ok(output) } else { Err(Error::Cancelled) }
    }
}

/// Runs the network once with this machine's best kernels.
pub fn run(network: &Network, weights: &Weights, input: &Tensor, team: &dyn Team) -> Result<Tensor, Error> {
    check_input(network, input)?;
    Plan::new(network, weights, input.shape(), &Options::default())?.run(input, team)
}

/// A map of this many bytes no longer stays in the caches, so its planes go one by one.
const LARGE: usize = 4 << 20;

/// Convolutions on images of this many bytes run as chains.
const CHAINED: usize = 1 << 20;

/// At most so many convolutions in a chain: each costs the ones before it a margin of tiles.
const LINKS: usize = 4;

/// Columns of tiles a chain takes at a time.
const STRIPE: usize = 64;

/// Tasks a chain is cut into, about.
const TASKS: usize = 12;

/// Rows of tiles of a task for each row that its links compute beyond it.
const MARGIN: usize = 16;

/// Weights and rings of a chain should lie in a cache of this many bytes.
const NEAR_CACHE: usize = 768 << 10;

struct Planner<'a> {
    weights: &'a dyn Parameters,
    kernels: Vec<Kernels>,
    method: Method,
    arena: Arena,
    packed: Packing,
    jobs: Vec<Job>,
    steps: Vec<Step>,
    /// Whether a module's output is to be shown.
    shows: &'a dyn Fn(&str) -> bool,
    /// Something is shown.
    plane_by_plane: bool,
    captures: Vec<Capture>,
    /// Which planes the maps hold that are being planned.
    planes: Planes,
    /// Images of the whole input.
    images: usize,
    largest_pair: usize,
}

/// A map and its real channels; `channels` of the map counts the padding too.
#[derive(Clone, Copy)]
struct Layer {
    map: Map,
    channels: usize,
}

impl Layer {
    /// Some of the images.
    fn group(&self, group: &Group) -> Layer {
        let offset = self.map.offset + group.first * self.map.image_step;
        let image_step = self.map.image_step * group.step;
        Layer { map: Map { offset, images: group.images, image_step, ..self.map }, ..*self }
    }

    /// One plane of every picture.
    fn plane(&self, plane: usize) -> Layer {
        self.group(&Group::plane(plane, self.map.images / PLANES))
    }

    fn size(&self) -> (usize, usize) {
        (self.map.height, self.map.width)
    }

    fn numbers(&self) -> usize {
        self.map.images * self.map.image_step
    }
}

/// Images that take their way through a level together.
#[derive(Clone, Copy)]
struct Group {
    first: usize,
    step: usize,
    images: usize,
    planes: Planes,
}

impl Group {
    fn plane(plane: usize, pictures: usize) -> Group {
        Group { first: plane, step: PLANES, images: pictures, planes: Planes::One(plane) }
    }
}

impl<'a> Planner<'a> {
    fn new(
        weights: &'a dyn Parameters,
        kernels: Vec<Kernels>,
        method: Method,
        shows: &'a dyn Fn(&str) -> bool,
    ) -> Planner<'a> {
        Planner {
            weights,
            kernels,
            method,
            arena: Arena::default(),
            packed: Packing::with_room(0),
            jobs: Vec::new(),
            steps: Vec::new(),
            shows,
            plane_by_plane: false,
            captures: Vec::new(),
            planes: Planes::All,
            images: 0,
            largest_pair: 0,
        }
    }

    fn network(&mut self, network: &Network, pictures: usize, height: usize, width: usize, out: (usize, usize)) {
        let images = pictures * PLANES;
        self.images = images;
        self.plane_by_plane = network.stages().iter().any(|path| (self.shows)(path));
        self.packed = Packing::with_room(network.units().into_iter().map(|unit| self.room(unit)).sum());
        let input =
            Map { space: Space::Input, offset: 0, image_step: height * width, images, height, width, channels: 1 };
        let first = self.take(images, (height, width), network.initial.outputs);
        self.convolution(&network.initial, Layer { map: input, channels: 1 }, first, None, SLOPE);
        self.capture(&network.initial.path, first);
        let last = self.core(network, 0, first);
        for group in self.groups(&last) {
            self.planes = group.planes;
            // The planes share no memory from here on, so each goes to the end before the next begins.
            let x = last.group(&group);
            let y = self.series(&network.final_blocks, x, false, None);
            let size = CLASSES * out.0 * out.1;
            let to = Map {
                space: Space::Output,
                offset: group.first * size,
                image_step: group.step * size,
                images: group.images,
                height: out.0,
                width: out.1,
                channels: CLASSES,
            };
            let unit = &network.head;
            let kernels = self.kernels_for(BLOCK);
            let packed = self.pack(&Folded::new(unit, self.weights), kernels, BLOCK);
            let work = Work::Logits { from: y.map, real_inputs: y.channels, packed };
            self.push(unit, "1x1", Job { kernels, to, slope: 1.0, work });
            self.capture(&unit.path, Layer { map: to, channels: CLASSES });
            if y.map.offset != x.map.offset {
                self.give_back(y);
            }
        }
        self.give_back(last);
    }

    /// Everything below the input of a level, which is given up; the result has the level's width and size.
    fn core(&mut self, network: &Network, depth: usize, input: Layer) -> Layer {
        let Some(level) = network.levels.get(depth) else {
            return self.deepest(network, input);
        };
        let (height, width) = input.size();
        let down_size = if level.pooled {
            (height / 2, width / 2)
        } else {
            (level.down.output_length(height), level.down.output_length(width))
        };
        let deeper = self.take(input.map.images, down_size, level.down.outputs);
        for group in self.groups(&input) {
            self.planes = group.planes;
            let x = input.group(&group);
            let y = self.series(&level.down_blocks, x, true, None);
            let to = deeper.group(&group);
            if level.pooled {
                self.pointwise(&level.down, &level.down.path, vec![(y, Form::Pooled)], to, SLOPE);
            } else {
                self.convolution(&level.down, y, to, None, SLOPE);
            }
            self.capture(&level.down.path, to);
            if level.pooled {
                self.capture(&format!("{}.downsample", level.path), to);
            }
            if y.map.offset != x.map.offset {
                self.give_back(y);
            }
        }
        self.planes = Planes::All;
        let deeper = self.core(network, depth + 1, deeper);
        let output = self.up(level, input, deeper);
        self.give_back(deeper);
        if output.map.offset != input.map.offset {
            self.give_back(input);
        }
        output
    }

    /// Doubles `deeper`, takes in `skip`, and runs the level's blocks. The result lies where `skip` lay, if it fits.
    fn up(&mut self, level: &Level, skip: Layer, deeper: Layer) -> Layer {
        let (height, width) = deeper.size();
        let size = (2 * height, 2 * width);
        let in_place = size == skip.size() && !level.up_blocks.blocks.is_empty();
        let output = if in_place { skip } else { self.take(skip.map.images, size, level.width) };
        for group in self.groups(&output) {
            self.planes = group.planes;
            let (from, skip, output) = (deeper.group(&group), skip.group(&group), output.group(&group));
            let blocks = !level.up_blocks.blocks.is_empty();
            let joined = if blocks { self.take(group.images, size, level.width) } else { output };
            let (doubled, form) = if level.up.transposed {
                let doubled = self.take(group.images, size, level.width);
                self.doubling(&level.up, from, doubled);
                self.capture(&level.up.path, doubled);
                (doubled, Form::Plain)
            } else {
                let low = self.take(group.images, from.size(), level.width);
                self.pointwise(&level.up, &level.up.path, vec![(from, Form::Plain)], low, 1.0);
                self.show_interpolated(level, low);
                (low, Form::Upsampled(SLOPE))
            };
            let connection = format!("{}.connection", level.path);
            match &level.connection {
                Connection::Concat(unit) => {
                    self.pointwise(unit, &unit.path, vec![(doubled, form), (skip, Form::Plain)], joined, SLOPE);
                    self.capture(&unit.path, joined);
                }
                Connection::Sum => self.sum(&connection, doubled, form, Some(skip), joined),
                Connection::None => self.sum(&connection, doubled, form, None, joined),
            }
            self.capture(&connection, joined);
            self.give_back(doubled);
            if blocks {
                let y = self.series(&level.up_blocks, joined, false, Some(output));
                debug_assert_eq!(y.map.offset, output.map.offset);
                self.give_back(joined);
            } else {
                self.capture(&level.up_blocks.path, output);
            }
            self.capture(&level.path, output);
        }
        self.planes = Planes::All;
        output
    }

    /// Interpolates for the eye: the layers behind read the small map.
    fn show_interpolated(&mut self, level: &Level, low: Layer) {
        let path = format!("{}.upsample", level.path);
        if (self.shows)(&path) || (self.shows)(&level.up.path) {
            let (height, width) = low.size();
            let high = self.take(low.map.images, (2 * height, 2 * width), low.channels);
            self.sum(&path, low, Form::Upsampled(SLOPE), None, high);
            self.capture(&level.up.path, high);
            self.capture(&path, high);
            self.give_back(high);
        }
    }

    fn deepest(&mut self, network: &Network, input: Layer) -> Layer {
        let deepest = &network.deepest;
        let planes = |layer: &Layer| -> Vec<Layer> {
            if deepest.joined { (0..PLANES).map(|p| layer.plane(p)).collect() } else { vec![*layer] }
        };
        let sources = planes(&input).into_iter().map(|plane| (plane, Form::Plain)).collect();
        let images = if deepest.joined { input.map.images / PLANES } else { input.map.images };
        let x = self.take(images, input.size(), deepest.bottleneck.outputs);
        self.pointwise(&deepest.bottleneck, &deepest.bottleneck.path, sources, x, SLOPE);
        self.planes = if deepest.joined { Planes::Joined } else { Planes::All };
        self.capture(&deepest.bottleneck.path, x);
        let y = self.series(&deepest.blocks, x, false, None);
        self.give_back(input);
        let output = self.take(input.map.images, y.size(), input.channels);
        let folded = Folded::new(&deepest.unbottleneck, self.weights);
        let mut first = 0;
        for to in planes(&output) {
            let part = folded.outputs(first, to.channels);
            first += to.channels;
            self.folded_pointwise(&part, &deepest.unbottleneck.path, vec![(y, Form::Plain)], to, SLOPE);
        }
        self.planes = if deepest.joined { Planes::Joining } else { Planes::All };
        self.capture(&deepest.unbottleneck.path, output);
        self.planes = Planes::All;
        self.capture(&deepest.path, output);
        if y.map.offset != x.map.offset {
            self.give_back(y);
        }
        self.give_back(x);
        output
    }

    /// Blocks one after the other; the last one writes to `to` where that is given. The input is overwritten unless it
    /// is to be kept. What comes back is `to`, the input itself, or a map of its own.
    fn series(&mut self, series: &Series, input: Layer, keep: bool, to: Option<Layer>) -> Layer {
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

    /// How many blocks run as one step, and whether as a chain.
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
    fn chain(&mut self, blocks: &[Block], from: Layer, to: Layer) {
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

    fn tile(&self) -> Option<usize> {
        match self.method {
            Method::Direct => None,
            Method::Winograd2 => Some(2),
            Method::Winograd4 => Some(4),
        }
    }

    fn pack_winograd(&mut self, unit: &Unit, kernels: Kernels, from: usize, to: usize, size: usize) -> Packed {
        let folded = Folded::new(unit, self.weights);
        let vectors = to / kernels.lanes;
        let transformed = transform_weights(&folded.weight, unit.inputs, from, vectors, kernels.lanes, size);
        let weights = self.packed.place(&transformed);
        let bias = self.packed.place(&folded.pack_bias(to));
        Packed { weights, bias, inputs: from, vectors }
    }

    /// A map for a block's output: the spare one where it has the size.
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

    fn convolution(&mut self, unit: &Unit, from: Layer, to: Layer, residual: Option<Layer>, slope: f32) {
        if unit.kernel == 1 && unit.stride == 1 && residual.is_none() {
            return self.pointwise(unit, &unit.path, vec![(from, Form::Plain)], to, slope);
        }
        let residual = residual.map(|r| r.map);
        let suits =
            unit.kernel == 3 && unit.stride == 1 && unit.padding == 1 && from.map.channels.is_multiple_of(BLOCK);
        if let Some(size) = self.tile().filter(|_| suits) {
            let both = self.kernels.iter().rev().find(|k| k.fits(from.map.channels) && k.fits(to.map.channels));
            let kernels = *both.expect("the plainest kernels fit every map");
            let packed = self.pack_winograd(unit, kernels, from.map.channels, to.map.channels, size);
            let work = Work::Winograd { from: from.map, size, batch: kernels.tiles, packed, residual };
            return self.push(unit, &format!("3x3 winograd{size}"), Job { kernels, to: to.map, slope, work });
        }
        let folded = Folded::new(unit, self.weights);
        let kernels = self.kernels_for(to.map.channels);
        let packed = self.pack(&folded, kernels, to.map.channels);
        let work = Work::Convolution {
            from: from.map,
            real_inputs: unit.inputs,
            kernel: unit.kernel,
            stride: unit.stride,
            padding: unit.padding,
            packed,
            residual,
        };
        self.push(unit, &format!("{0}x{0}", unit.kernel), Job { kernels, to: to.map, slope, work });
    }

    fn pointwise(&mut self, unit: &Unit, path: &str, sources: Vec<(Layer, Form)>, to: Layer, slope: f32) {
        self.folded_pointwise(&Folded::new(unit, self.weights), path, sources, to, slope);
    }

    fn folded_pointwise(&mut self, folded: &Folded, path: &str, sources: Vec<(Layer, Form)>, to: Layer, slope: f32) {
        let formed =
            |kernels: &Kernels, (layer, form): &(Layer, Form)| *form == Form::Plain || kernels.fits(layer.map.channels);
        let kernels =
            self.kernels.iter().rev().find(|k| k.fits(to.map.channels) && sources.iter().all(|s| formed(k, s)));
        let kernels = *kernels.expect("the plainest kernels fit every map");
        let packed = self.pack(folded, kernels, to.map.channels);
        let sources =
            sources.into_iter().map(|(layer, form)| (Source { map: layer.map, form }, layer.channels)).collect();
        let macs = (folded.outputs * folded.inputs) as u64 * area(&to.map);
        let job = Job { kernels, to: to.map, slope, work: Work::Pointwise { sources, packed } };
        self.push_step(path, "1x1", macs, job);
    }

    fn doubling(&mut self, unit: &Unit, from: Layer, to: Layer) {
        let folded = Folded::new(unit, self.weights);
        let kernels = self.kernels_for(to.map.channels);
        let packed = [0, 1, 2, 3].map(|tap| self.pack(&folded.tap(tap), kernels, to.map.channels));
        let work = Work::Doubling { from: from.map, real_inputs: unit.inputs, packed };
        let macs = (unit.outputs * unit.inputs) as u64 * area(&to.map);
        self.push_step(&unit.path, "2x2 transposed", macs, Job { kernels, to: to.map, slope: SLOPE, work });
    }

    fn sum(&mut self, path: &str, from: Layer, form: Form, other: Option<Layer>, to: Layer) {
        let kernels = self.kernels_for(to.map.channels);
        let work = Work::Sum { from: Source { map: from.map, form }, other: other.map(|o| o.map) };
        self.push_step(path, "sum", 0, Job { kernels, to: to.map, slope: 1.0, work });
    }

    fn kernels_for(&self, channels: usize) -> Kernels {
        *self.kernels.iter().rev().find(|k| k.fits(channels)).expect("the plainest kernels fit every map")
    }

    fn pack(&mut self, folded: &Folded, kernels: Kernels, channels: usize) -> Packed {
        let vectors = channels.next_multiple_of(BLOCK) / kernels.lanes;
        let weights = self.packed.place(&folded.pack(vectors, kernels.lanes));
        let bias = self.packed.place(&folded.pack_bias(vectors * kernels.lanes));
        Packed { weights, bias, inputs: folded.inputs * folded.taps, vectors }
    }

    /// Numbers that a unit's packed weights take, or a little more.
    fn room(&self, unit: &Unit) -> usize {
        let taps = match self.tile() {
            Some(size) if unit.kernel == 3 => (size + 2) * (size + 2),
            _ => unit.kernel * unit.kernel,
        };
        (unit.inputs.next_multiple_of(BLOCK) * taps + 1) * unit.outputs.next_multiple_of(16)
    }

    fn push(&mut self, unit: &Unit, kind: &str, job: Job) {
        let macs = macs_of(unit, &job.to);
        self.push_step(&unit.path, kind, macs, job);
    }

    fn push_step(&mut self, path: &str, kind: &str, macs: u64, job: Job) {
        if let Work::Convolution { from, .. } | Work::Winograd { from, .. } | Work::Chain(Chain { from, .. }) =
            &job.work
        {
            let image = |map: &Map| map.height * map.width * map.channels;
            self.largest_pair = self.largest_pair.max(self.images * (image(from) + image(&job.to)));
        }
        self.steps.push(Step { path: path.to_string(), kind: kind.to_string(), macs });
        self.jobs.push(job);
    }

    /// Whether a block or a unit in it is shown.
    fn shows_within(&self, block: &Block) -> bool {
        let units = match block {
            Block::Plain(_) => vec![],
            Block::Residual { first, second, .. } => vec![&first.path, &second.path],
        };
        (self.shows)(block.path()) || units.into_iter().any(|path| (self.shows)(path))
    }

    /// The map is a module's output once the jobs so far are done.
    fn capture(&mut self, path: &str, layer: Layer) {
        if (self.shows)(path) {
            let (after, path) = (self.jobs.len(), path.to_string());
            self.captures.push(Capture { after, path, layer, planes: self.planes });
        }
    }

    /// The images of a map one by one where they are large, or all together. A picture's planes are shown one by one
    /// but its pictures together, so where anything is shown a plane's images stay together.
    fn groups(&self, layer: &Layer) -> Vec<Group> {
        let images = layer.map.images;
        if layer.map.image_step * size_of::<f32>() * images <= LARGE {
            return vec![Group { first: 0, step: 1, images, planes: Planes::All }];
        }
        if self.plane_by_plane {
            return (0..PLANES).map(|plane| Group::plane(plane, images / PLANES)).collect();
        }
        (0..images).map(|first| Group { first, step: 1, images: 1, planes: Planes::One(first % PLANES) }).collect()
    }

    fn take(&mut self, images: usize, (height, width): (usize, usize), channels: usize) -> Layer {
        let padded = channels.next_multiple_of(BLOCK);
        let image_step = (height * width * padded).next_multiple_of(16);
        let offset = self.arena.take(images * image_step);
        let map = Map { space: Space::Arena, offset, image_step, images, height, width, channels: padded };
        Layer { map, channels }
    }

    fn give_back(&mut self, layer: Layer) {
        self.arena.give_back(layer.map.offset, layer.numbers());
    }
}

fn macs_of(unit: &Unit, to: &Map) -> u64 {
    (unit.outputs * unit.inputs * unit.kernel * unit.kernel) as u64 * area(to)
}

fn area(map: &Map) -> u64 {
    (map.images * map.height * map.width) as u64
}
