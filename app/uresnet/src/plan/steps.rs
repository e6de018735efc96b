//! Single layers as jobs for the kernels: the kernel, the weights and their packing.

use crate::kernels::{BLOCK, Chain, Form, Job, Kernels, Map, Packed, Source, Work, transform_weights};
use crate::network::Unit;
use crate::reference::SLOPE;

use super::fold::Folded;
use super::layer::Layer;
use super::planner::Planner;
use super::{Method, Step};

impl Planner<'_> {
    pub(super) fn convolution(&mut self, unit: &Unit, from: Layer, to: Layer, residual: Option<Layer>, slope: f32) {
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

    pub(super) fn pointwise(&mut self, unit: &Unit, path: &str, sources: Vec<(Layer, Form)>, to: Layer, slope: f32) {
        self.folded_pointwise(&Folded::new(unit, self.weights), path, sources, to, slope);
    }

    pub(super) fn folded_pointwise(
        &mut self,
        folded: &Folded,
        path: &str,
        sources: Vec<(Layer, Form)>,
        to: Layer,
        slope: f32,
    ) {
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

    pub(super) fn doubling(&mut self, unit: &Unit, from: Layer, to: Layer) {
        let folded = Folded::new(unit, self.weights);
        let kernels = self.kernels_for(to.map.channels);
        let packed = [0, 1, 2, 3].map(|tap| self.pack(&folded.tap(tap), kernels, to.map.channels));
        let work = Work::Doubling { from: from.map, real_inputs: unit.inputs, packed };
        let macs = (unit.outputs * unit.inputs) as u64 * area(&to.map);
        self.push_step(&unit.path, "2x2 transposed", macs, Job { kernels, to: to.map, slope: SLOPE, work });
    }

    pub(super) fn sum(&mut self, path: &str, from: Layer, form: Form, other: Option<Layer>, to: Layer) {
        let kernels = self.kernels_for(to.map.channels);
        let work = Work::Sum { from: Source { map: from.map, form }, other: other.map(|o| o.map) };
        self.push_step(path, "sum", 0, Job { kernels, to: to.map, slope: 1.0, work });
    }

    pub(super) fn kernels_for(&self, channels: usize) -> Kernels {
        *self.kernels.iter().rev().find(|k| k.fits(channels)).expect("the plainest kernels fit every map")
    }

    pub(super) fn pack(&mut self, folded: &Folded, kernels: Kernels, channels: usize) -> Packed {
        let vectors = channels.next_multiple_of(BLOCK) / kernels.lanes;
        let weights = self.packed.place(&folded.pack(vectors, kernels.lanes));
        let bias = self.packed.place(&folded.pack_bias(vectors * kernels.lanes));
        Packed { weights, bias, inputs: folded.inputs * folded.taps, vectors }
    }

    /// The size of a unit's packed weights, in elements, or a little more.
    pub(super) fn room(&self, unit: &Unit) -> usize {
        let taps = match self.tile() {
            Some(size) if unit.kernel == 3 => (size + 2) * (size + 2),
            _ => unit.kernel * unit.kernel,
        };
        (unit.inputs.next_multiple_of(BLOCK) * taps + 1) * unit.outputs.next_multiple_of(16)
    }

    pub(super) fn push(&mut self, unit: &Unit, kind: &str, job: Job) {
        let macs = macs_of(unit, &job.to);
        self.push_step(&unit.path, kind, macs, job);
    }

    pub(super) fn push_step(&mut self, path: &str, kind: &str, macs: u64, job: Job) {
        if let Work::Convolution { from, .. } | Work::Winograd { from, .. } | Work::Chain(Chain { from, .. }) =
            &job.work
        {
            let image = |map: &Map| map.height * map.width * map.channels;
            self.largest_pair = self.largest_pair.max(self.images * (image(from) + image(&job.to)));
        }
        self.steps.push(Step { path: path.to_string(), kind: kind.to_string(), macs });
        self.jobs.push(job);
    }

    pub(super) fn tile(&self) -> Option<usize> {
        match self.method {
            Method::Direct => None,
            Method::Winograd2 => Some(2),
            Method::Winograd4 => Some(4),
        }
    }

    pub(super) fn pack_winograd(
        &mut self,
        unit: &Unit,
        kernels: Kernels,
        from: usize,
        to: usize,
        size: usize,
    ) -> Packed {
        let folded = Folded::new(unit, self.weights);
        let vectors = to / kernels.lanes;
        let transformed = transform_weights(&folded.weight, unit.inputs, from, vectors, kernels.lanes, size);
        let weights = self.packed.place(&transformed);
        let bias = self.packed.place(&folded.pack_bias(to));
        Packed { weights, bias, inputs: from, vectors }
    }
}

pub(super) fn macs_of(unit: &Unit, to: &Map) -> u64 {
    (unit.outputs * unit.inputs * unit.kernel * unit.kernel) as u64 * area(to)
}

fn area(map: &Map) -> u64 {
    (map.images * map.height * map.width) as u64
}
