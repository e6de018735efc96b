//! The forward pass as a plan: for one network, one set of weights and one image size.
//!
//! Planning folds the batch normalisations into the convolutions, transforms and packs the weights for the kernels of
//! this machine, and lays out the maps in one memory. A plan can be run any number of times.
//!
//! The memory is kept small by the order of the steps: a level processes its planes one after the other while its maps
//! are large, so only the level's inputs, which are needed again in the upsampling path, exist for all planes at once.
//! Pooling and interpolation have no maps of their own; the 1x1 convolution after them computes its input row by row. A
//! 1x1 convolution and an interpolation can be swapped, since both are linear, so it runs on the small map.

mod arena;
mod blocks;
mod capture;
mod fold;
mod layer;
mod packing;
mod planner;
mod progress;
mod steps;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernels::{Aligned, Job, Kernels, Memories, execute, scratch_of};
use crate::network::{CLASSES, Network, PLANES};
use crate::reference::check_input;
use crate::stage::Stage;
use crate::team::Team;
use crate::tensor::Tensor;
use crate::weights::{Parameters, Weights};
use capture::Capture;
use planner::Planner;
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

/// Choices of a plan that change its speed and its rounding, but not what it computes.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How 3x3 convolutions are computed.
    pub method: Method,
    /// The instruction set by its name in [`instructions`]; the best available by default.
    pub instructions: Option<String>,
}

/// One step of a plan, for progress and for timing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Module path in PyTorch.
    pub path: String,
    /// The kind of work: `3x3 winograd4`, `1x1`, ...
    pub kind: String,
    /// Multiply-adds of the definition.
    pub macs: u64,
}

/// A forward pass ready to run.
pub struct Plan {
    jobs: Vec<Job>,
    steps: Vec<Step>,
    /// The cost of each step, in arbitrary units.
    costs: Vec<f64>,
    captures: Vec<Capture>,
    weights: Aligned,
    arena: usize,
    /// The maps' memory, kept between runs; a concurrent second run allocates its own.
    kept: Mutex<Option<Aligned>>,
    input: Vec<usize>,
    output: Vec<usize>,
    largest_pair: usize,
    instructions: &'static str,
}

/// Names of the instruction sets for which this machine has kernels, the best last.
pub fn instructions() -> Vec<&'static str> {
    Kernels::all().iter().map(|k| k.name).collect()
}

/// Multiplies and adds in registers, for the caller to time: this machine's peak rate with an instruction set. Returns
/// the number of floating-point operations and a value that depends on all of them; `None` if the machine does not
/// support the instructions.
pub fn peak(instructions: &str, rounds: usize) -> Option<(u64, f32)> {
    Kernels::all().iter().find(|k| k.name == instructions).map(|k| k.peak(rounds))
}

impl Plan {
    /// Plans the network for images of a shape [images, 3, height, width].
    pub fn new(network: &Network, weights: &dyn Parameters, shape: &[usize], options: &Options) -> Result<Plan, Error> {
        Plan::showing(network, weights, shape, options, &|_| false)
    }

    /// The same, for runs that show the output of some modules, selected by their PyTorch paths.
    ///
    /// A module whose output has no map of its own is computed separately, in addition to the steps that are needed
    /// anyway. So showing all modules takes about half as long again; showing none costs nothing.
    pub fn showing(
        network: &Network,
        weights: &dyn Parameters,
        shape: &[usize],
        options: &Options,
        shows: &dyn Fn(&str) -> bool,
    ) -> Result<Plan, Error> {
        let &[pictures, PLANES, height, width] = shape else {
            return Err(Error::Input(format!("expected [images, 3, height, width], found {shape:?}")));
        };
        let (out_height, out_width) = network.config.output_size(height, width)?;
        let mut kernels = Kernels::all();
        if let Some(name) = &options.instructions {
            let last = kernels.iter().position(|k| k.name == name).ok_or_else(|| {
                Error::Input(format!("no kernels for {name} here; available: {}", instructions().join(", ")))
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

    /// The steps in the order of execution.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Shape of the logits: [images, 3 planes, 3 classes, height, width].
    pub fn output_shape(&self) -> &[usize] {
        &self.output
    }

    /// The instruction set the plan is made for.
    pub fn instructions(&self) -> &'static str {
        self.instructions
    }

    /// Bytes of the maps between the layers during a run.
    pub fn map_bytes(&self) -> usize {
        self.arena * size_of::<f32>()
    }

    /// Bytes of the packed weights.
    pub fn weight_bytes(&self) -> usize {
        size_of_val(self.weights.as_slice())
    }

    /// Bytes of each worker's own memory during a run.
    pub fn worker_bytes(&self) -> usize {
        self.jobs.iter().map(scratch_of).max().unwrap_or(0) * size_of::<f32>()
    }

    /// Bytes of the largest input and output that one layer has, all planes together.
    pub fn largest_pair_bytes(&self) -> usize {
        self.largest_pair * size_of::<f32>()
    }

    /// Runs the plan; the logits are [images, 3 planes, 3 classes, height, width].
    pub fn run(&self, input: &Tensor, team: &dyn Team) -> Result<Tensor, Error> {
        self.run_with(input, team, &|_| ControlFlow::Continue(()))
    }

    /// The same; `before` is called with the number of each step as it begins, and with their count at the end. If it
    /// breaks, the run stops and returns [`Error::Cancelled`].
    pub fn run_with(
        &self,
        input: &Tensor,
        team: &dyn Team,
        before: &(dyn Fn(usize) -> ControlFlow<()> + Sync),
    ) -> Result<Tensor, Error> {
        self.run_showing(input, team, before, &mut |_| ())
    }

    /// The same; the stages requested in [`Plan::showing`] are shown between the steps, on this thread.
    ///
    /// Large maps are processed plane by plane, so the stages of one plane may come before the earlier stages of the
    /// next.
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
            .ok_or_else(|| Error::Input(format!("not enough memory for maps of {} bytes", self.map_bytes())))?;
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
            // The end of a part is reported as the beginning of the next.
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
