//! Both paths of the network as steps: which maps there are, and when each is freed.

use crate::kernels::{BLOCK, Form, Job, Kernels, Map, Space, Work};
use crate::network::{Block, CLASSES, Connection, Level, Network, PLANES};
use crate::reference::SLOPE;
use crate::weights::Parameters;

use super::arena::Arena;
use super::capture::Capture;
use super::fold::Folded;
use super::layer::{Group, Layer, Planes};
use super::packing::Packing;
use super::{Method, Step};

/// A map of this many bytes no longer fits into the caches, so its planes are processed one by one.
const LARGE: usize = 4 << 20;

/// A plan under construction.
pub(super) struct Planner<'a> {
    pub(super) weights: &'a dyn Parameters,
    pub(super) kernels: Vec<Kernels>,
    pub(super) method: Method,
    pub(super) arena: Arena,
    pub(super) packed: Packing,
    pub(super) jobs: Vec<Job>,
    pub(super) steps: Vec<Step>,
    /// Whether a module's output is to be shown.
    pub(super) shows: &'a dyn Fn(&str) -> bool,
    /// Something is shown.
    pub(super) plane_by_plane: bool,
    pub(super) captures: Vec<Capture>,
    /// The planes in the maps that are being planned.
    pub(super) planes: Planes,
    /// Images of the whole input.
    pub(super) images: usize,
    pub(super) largest_pair: usize,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
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

    pub(super) fn network(
        &mut self,
        network: &Network,
        pictures: usize,
        height: usize,
        width: usize,
        out: (usize, usize),
    ) {
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
            // The planes share no memory from here on, so each is processed to the end before the next begins.
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

    /// Everything below the input of a level, which is freed; the result has the level's width and size.
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

    /// Doubles `deeper`, connects `skip`, and runs the level's blocks. The result is stored in place of `skip`, if it
    /// fits.
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

    /// Interpolates only for display: the following layers read the small map.
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

    /// Whether a block or a unit in it is shown.
    pub(super) fn shows_within(&self, block: &Block) -> bool {
        let units = match block {
            Block::Plain(_) => vec![],
            Block::Residual { first, second, .. } => vec![&first.path, &second.path],
        };
        (self.shows)(block.path()) || units.into_iter().any(|path| (self.shows)(path))
    }

    /// The map is a module's output once the jobs so far are done.
    pub(super) fn capture(&mut self, path: &str, layer: Layer) {
        if (self.shows)(path) {
            let (after, path) = (self.jobs.len(), path.to_string());
            self.captures.push(Capture { after, path, layer, planes: self.planes });
        }
    }

    /// The images of a map one by one if they are large, or all together. A picture's planes are shown one by one but
    /// its pictures together, so if anything is shown a plane's images stay together.
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

    pub(super) fn take(&mut self, images: usize, (height, width): (usize, usize), channels: usize) -> Layer {
        let padded = channels.next_multiple_of(BLOCK);
        let image_step = (height * width * padded).next_multiple_of(16);
        let offset = self.arena.take(images * image_step);
        let map = Map { space: Space::Arena, offset, image_step, images, height, width, channels: padded };
        Layer { map, channels }
    }

    pub(super) fn give_back(&mut self, layer: Layer) {
        self.arena.give_back(layer.map.offset, layer.numbers());
    }
}
