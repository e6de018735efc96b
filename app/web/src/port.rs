//! The page that ports.
//!
//! Two programs are built from it. The **page** owns everything the user sees; the **engine** runs in a Web Worker and owns
//! `codemod`'s parser and recipes, so that typing never waits for it. They talk in [`protocol`] messages.
//!
//! What the page knows is one [`state::State`]; what a control does is a method of it. [`state`] is plain and tested
//! natively: also which rows of a diff there are and which are in sight ([`state::rows`]), what typing does to a file
//! ([`state::lines`]), what is left for a person ([`state::todo`]), what may be opened ([`state::project`]) and what a link
//! means ([`state::fragment`]). [`work`] carries between it and the worker, files, links, storage and downloads; what the
//! worker answers is tested natively too. `view` shows the state and calls the work. So each knows those before it alone:
//! protocol (with the [`twin_result`] that somebody brings), state, work, view.

pub mod protocol;
pub mod state;
pub mod twin_result;
pub mod work;

#[cfg(target_arch = "wasm32")]
#[allow(unreachable_pub, reason = "the component macro makes public structs")]
mod view;
#[cfg(target_arch = "wasm32")]
pub use view::mount;
