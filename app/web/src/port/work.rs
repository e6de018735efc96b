//! The connections between the page's state and everything else: the worker, files, links, storage, downloads. It
//! depends on the state, not on the view.

pub mod archive;
pub mod desk;
pub mod guide_file;
pub mod twin_kit;

#[cfg(target_arch = "wasm32")]
mod downloads;
#[cfg(target_arch = "wasm32")]
mod engine;
#[cfg(target_arch = "wasm32")]
mod kept;
#[cfg(target_arch = "wasm32")]
mod opening;
#[cfg(target_arch = "wasm32")]
mod session;
#[cfg(target_arch = "wasm32")]
mod twin;
#[cfg(target_arch = "wasm32")]
mod wire;
#[cfg(target_arch = "wasm32")]
pub mod worker;

#[cfg(target_arch = "wasm32")]
pub(super) use downloads::{copy, file, kit, patch, report, share, zip};
#[cfg(target_arch = "wasm32")]
pub(super) use kept::offer;
#[cfg(target_arch = "wasm32")]
pub(super) use opening::{open_dropped, open_list, open_sample, start_over};
#[cfg(target_arch = "wasm32")]
pub(super) use session::Session;
#[cfg(target_arch = "wasm32")]
pub(super) use twin::twin_archive;
