//! The page that checks a port: the network of CosmicTagger computed on this machine, and another run's outputs compared
//! with it.
//!
//! Two programs are built from it. **`check`** owns what the user sees; **`desk`** runs in a Web Worker, reads files and
//! keeps the last run. It is loaded when Run is pressed, and ended when the run is cancelled. They talk in
//! [`protocol`] messages: a small head, and files and numbers beside it that change hands without a copy.
//!
//! Neither holds a kernel. The network is computed by a module of the crate `forward`, which `start_forward.js` chooses by
//! what the browser knows, and which lies in the desk's worker with a memory of its own; `work::program` and `forward.js`
//! are the two ends of the call. Where workers may share memory it is a module with threads: the scripts in `threads/`
//! start a worker for each, the first of which has the desk.
//!
//! Tested natively are [`state`] (what the page knows: the form and the link that carries it, what came out, which pixel of
//! a plane has which colour) and [`work::desk`] (what the worker answers). `view` shows the state, and the rest of [`work`]
//! carries between it and the browser: files, threads, the worker.

pub mod protocol;
pub mod state;
pub mod work;

#[cfg(target_arch = "wasm32")]
#[allow(unreachable_pub, reason = "the component macro makes public structs")]
mod view;

#[cfg(target_arch = "wasm32")]
pub use view::mount;
