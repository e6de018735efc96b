//! `portolan site build`: the pages of the site, written to a folder.

use crate::args::{BuildArgs, PageSources};
use crate::guides::read as read_guides;
use crate::said::{say, say_line};
use anyhow::{Context, Result};
use guide::Page;
use site::{Files, Input, Kit, ONE_FILE, SERVICE_WORKER, SiteFile, service_worker, single_file};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

/// Copies `public/` and writes the pages. Errors in guides are all printed, and then nothing is written.
pub(crate) fn build(args: &BuildArgs) -> Result<bool> {
    match write_pages(args)? {
        Ok(written) => {
            let Written { all, changed } = written;
            say_line!("portolan: {all} files, {changed} changed, in {}", args.out.display());
            Ok(true)
        }
        Err(faults) => {
            say!("{faults}");
            Ok(false)
        }
    }
}

/// The result of a build.
pub(crate) struct Written {
    /// Pages and copied files.
    all: usize,
    /// Those that were new or different.
    pub(crate) changed: usize,
}

/// The build itself: what was written, or the errors, one per line.
pub(crate) fn write_pages(args: &BuildArgs) -> Result<Result<Written, String>> {
    let PageSources { guides, public, kit, base, edit } = &args.sources;
    let log = ask_for_changes(guides);
    let files: Vec<(String, String)> =
        read_guides(guides)?.into_iter().map(|(path, text)| (path.display().to_string(), text)).collect();
    let pages = match guide::pages(files.iter().map(|(path, text)| (&**path, &**text))) {
        Ok((pages, _)) => pages,
        Err(faults) => return Ok(Err(faults.iter().map(|fault| format!("{fault}\n")).collect())),
    };
    let port_page = match &args.port_page {
        Some(file) => Some(fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))?),
        None => None,
    };
    let mut assets = BTreeSet::new();
    if public.is_dir() {
        list(public, "", &mut assets)?;
    }
    let kit = read_kit(kit)?;
    // It is finished by the time that the first page needs it.
    let days = LazyLock::new(|| log.map(|log| last_changes(guides, &pages, log)).unwrap_or_default());
    let input = Input {
        guides: &pages,
        port_page: port_page.as_deref(),
        assets: &assets,
        kit: &kit,
        base,
        changed: &|path| days.get(path).cloned(),
        edit: edit.as_deref(),
        // Pages that are rewritten are next to the file of the full build.
        one_file: args.single_file.as_ref().is_some_and(|file| *file == args.out.join(ONE_FILE))
            || args.out.join(ONE_FILE).is_file(),
    };
    let built = site::build(&input);
    LazyLock::force(&days);
    let pages = match built {
        Ok(pages) => pages,
        Err(faults) => return Ok(Err(faults.iter().map(|fault| format!("{fault}\n")).collect())),
    };
    let mut written = Written { all: assets.len() + pages.len(), changed: 0 };
    for asset in &assets {
        let bytes = fs::read(public.join(asset)).with_context(|| format!("{asset} can't be read"))?;
        written.changed += usize::from(write(&args.out.join(asset), &bytes)?);
    }
    for (path, bytes) in &pages {
        written.changed += usize::from(write(&args.out.join(path), bytes)?);
    }
    let files = finished(&args.out)?;
    write(&args.out.join(SERVICE_WORKER), service_worker(SiteFile::all(&files), &THREADED).as_bytes())?;
    if let Some(file) = &args.single_file {
        let page = single_file(&files)?;
        write(file, page.as_bytes())?;
        say_line!(
            "portolan: single-file site in {}, {:.2} MiB",
            file.display(),
            page.len() as f64 / f64::from(1 << 20)
        );
    }
    Ok(Ok(written))
}

/// Starts git, if it is installed, to find when guides were changed.
fn ask_for_changes(guides: &Path) -> Option<Child> {
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(guides)
        .args(["log", "--format=%x00%cs", "--name-only", "--relative", "--", "."])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    git.spawn().ok()
}

/// The day of each guide's last change, by its path; empty if there is no history. The output is not read further once
/// every guide has a date: a history can be long.
fn last_changes(folder: &Path, guides: &[Page], mut log: Child) -> BTreeMap<String, String> {
    let mut days = BTreeMap::new();
    let mut day = String::new();
    let lines = log.stdout.take().into_iter().flat_map(|text| BufReader::new(text).lines().map_while(Result::ok));
    for line in lines {
        if let Some(of_commit) = line.strip_prefix('\0') {
            day = of_commit.to_string();
            continue;
        }
        let path = folder.join(&line).display().to_string();
        for guide in guides.iter().filter(|guide| guide.files().contains(&*path)) {
            days.entry(guide.path.clone()).or_insert_with(|| day.clone());
        }
        if days.len() == guides.len() {
            break;
        }
    }
    // It may have finished by itself.
    let _ = log.kill();
    let _ = log.wait();
    days
}

/// Folders whose pages use threads with shared memory, which browsers allow on isolated pages.
pub(crate) const THREADED: [&str; 1] = ["check/"];

/// Every file of the finished site, including Trunk's.
fn finished(out: &Path) -> Result<Files> {
    let mut paths = BTreeSet::new();
    list(out, "", &mut paths)?;
    read_all(out, paths.into_iter())
}

fn read_all(folder: &Path, paths: impl Iterator<Item = String>) -> Result<Files> {
    let read = |path: String| {
        let bytes = fs::read(folder.join(&path)).with_context(|| format!("{path} can't be read"))?;
        Ok((path, bytes))
    };
    paths.map(read).collect()
}

/// The files of the twin run kit, without Python's caches.
fn read_kit(folder: &Path) -> Result<Kit> {
    let mut paths = BTreeSet::new();
    if folder.is_dir() {
        list(folder, "", &mut paths)?;
    }
    read_all(folder, paths.into_iter().filter(|path| !path.contains("__pycache__/")))
}

/// Every file below a folder, as paths with `/`. Hidden files are skipped.
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

/// Writes a file unless it already has this content; returns whether it was written.
fn write(file: &Path, bytes: &[u8]) -> Result<bool> {
    if fs::metadata(file).is_ok_and(|data| data.len() == bytes.len() as u64)
        && fs::read(file).is_ok_and(|old| old == bytes)
    {
        return Ok(false);
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("{} can't be created", folder.display()))?;
    }
    fs::write(file, bytes).with_context(|| format!("{} can't be written", file.display()))?;
    Ok(true)
}
