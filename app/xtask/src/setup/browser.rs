//! Chromium and Firefox for the browser tests, and the fonts that are available to Chromium in them.

use super::system::Package;
use super::there;
use crate::step::on_path;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

const CHROMIUM: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Debian's is the one with long-term support.
const FIREFOX: [&str; 2] = ["firefox-esr", "firefox"];

/// Where macOS has applications, which are not on PATH.
const CHROMIUM_APPLICATIONS: [&str; 2] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const FIREFOX_APPLICATIONS: [&str; 1] = ["/Applications/Firefox.app/Contents/MacOS/firefox"];

/// The files of the fonts that every Debian has, also named in `tests/browser/fonts.conf`.
const FONTS: [&str; 6] = [
    "DejaVuSans.ttf",
    "DejaVuSans-Bold.ttf",
    "DejaVuSansMono.ttf",
    "DejaVuSansMono-Bold.ttf",
    "DejaVuSerif.ttf",
    "DejaVuSerif-Bold.ttf",
];

/// Where fontconfig searches for them.
const FONT_FOLDERS: [&str; 2] = ["/usr/share/fonts", "/usr/local/share/fonts"];

pub(super) fn ensure() -> Result<()> {
    let found = match chromium() {
        Some(found) => found,
        None => {
            Package { apt: &["chromium"], brew: "--cask chromium", dnf: "chromium" }.install("Chromium")?;
            chromium().context("the installed Chromium is not on PATH")?
        }
    };
    there("Chromium", found.display());
    let found = match firefox() {
        Some(found) => found,
        None => {
            Package { apt: &["firefox-esr"], brew: "--cask firefox", dnf: "firefox" }.install("Firefox")?;
            firefox().context("the installed Firefox is not on PATH")?
        }
    };
    there("Firefox", found.display());
    // On other systems a browser does not use fontconfig, and has the system's fonts.
    if cfg!(target_os = "linux") { ensure_fonts() } else { Ok(()) }
}

/// Without these all text has zero width in the tests, which restrict the browser to them.
fn ensure_fonts() -> Result<()> {
    let missing = || FONTS.iter().find(|font| !FONT_FOLDERS.iter().any(|folder| holds(Path::new(folder), font)));
    if missing().is_some() {
        let dnf = "dejavu-sans-fonts dejavu-sans-mono-fonts dejavu-serif-fonts";
        Package { apt: &["fonts-dejavu-core"], brew: "--cask font-dejavu", dnf }.install("DejaVu fonts")?;
    }
    match missing() {
        Some(font) => {
            bail!("the font {font} is missing from {}: layout can't be measured without it", FONT_FOLDERS.join(" or "))
        }
        None => there("DejaVu fonts", "there"),
    }
    Ok(())
}

/// Whether a file of that name exists anywhere below a folder.
fn holds(folder: &Path, name: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.ends_with(name) || path.is_dir() && holds(&path, name))
}

/// The browser: `PORTOLAN_CHROMIUM` if set, otherwise the first that is found.
pub(crate) fn chromium() -> Option<PathBuf> {
    browser("PORTOLAN_CHROMIUM", &CHROMIUM, &CHROMIUM_APPLICATIONS)
}

/// The other browser: `PORTOLAN_FIREFOX` if set, otherwise the first that is found.
pub(crate) fn firefox() -> Option<PathBuf> {
    browser("PORTOLAN_FIREFOX", &FIREFOX, &FIREFOX_APPLICATIONS)
}

fn browser(variable: &str, programs: &[&str], applications: &[&str]) -> Option<PathBuf> {
    let chosen = std::env::var_os(variable).map(PathBuf::from).filter(|file| file.is_file());
    let named = programs.iter().find_map(|program| on_path(program));
    let application = || applications.iter().map(PathBuf::from).find(|file| file.is_file());
    chosen.or(named).or_else(application)
}
