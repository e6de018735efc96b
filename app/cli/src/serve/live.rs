//! Watch mode: the pages are rewritten when a source changes, and open pages are notified.
//!
//! Checking file times costs milliseconds, so there is no need for the operating system's notifications and a library
//! per system.

use super::Response;
use crate::args::{BuildArgs, PageSources};
use crate::said::{say, say_line};
use crate::site::write_pages;
use anyhow::Result;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The address of the notifications, as server-sent events.
pub(super) const EVENTS: &str = "/.portolan/events";
/// The script that receives them, and its address.
pub(super) const SCRIPT: &str = "/.portolan/live.js";
pub(super) const TEXT: &str = include_str!("live.js");

/// How often files are checked.
const PAUSE: Duration = Duration::from_millis(150);
/// How often a page is written to, which detects that it was closed.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The state sent to open pages.
#[derive(Default)]
pub(super) struct Live {
    news: Mutex<News>,
    changed: Condvar,
}

#[derive(Clone, Default, PartialEq, Eq)]
struct News {
    /// Counts changes of the site.
    version: u64,
    /// The errors that prevent a build of the site; empty if there are none.
    faults: String,
}

/// Writes the pages, and prints the result. The folder may already contain a built site, which is kept.
pub(super) fn build(dir: &Path, sources: &PageSources) -> Result<String> {
    let start = Instant::now();
    let args = BuildArgs { out: dir.to_path_buf(), sources: sources.clone(), port_page: None, single_file: None };
    Ok(match write_pages(&args)? {
        Ok(written) => {
            say_line!("portolan: {} files changed, {:.2} s", written.changed, start.elapsed().as_secs_f64());
            String::new()
        }
        Err(faults) => {
            say!("{faults}");
            faults
        }
    })
}

impl Live {
    /// Builds and notifies as long as the server runs.
    pub(super) fn watch(&self, dir: &Path, sources: &PageSources, mut seen: Times) {
        let mut site = look([dir]);
        loop {
            std::thread::sleep(PAUSE);
            let now = look_at_sources(sources);
            let mut faults = None;
            if now != seen {
                seen = now;
                // A file that can't be read now, because an editor is writing it, changes again a moment later.
                faults = Some(build(dir, sources).unwrap_or_else(|error| format!("{error:#}\n")));
            }
            // Others may write there too, such as a full build.
            let now = look([dir]);
            let other = now != site;
            site = now;
            let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
            let before = news.clone();
            news.version += u64::from(other);
            news.faults = faults.unwrap_or_else(|| before.faults.clone());
            if *news != before {
                self.changed.notify_all();
            }
        }
    }

    /// Notifies one page until it is closed.
    pub(super) fn tell(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n")?;
        let mut told: Option<News> = None;
        loop {
            let news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
            let unchanged = |news: &mut News| told.as_ref() == Some(news);
            let (news, _) =
                self.changed.wait_timeout_while(news, HEARTBEAT, unchanged).unwrap_or_else(PoisonError::into_inner);
            let now = news.clone();
            drop(news);
            let faults: String = now.faults.lines().map(|line| format!("data: {line}\n")).collect();
            let faults = if faults.is_empty() { "data:\n".to_string() } else { faults };
            write!(stream, "event: version\ndata: {}\n\nevent: faults\n{faults}\n", now.version)?;
            stream.flush()?;
            told = Some(now);
        }
    }
}

/// A page with the script. It must not be cached, or the next visit would show this one.
pub(super) fn listening(mut response: Response) -> Response {
    let is_page = response.headers.iter().any(|(name, kind)| *name == "Content-Type" && kind.starts_with("text/html"));
    if is_page {
        let page = String::from_utf8_lossy(&response.body);
        let script = format!("<script src=\"{SCRIPT}\" defer></script>\n</head>");
        response.body = page.replacen("</head>", &script, 1).replacen("<html ", "<html data-preview ", 1).into_bytes();
    }
    response
}

/// Files with the times of their last changes.
pub(super) type Times = BTreeMap<PathBuf, SystemTime>;

pub(super) fn look_at_sources(sources: &PageSources) -> Times {
    let folders = [&sources.guides, &sources.public, &sources.kit];
    look(folders.map(PathBuf::as_path))
}

fn look<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Times {
    let mut times = Times::new();
    for folder in folders {
        collect(folder, &mut times);
    }
    times
}

/// Unreadable entries are skipped: editors rename files while they are being read.
fn collect(path: &Path, times: &mut Times) {
    if let Ok(entries) = fs::read_dir(path) {
        for entry in entries.flatten() {
            // Swap and backup files of editors start with a dot or end with `~`.
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && !name.ends_with('~') {
                collect(&entry.path(), times);
            }
        }
    } else if let Ok(time) = path.metadata().and_then(|data| data.modified()) {
        times.insert(path.to_path_buf(), time);
    }
}
