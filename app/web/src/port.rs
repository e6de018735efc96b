//! The page that ports.
//!
//! Two programs are built from it. The **page** contains everything the user sees; the **engine** runs in a Web Worker
//! and contains `codemod`'s parser and recipes, so that typing never waits for it. They exchange [`protocol`] messages.
//!
//! The page's data is one [`state::State`]; what a control does is a method of it. [`state`] is plain Rust, tested
//! natively, including which rows of a diff there are and which are visible ([`state::rows`]), how typing changes a
//! file ([`state::lines`]), what remains to be done by hand ([`state::todo`]), what can be opened ([`state::project`])
//! and what a link means ([`state::fragment`]). [`work`] connects the state to the worker, files, links, storage and
//! downloads; the worker's answers are tested natively too. `view` displays the state and calls `work`. Each module
//! depends only on those before it: protocol (with the [`twin_result`] that users open), state, work, view.

pub mod protocol;
pub mod state;
pub mod twin_result;
pub mod work;

#[cfg(target_arch = "wasm32")]
#[allow(unreachable_pub, reason = "the component macro makes public structs")]
mod view;
#[cfg(target_arch = "wasm32")]
pub use view::mount;
