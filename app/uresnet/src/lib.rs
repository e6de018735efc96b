//! CosmicTagger's 2D UResNet on the CPU: a reference to hold a ported network against.
//!
//! A [`Config`] says which network; [`Network`] is the tree of its layers, and the only place that knows what a
//! configuration means. The crate does no IO, reads no clock and knows neither Python nor the browser.

mod config;
mod error;
mod network;

pub use config::{Config, Connections, Downsampling, GrowthRate, Normalization, Upsampling};
pub use error::Error;
pub use network::{Block, CLASSES, Connection, Deepest, Level, Network, PLANES, Parameter, Series, Unit};
