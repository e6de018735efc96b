//! The page that checks a port: the network of CosmicTagger computed on this machine, and another run's outputs held
//! against it.
//!
//! Two programs are built from it. **`check`** owns what the user sees and holds no kernel; **`forward`** runs in a Web
//! Worker and owns the network. It is loaded when Run is pressed, and ended when the run is cancelled. They talk in
//! [`protocol`] messages: a small head, and files and numbers beside it that change hands without a copy.
//!
//! Where workers may share memory, `threaded_forward` takes the place of `forward`: the same [`desk`], built for a target
//! whose standard library has threads, which wasm-bindgen doesn't bind. The scripts in `threads/` start it.
//!
//! Tested natively are [`choice`] (what the form holds, and the link that carries it), [`desk`] (what the worker
//! answers), [`picture`] (which pixel of a plane has which colour, and where one looks), [`parts`] (what is shown, as
//! HTML). The rest is for the browser: `worker` is the worker's loop, `page` acts on the controls, `planes` draws.

pub mod choice;
pub mod desk;
pub mod parts;
pub mod picture;
pub mod protocol;
mod tensors;

#[cfg(all(target_arch = "wasm32", feature = "views"))]
pub mod page;
#[cfg(all(target_arch = "wasm32", feature = "views"))]
mod planes;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod wire;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub mod worker;
