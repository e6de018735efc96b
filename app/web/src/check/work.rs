//! The worker, and the connections between the page's state and the browser. It depends on the state, not on the view.

pub mod desk;
mod tensors;

#[cfg(target_arch = "wasm32")]
mod canvas;
#[cfg(target_arch = "wasm32")]
mod controls;
#[cfg(target_arch = "wasm32")]
mod engine;
#[cfg(target_arch = "wasm32")]
mod files;
#[cfg(target_arch = "wasm32")]
mod image_size;
#[cfg(target_arch = "wasm32")]
mod larcv;
#[cfg(target_arch = "wasm32")]
mod opening;
#[cfg(target_arch = "wasm32")]
mod program;
#[cfg(target_arch = "wasm32")]
mod running;
#[cfg(target_arch = "wasm32")]
mod session;
#[cfg(target_arch = "wasm32")]
mod task;
#[cfg(target_arch = "wasm32")]
mod threads;
#[cfg(target_arch = "wasm32")]
mod wire;
#[cfg(target_arch = "wasm32")]
pub mod worker;

#[cfg(target_arch = "wasm32")]
pub(super) use canvas::{draw, screen};
#[cfg(target_arch = "wasm32")]
pub(super) use session::Session;
#[cfg(target_arch = "wasm32")]
pub(super) use threads::offer;
