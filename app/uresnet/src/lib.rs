//! CosmicTagger's 2D UResNet on the CPU: a reference to hold a ported network against.
//!
//! A [`Config`] says which network; [`Network`] is the tree of its layers, and the only place that knows what a
//! configuration means. [`Weights`] are its parameters under PyTorch's names, read from a file or made from a seed.
//! [`forward`] is the forward pass written for reading, which everything faster is tested against. The crate does no
//! IO, reads no clock and knows neither Python nor the browser.

mod compare;
mod config;
mod error;
mod network;
mod reference;
mod tensor;
mod tensor_file;
mod weights;

pub use compare::{Agreement, Distance, agreement, classes, distance};
pub use config::{Config, Connections, Downsampling, GrowthRate, Normalization, Upsampling};
pub use error::Error;
pub use network::{Block, CLASSES, Connection, Deepest, Level, Network, PLANES, Parameter, Series, Unit};
pub use reference::{Stage, bilinear, convolution, forward, forward_with, max_pool, transposed_convolution};
pub use tensor::Tensor;
pub use tensor_file::{read_safetensors, write_safetensors};
pub use weights::Weights;
