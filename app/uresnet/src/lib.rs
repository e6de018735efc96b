//! CosmicTagger's 2D UResNet on the CPU: a reference for a ported network.
//!
//! A [`Config`] describes the network; [`Network`] is the tree of its layers, and the only place that interprets a
//! configuration. [`Weights`] are its parameters under PyTorch's names, read from a file or generated from a seed.
//!
//! There are two implementations of the forward pass. [`forward`] is written for readability, with one loop per
//! operation. A [`Plan`] is made for speed: normalisations are folded, weights are packed for this machine's
//! instructions, maps are laid out in one memory, and the work is shared by a [`Team`]. The second is tested against
//! the first, and both against PyTorch, at the end and at every [`Stage`] on the way. [`distance`] and [`agreement`]
//! measure the differences between two outputs, and [`report`] whether they are too large. An [`Event`] is the input.
//!
//! The crate does no IO, reads no clock, and knows neither Python nor the browser. Only `kernels` contains `unsafe`
//! code.

mod archive;
mod checkpoint;
mod compare;
mod config;
mod error;
mod event;
mod format;
mod kernels;
#[cfg(feature = "larcv")]
mod larcv;
mod network;
mod number;
mod numpy;
mod plan;
mod reference;
mod report;
mod sample;
mod script;
mod stage;
mod team;
mod tensor;
mod tensor_file;
mod weights;

pub use checkpoint::read_checkpoint;
pub use compare::{Agreement, Distance, agreement, classes, distance};
pub use config::{Config, Connections, Downsampling, GrowthRate, Normalization, Upsampling};
pub use error::Error;
pub use event::Event;
pub use format::read_tensors;
#[cfg(feature = "larcv")]
pub use larcv::{count_larcv, larcv_event, read_larcv};
pub use network::{Block, CLASSES, Connection, Deepest, Level, Network, PLANES, Parameter, Series, Unit};
pub use numpy::{read_npy, read_npz};
pub use plan::{Method, Options, Plan, Progress, Step, instructions, peak, run};
pub use reference::{bilinear, convolution, forward, forward_with, max_pool, transposed_convolution};
pub use report::{Precision, Report, Scores, StageDistance, one_plane, report, scores};
pub use sample::SAMPLE_CAUTION;
pub use script::check_script;
pub use stage::Stage;
pub use team::Threads;
pub use team::{Alone, Team};
pub use tensor::Tensor;
pub use tensor_file::{read_safetensors, write_safetensors};
pub use weights::{Parameters, Weights};
