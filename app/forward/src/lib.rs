//! The forward pass as somebody else's program asks for it: an [`Order`] in, logits out, [`Planned`] before they come.
//!
//! The page's worker is two programs. What reads files, makes weights and compares outputs is one; this is the other: the
//! plan of a network and its kernels, nothing else, so that there can be one for each set of instructions and each is a
//! small download. `main.rs` is its interface for wasm32; [`compute`] is the same without one, for whoever links it.

use serde::{Deserialize, Serialize};
use uresnet::{Config, Error, Method, Network, Options, Parameters, Plan, Stage, Step, Tensor, Threads};

/// What to compute. The picture and the weights are asked for when they are wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The network.
    pub config: Config,
    /// Of the input: [pictures, 3, height, width].
    pub shape: Vec<usize>,
    /// How its 3x3 convolutions are computed.
    pub method: Method,
    /// Paths of the modules whose outputs are shown.
    pub shows: Vec<String>,
}

/// What is known before the first step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// Of the logits: [pictures, 3 planes, 3 classes, height, width].
    pub output: Vec<usize>,
    /// The instruction set.
    pub instructions: String,
    /// How many threads.
    pub threads: usize,
    /// The steps in their order.
    pub steps: Vec<Step>,
    /// Share of the work that is done when each step begins, from 0 to 1; one more for the end.
    pub shares: Vec<f64>,
    /// Bytes of the maps between the layers.
    pub maps: usize,
    /// Bytes of the weights as the kernels have them.
    pub weights: usize,
}

/// What a shown output is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Path of the module.
    pub path: String,
    /// Which plane; none where they are joined.
    pub plane: Option<usize>,
    /// [pictures, channels, height, width].
    pub shape: Vec<usize>,
}

/// Who follows a run. Both are called on the thread that asked.
pub trait Follow: Sync {
    /// The network is planned.
    fn planned(&self, planned: Planned);
    /// The step of this number begins; their count means the end.
    fn before(&self, step: usize);
}

/// Plans and runs; `see` is shown what the order names.
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
