//! The page that writes launch scripts.
//!
//! One small program: a plan is made in less than a millisecond, so every key is answered at once. Only site files and
//! scripts of the user's own are read by workers ([`own_files`]), each fetched with the first such file. What is written into the form is a table of fields ([`launch::form::Fields`]); it stands in the address, so that a link
//! carries it and the browser's history is the undo.
//!
//! [`state`] and [`colours`] are plain and tested natively. `view` shows the state, and `work` carries between it and the
//! browser: the address, the clipboard, downloads.

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
