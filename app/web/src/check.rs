//! The page that checks a port: CosmicTagger's network runs on this machine, and another run's outputs are compared
//! with the results.
//!
//! Two programs are built from it. **`check`** contains what the user sees; **`desk`** runs in a Web Worker, reads
//! files and keeps the last run. It is loaded when the user presses Run, and terminated when the run is cancelled. They
//! exchange [`protocol`] messages: a small head, accompanied by files and numbers that are transferred without a copy.
//!
//! Neither contains a kernel. The network is run by a module of the crate `forward`, which `start_forward.js` selects
//! by the browser's features; it runs in the desk's worker with its own memory, and `work::program` and `forward.js`
//! are the two sides of the interface. If workers can share memory, it is a module with threads: the scripts in
//! `threads/` start a worker for each, the first of which runs the desk.
//!
//! Tested natively: [`state`] (the page's data: the form and its link, the results, the colour of each pixel of a
//! plane) and [`work::desk`] (the worker's answers). `view` displays the state, and the rest of [`work`] connects it to
//! the browser: files, threads, the worker.

pub mod protocol;
pub mod state;
pub mod work;

#[cfg(target_arch = "wasm32")]
#[allow(unreachable_pub, reason = "the component macro makes public structs")]
mod view;

#[cfg(target_arch = "wasm32")]
pub use view::mount;
