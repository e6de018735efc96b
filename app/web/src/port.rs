//! The page that ports.
//!
//! Two programs are built from it. The **page** (Leptos) owns everything the user sees; the **engine** runs in a
//! Web Worker and owns `codemod`'s parser and recipes, so that typing never waits for it. They talk in
//! [`protocol`] messages.
//!
//! What the page knows is one [`state::State`]; what a click does is a method of it. Tested natively are [`rows`] (which
//! rows of a diff there are and which are in sight), [`lines`] (what typing does to a file), [`project`] and [`archive`]
//! (what may be opened), [`fragment`] (links), [`desk`] (what the worker answers), [`parts`] (what the page shows, as
//! HTML). The rest is for the browser: `app` starts it and carries between state and worker, `page` fills the page and
//! acts on its controls, `opening` and `take_away` bring files in and out.

pub mod archive;
pub mod desk;
pub mod fragment;
pub mod lines;
pub mod order;
pub mod parts;
pub mod project;
pub mod protocol;
pub mod rows;
pub mod state;
pub mod trials;

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
mod link;
#[cfg(target_arch = "wasm32")]
mod opening;
#[cfg(target_arch = "wasm32")]
#[allow(unreachable_pub, reason = "the component macro makes a public struct")]
mod page;
#[cfg(target_arch = "wasm32")]
mod take_away;
#[cfg(target_arch = "wasm32")]
mod wire;
#[cfg(target_arch = "wasm32")]
mod work;
#[cfg(target_arch = "wasm32")]
pub mod worker;
