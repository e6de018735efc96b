//! The page that checks a port: the network of CosmicTagger computed on this machine, and another run's outputs held
//! against it.
//!
//! Two programs are built from it. **`check`** owns what the user sees; **`desk`** runs in a Web Worker, reads files and
//! keeps the last run. It is loaded when Run is pressed, and ended when the run is cancelled. They talk in [`protocol`]
//! messages: a small head, and files and numbers beside it that change hands without a copy.
//!
//! Neither holds a kernel. The network is computed by a module of the crate `forward`, which `start_forward.js` chooses by
//! what the browser knows, and which lies in the desk's worker with a memory of its own; `program` and `forward.js` are
//! the two ends of the call. Where workers may share memory it is a module with threads: the scripts in `threads/` start a
//! worker for each, the first of which has the desk.
//!
//! Tested natively are [`choice`] (what the form holds, and the link that carries it), [`desk`] (what the worker
//! answers), [`picture`] (which pixel of a plane has which colour, and where one looks), [`parts`] (what is shown, as
//! HTML). The rest is for the browser: `worker` is the desk's loop, `page` acts on the controls, `planes` draws.

pub mod choice;
pub mod desk;
pub mod parts;
pub mod picture;
pub mod protocol;
mod tensors;

#[cfg(target_arch = "wasm32")]
pub mod page;
#[cfg(target_arch = "wasm32")]
mod planes;
#[cfg(target_arch = "wasm32")]
mod program;
#[cfg(target_arch = "wasm32")]
mod wire;
#[cfg(target_arch = "wasm32")]
pub mod worker;
