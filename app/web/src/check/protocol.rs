//! What the page and its worker say to each other.

use serde::{Deserialize, Serialize};
use uresnet::{CLASSES, Config, PLANES, Report, Scores, Step};

/// No weights and no event of this network are larger.
pub const LARGEST: u64 = 1 << 30;

/// From the page. The worker keeps the last run between questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// Compute. The files that it names are beside, the weights first.
    Run(Box<Run>),
    /// The last run as a file for PyTorch.
    Bundle {
        /// With the weights.
        weights: bool,
        /// With what modules gave on the way.
        stages: Stages,
    },
    /// Hold the outputs of another run, which are beside, against the last run's.
    Compare {
        /// What the other run computed with: a place in [`PRECISIONS`](super::choice::PRECISIONS).
        precision: usize,
    },
}

impl Ask {
    /// The head of a message; `None` when the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Ask> {
        postcard::from_bytes(bytes).ok()
    }

    /// As the head of a message.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }
}

/// What to compute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The network.
    pub config: Config,
    /// Its weights.
    pub weights: Weights,
    /// The event.
    pub input: Input,
    /// Height and width of a synthetic or sparse event's picture.
    pub size: (usize, usize),
    /// So many by so many pixels are made one.
    pub downsample: usize,
}

/// Where weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Weights {
    /// Made from a number.
    Seeded(u64),
    /// A file beside.
    File,
}

/// Where the event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Made from a number.
    Synthetic(u64),
    /// A file beside; of a sparse one, the event of this number.
    File(u64),
}

/// Which modules' outputs go into a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stages {
    /// None.
    #[default]
    None,
    /// All but those inside series of blocks.
    Coarse,
    /// All.
    All,
}

/// From the worker. `Ready` comes unasked; while it runs `Progress` comes before the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The worker listens.
    Ready,
    /// A run goes on.
    Progress(Progress),
    /// A run is over. Beside: charge; predicted classes, and labels or nothing.
    Done(Box<Done>),
    /// The bundle is beside.
    Bundle,
    /// Outputs were compared; and the precision that their numbers look like, where that is another than was asked for: a
    /// place in [`PRECISIONS`](crate::check::state::choice::PRECISIONS). Beside: the largest difference by pixel; the other
    /// run's classes.
    Compared(Box<Report>, Option<usize>),
    /// It can't be done.
    Failed(Part, String),
}

impl Answer {
    /// The head of a message; `None` when the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Answer> {
        postcard::from_bytes(bytes).ok()
    }

    /// As the head of a message.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }
}

/// The part of the form that something is wrong with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// Fields of the configuration.
    Config,
    /// The picture's size.
    Size,
    /// The weights.
    Weights,
    /// The event.
    Input,
    /// Running it.
    Run,
    /// The other run's outputs.
    Candidate,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What is being done: a module's path.
    pub path: String,
    /// Number of the step that begins.
    pub step: usize,
    /// How many there are.
    pub count: usize,
    /// Share of the work that is done, from 0 to 1.
    pub share: f64,
    /// Seconds left; none before anything is done.
    pub left: Option<f64>,
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Height and width of the picture.
    pub input: (usize, usize),
    /// Height and width of the logits; without connections they may be smaller.
    pub output: (usize, usize),
    /// The numbers that the picture holds, from 0 up.
    pub brightest: f32,
    /// How it went.
    pub facts: Facts,
}

/// What is told about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The network that ran.
    pub config: Config,
    /// Its learned numbers.
    pub parameters: usize,
    /// Of the logits: [pictures, 3 planes, 3 classes, height, width].
    pub shape: Vec<usize>,
    /// The instruction set it was done with.
    pub instructions: String,
    /// How many threads did it.
    pub threads: usize,
    /// What was done, and the seconds of each.
    pub steps: Vec<(Step, f64)>,
    /// Bytes that it took.
    pub memory: Memory,
    /// The lowest and the highest logit.
    pub range: (f32, f32),
    /// Pixels of each predicted class in each plane, all pictures together.
    pub pixels: [[u64; CLASSES]; PLANES],
    /// Where labels are known and of the logits' size.
    pub scores: Option<Scores>,
}

impl Facts {
    /// Multiplications and additions of all steps, in pairs, and their seconds.
    pub fn whole(&self) -> (u64, f64) {
        self.steps.iter().fold((0, 0.0), |(macs, sum), (step, seconds)| (macs + step.macs, sum + seconds))
    }
}

/// Bytes of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Maps between the layers.
    pub maps: usize,
    /// Weights, packed for the kernels.
    pub weights: usize,
    /// All of the program.
    pub whole: usize,
}

/// A message with its head still typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parcel<T> {
    /// The small part.
    pub head: T,
    /// Numbers, as the head says.
    pub floats: Vec<Vec<f32>>,
    /// Bytes, as the head says.
    pub bytes: Vec<Vec<u8>>,
}

impl<T> Parcel<T> {
    /// A head alone.
    pub fn of(head: T) -> Parcel<T> {
        Parcel { head, floats: Vec::new(), bytes: Vec::new() }
    }
}
