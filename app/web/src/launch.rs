//! The page that writes launch scripts.
//!
//! One small program: a plan takes less than a millisecond, so every key press is handled immediately. Only users' own
//! site files and scripts are read by workers ([`own_files`]), each fetched with the first such file. The form's
//! contents are a table of fields ([`launch::form::Fields`]); it is stored in the address, so that links contain it and
//! the browser's history serves as undo.
//!
//! [`state`] and [`colours`] are plain Rust and tested natively. `view` displays the state, and `work` connects it to
//! the browser: the address, the clipboard, downloads.

pub mod colours;
pub mod own_files;
pub mod protocol;
pub mod state;

#[cfg(target_arch = "wasm32")]
#[allow(unreachable_pub, reason = "the component macro makes public structs")]
mod view;
#[cfg(target_arch = "wasm32")]
mod work;

#[cfg(target_arch = "wasm32")]
pub use view::mount;
