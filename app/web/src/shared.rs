//! Code shared by all pages: browser functions, texts with code and links, archives, links to the launch page.

pub mod archive;
pub mod launch_link;
pub mod text;

#[cfg(target_arch = "wasm32")]
pub(crate) mod browser;
#[cfg(target_arch = "wasm32")]
pub(crate) mod tasks;
#[cfg(target_arch = "wasm32")]
#[allow(unreachable_pub, reason = "the component macro makes a public struct")]
pub(crate) mod view;
