//! The messages between the page and its worker.

use serde::{Deserialize, Serialize};
use uresnet::{CLASSES, Config, PLANES, Report, Scores, Step};

/// A size that no weights or events of this network exceed.
pub const LARGEST: u64 = 1 << 30;

/// From the page. The worker keeps the last run between requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// Runs the network. The files that the order names are attached, weights first.
    Run(Box<Run>),
    /// Returns the last run as a file for PyTorch.
    Bundle {
        /// Whether to include the weights.
        weights: bool,
        /// The modules whose outputs to include.
        stages: Stages,
    },
    /// Compares the attached outputs of another run with the last run's.
    Compare {
        /// The precision of the other run: an index into [`PRECISIONS`](super::choice::PRECISIONS).
        precision: usize,
    },
}

impl Ask {
    /// Decodes the head of a message; `None` if the bytes are not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Ask> {
        postcard::from_bytes(bytes).ok()
    }

    /// Encodes the head of a message.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }
}

/// A run to perform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The network.
    pub config: Config,
    /// Its weights.
    pub weights: Weights,
    /// The event.
    pub input: Input,
    /// Height and width of the image of a synthetic or sparse event.
    pub size: (usize, usize),
    /// The downsampling factor: this many by this many pixels become one.
    pub downsample: usize,
}

/// The source of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Weights {
    /// Generated from a seed.
    Seeded(u64),
    /// An attached file.
    File,
}

/// The source of the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Generated from a seed.
    Synthetic(u64),
    /// An attached file; if it is sparse, the event with this number.
    File(u64),
}

/// The modules whose outputs are included in a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stages {
    /// None.
    #[default]
    None,
    /// All except those inside series of blocks.
    Coarse,
    /// All.
    All,
}

/// From the worker. `Ready` is sent without a request; during a run, `Progress` is sent before the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The worker is ready.
    Ready,
    /// A run is in progress.
    Progress(Progress),
    /// A run is finished. Attached: charge; predicted classes, and labels if there are any.
    Done(Box<Done>),
    /// The bundle is attached.
    Bundle,
    /// The result of a comparison, and the precision that the numbers appear to have if it is not the requested one: an
    /// index into [`PRECISIONS`](crate::check::state::choice::PRECISIONS). Attached: the largest difference of each
    /// pixel; the other run's classes.
    Compared(Box<Report>, Option<usize>),
    /// The request failed.
    Failed(Part, String),
}

impl Answer {
    /// Decodes the head of a message; `None` if the bytes are not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Answer> {
        postcard::from_bytes(bytes).ok()
    }

    /// Encodes the head of a message.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }
}

/// The part of the form that has a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// Fields of the configuration.
    Config,
    /// The image size.
    Size,
    /// The weights.
    Weights,
    /// The event.
    Input,
    /// The run.
    Run,
    /// The other run's outputs.
    Candidate,
}

/// The progress of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The current step: a module's path.
    pub path: String,
    /// The number of the step that is starting.
    pub step: usize,
    /// The number of steps.
    pub count: usize,
    /// The fraction of the work that is done, from 0 to 1.
    pub share: f64,
    /// Seconds remaining; `None` before anything is done.
    pub left: Option<f64>,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Height and width of the image.
    pub input: (usize, usize),
    /// Height and width of the logits; without connections they may be smaller.
    pub output: (usize, usize),
    /// The largest charge in the image; the colour scale starts at 0.
    pub brightest: f32,
    /// Its statistics.
    pub facts: Facts,
}

/// The statistics of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The network that ran.
    pub config: Config,
    /// The number of its parameters.
    pub parameters: usize,
    /// The shape of the logits: [images, 3 planes, 3 classes, height, width].
    pub shape: Vec<usize>,
    /// The instruction set that was used.
    pub instructions: String,
    /// The number of threads.
    pub threads: usize,
    /// The steps, and the seconds that each took.
    pub steps: Vec<(Step, f64)>,
    /// The memory used, in bytes.
    pub memory: Memory,
    /// The smallest and the largest logit.
    pub range: (f32, f32),
    /// The number of pixels of each predicted class in each plane, for all images together.
    pub pixels: [[u64; CLASSES]; PLANES],
    /// The scores, if labels are known and have the logits' size.
    pub scores: Option<Scores>,
}

impl Facts {
    /// The number of multiply-add operations of all steps, and their seconds.
    pub fn whole(&self) -> (u64, f64) {
        self.steps.iter().fold((0, 0.0), |(macs, sum), (step, seconds)| (macs + step.macs, sum + seconds))
    }
}

/// The memory of a run in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Feature maps between the layers.
    pub maps: usize,
    /// Weights, packed for the kernels.
    pub weights: usize,
    /// Everything that the program allocated.
    pub whole: usize,
}

/// A message with a typed head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parcel<T> {
    /// The small part.
    pub head: T,
    /// Numbers, as described by the head.
    pub floats: Vec<Vec<f32>>,
    /// Bytes, as described by the head.
    pub bytes: Vec<Vec<u8>>,
}

impl<T> Parcel<T> {
    /// A message without attachments.
    pub fn of(head: T) -> Parcel<T> {
        Parcel { head, floats: Vec::new(), bytes: Vec::new() }
    }
}
