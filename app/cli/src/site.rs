//! `portolan site build`: the pages of the site, written to a folder.

use crate::args::BuildArgs;
use crate::recipes::read_guides;
use anyhow::{Context, Result};
use site::{Input, Kit, Page, SERVICE_WORKER, SiteFile, service_worker};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Copies `public/` and writes the pages. Faults in guides are printed, all of them, and nothing is written then.
pub(crate) fn build(args: &BuildArgs) -> Result<bool> {
    let as_page = |(path, text): (std::path::PathBuf, String)| Page { path: path.display().to_string(), text };
    let guides: Vec<Page> = read_guides(&args.guides)?.into_iter().map(as_page).collect();
    let port_page = match &args.port_page {
        Some(file) => Some(fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))?),
        None => None,
    };
    let mut assets = BTreeSet::new();
    if args.public.is_dir() {
        list(&args.public, "", &mut assets)?;
    }
    let kit = read_kit(&args.kit)?;
    let changed = last_changes(&args.guides);
    let input = Input {
        guides: &guides,
        port_page: port_page.as_deref(),
        assets: &assets,
        kit: &kit,
        base: &args.base,
        changed: &changed,
        edit: args.edit.as_deref(),
    };
    let pages = match site::build(&input) {
        Ok(pages) => pages,
        Err(faults) => {
            for fault in faults {
                eprintln!("{fault}");
            }
            return Ok(false);
        }
    };
    for asset in &assets {
        let bytes = fs::read(args.public.join(asset)).with_context(|| format!("{asset} can't be read"))?;
        write(&args.out.join(asset), &bytes)?;
    }
    for (path, bytes) in &pages {
        write(&args.out.join(path), bytes)?;
    }
    let files = finished(&args.out)?;
    write(&args.out.join(SERVICE_WORKER), service_worker(files, &THREADED).as_bytes())?;
    eprintln!("portolan: {} files written to {}", assets.len() + pages.len(), args.out.display());
    Ok(true)
}

/// The day of each guide's last change, by its path, as git knows it; empty where there is no git or no history.
fn last_changes(guides: &Path) -> BTreeMap<String, String> {
    let log = Command::new("git")
        .arg("-C")
        .arg(guides)
        .args(["log", "--format=%x00%cs", "--name-only", "--relative", "--", "."])
        .stderr(Stdio::null())
        .output();
    let text = log.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let mut days = BTreeMap::new();
    for commit in text.split('\0').skip(1) {
        let mut lines = commit.lines().filter(|line| !line.is_empty());
        let Some(day) = lines.next() else { continue };
        for file in lines {
            days.entry(guides.join(file).display().to_string()).or_insert_with(|| day.to_string());
        }
    }
    days
}

/// Folders whose pages use threads that share memory.
const THREADED: [&str; 1] = ["check/"];

/// Every file of the finished site, Trunk's among them.
fn finished(out: &Path) -> Result<Vec<SiteFile>> {
    let mut paths = BTreeSet::new();
    list(out, "", &mut paths)?;
    let read = |path: String| {
        let bytes = fs::read(out.join(&path)).with_context(|| format!("{path} can't be read"))?;
        Ok(SiteFile::new(path, &bytes))
    };
    paths.into_iter().map(read).collect()
}

/// The files of the rehearsal kit, without what Python leaves behind.
fn read_kit(folder: &Path) -> Result<Kit> {
    let mut paths = BTreeSet::new();
    if folder.is_dir() {
        list(folder, "", &mut paths)?;
    }
    let paths = paths.into_iter().filter(|path| !path.contains("__pycache__/"));
    let read = |path: String| {
        let bytes = fs::read(folder.join(&path)).with_context(|| format!("{path} can't be read"))?;
        Ok((path, bytes))
    };
    paths.map(read).collect()
}

/// Every file below a folder, as paths with `/`. Hidden ones stay out.
fn list(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("{} can't be read", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{path}/"), found)?;
        } else {
            found.insert(path);
        }
    }
    Ok(())
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    }
    fs::write(file, bytes).with_context(|| format!("{} can't be written", file.display()))
}
