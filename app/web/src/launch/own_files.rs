//! Users' own files: site files, and scripts to check. Each kind is read by a separate program because few visitors
//! have either, and because reading TOML takes as much code as the rest of the page.

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

/// Reads site files until the page terminates the worker.
#[cfg(target_arch = "wasm32")]
pub fn serve_site_files() {
    worker::serve(read_site);
}

/// Checks scripts until the page terminates the worker.
#[cfg(target_arch = "wasm32")]
pub fn serve_scripts() {
    worker::serve(check);
}
