//! The forward pass for another program: an [`Order`] in, logits out, with [`Planned`] before them.
//!
//! The page's worker consists of two programs. One reads files, creates weights and compares outputs; this is the
//! other: the plan of a network and its kernels, nothing else, so that there can be one for each instruction set and
//! each is a small download. `main.rs` is its interface for wasm32; [`compute`] is the same for Rust programs.

use serde::{Deserialize, Serialize};
use uresnet::{Config, Error, Method, Network, Options, Parameters, Plan, Stage, Step, Tensor, Threads};

/// A request. The image and the weights are requested when they are needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The network.
    pub config: Config,
    /// Shape of the input: [images, 3, height, width].
    pub shape: Vec<usize>,
    /// How its 3x3 convolutions are computed.
    pub method: Method,
    /// Paths of the modules whose outputs are shown.
    pub shows: Vec<String>,
}

/// Facts that are known before the first step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// Shape of the logits: [images, 3 planes, 3 classes, height, width].
    pub output: Vec<usize>,
    /// The instruction set.
    pub instructions: String,
    /// The number of threads.
    pub threads: usize,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The completed share of the work when each step begins, from 0 to 1; one more for the end.
    pub shares: Vec<f64>,
    /// Bytes of the maps between the layers.
    pub maps: usize,
    /// Bytes of the weights as packed for the kernels.
    pub weights: usize,
}

/// The module of a shown output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Path of the module.
    pub path: String,
    /// Its plane; none if they are joined.
    pub plane: Option<usize>,
    /// [images, channels, height, width].
    pub shape: Vec<usize>,
}

/// The observer of a run. Both methods are called on the caller's thread.
pub trait Follow: Sync {
    /// The network is planned.
    fn planned(&self, planned: Planned);
    /// The step with this number begins; their count means the end.
    fn before(&self, step: usize);
}

/// Plans and runs; `see` receives the outputs that the request names.
pub fn compute(
    order: &Order,
    weights: &dyn Parameters,
    picture: &Tensor,
    threads: usize,
    follow: &dyn Follow,
    see: &mut dyn FnMut(Stage),
) -> Result<Tensor, Error> {
    let network = Network::new(&order.config)?;
    let options = Options { method: order.method, ..Options::default() };
    let shows = |path: &str| order.shows.iter().any(|shown| shown == path);
    let plan = Plan::showing(&network, weights, &order.shape, &options, &shows)?;
    let team = Threads(threads);
    follow.planned(Planned {
        output: plan.output_shape().to_vec(),
        instructions: plan.instructions().to_string(),
        threads: uresnet::Team::size(&team),
        steps: plan.steps().to_vec(),
        shares: (0..=plan.steps().len()).map(|step| plan.progress(step).share).collect(),
        maps: plan.map_bytes(),
        weights: plan.weight_bytes(),
    });
    let before = |step| {
        follow.before(step);
        std::ops::ControlFlow::Continue(())
    };
    plan.run_showing(picture, &team, &before, see)
}
