//! A Chromium for the browser tests.

use super::system::Package;
use super::there;
use crate::step::on_path;
use anyhow::{Context, Result};
use std::path::PathBuf;

const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Where macOS keeps applications, which are not on PATH.
const APPLICATIONS: [&str; 2] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

pub(super) fn ensure() -> Result<()> {
    let found = match chromium() {
        Some(found) => found,
        None => {
            // Without a font every text has the width of nothing, and layout tests would measure that.
            let apt: &[&str] = &["chromium", "fonts-dejavu-core"];
            Package { apt, brew: "--cask chromium", dnf: "chromium" }.install("Chromium")?;
            chromium().context("the installed Chromium is not on PATH")?
        }
    };
    there("Chromium", found.display());
    Ok(())
}

/// The browser: `PORTOLAN_CHROMIUM` when set, else the first that is found.
pub(crate) fn chromium() -> Option<PathBuf> {
    let chosen = std::env::var_os("PORTOLAN_CHROMIUM").map(PathBuf::from).filter(|file| file.is_file());
    let named = PROGRAMS.iter().find_map(|program| on_path(program));
    let application = || APPLICATIONS.iter().map(PathBuf::from).find(|file| file.is_file());
    chosen.or(named).or_else(application)
}
