//! What users bring of their own: site files, and scripts to be checked. Each is read by a program of its own because few
//! visitors have either, and because reading TOML weighs as much as all else that the page does.

#[cfg(target_arch = "wasm32")]
mod worker;

use crate::launch::protocol::{Script, SiteFile};
use launch::{Linted, Problem, Site, Target};

/// Reads a site file.
pub fn read_site(SiteFile(text): SiteFile) -> Result<Site, Problem> {
    launch::read_site(&text)
}

/// Checks a script.
pub fn check(Script { text, target }: Script) -> Linted {
    launch::lint(&text, Target::named(&target).unwrap_or_default())
}

/// Reads the page's site files until it ends the worker.
#[cfg(target_arch = "wasm32")]
pub fn serve_site_files() {
    worker::serve(read_site);
}

/// Checks the page's scripts until it ends the worker.
#[cfg(target_arch = "wasm32")]
pub fn serve_scripts() {
    worker::serve(check);
}
