//! `cargo xtask serve`: serves the site locally, and rebuilds it when a source changes.

use crate::dist;
use crate::setup::Tools;
use crate::step::run;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

/// The sources of the site.
const SOURCES: [&str; 5] = ["app", "guides", "public", "Trunk.toml", "Cargo.lock"];

/// Builds, serves, and watches until the user stops it. After a failed build the last good site is still served.
pub(crate) fn watch(tools: &Tools, port: u16) -> Result<()> {
    if TcpListener::bind(("127.0.0.1", port)).is_err() {
        bail!("port {port} is in use: cargo xtask serve --port {}", port.wrapping_add(1));
    }
    let mut seen = Sources::look();
    dist::build(tools)?;
    let mut server = serve(tools, port)?;
    println!("\nServing http://127.0.0.1:{port}/  (the port: /port/, the guide: /guides/hpu/). Ctrl-C ends it.");
    loop {
        std::thread::sleep(Duration::from_millis(400));
        if let Some(status) = server.0.try_wait()? {
            bail!("the server ended: {status}");
        }
        let now = Sources::look();
        if let Some(changed) = now.difference(&seen).map(Path::to_path_buf) {
            // The state before the build: changes during it trigger the next one.
            seen = now;
            println!("\n{} changed", changed.strip_prefix(workspace::root()).unwrap_or(&changed).display());
            match dist::build(tools) {
                Ok(()) => println!("    http://127.0.0.1:{port}/ shows it"),
                Err(error) => eprintln!("xtask: {error:#}; still serving the last build"),
            }
        }
    }
}

/// The server, which is terminated with the watcher. If a signal ends the watcher, the server's standard input ends, and the server with it.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).ok();
    }
}

/// The command's own server. It is started from cargo's target folder, not through `cargo run`: terminating cargo would
/// leave its child running.
fn serve(tools: &Tools, port: u16) -> Result<Server> {
    run(tools.command("cargo").args(dist::PORTOLAN))?;
    let portolan = std::env::current_exe()?.with_file_name(format!("portolan{}", std::env::consts::EXE_SUFFIX));
    let mut command = workspace::command(&portolan);
    let words = ["site", "serve", "--watch", "--while-stdin", "--dir", "dist", "--port"];
    command.args(words).arg(port.to_string()).stdin(Stdio::piped());
    Ok(Server(command.spawn().with_context(|| format!("cannot start {}", portolan.display()))?))
}

/// Every source file with its modification time. Checking costs milliseconds, so there is no need for the operating
/// system's notifications and a library per system.
#[derive(PartialEq)]
struct Sources(BTreeMap<PathBuf, SystemTime>);

impl Sources {
    fn look() -> Sources {
        let mut files = BTreeMap::new();
        for source in SOURCES {
            collect(&workspace::root().join(source), &mut files);
        }
        Sources(files)
    }

    /// One file that is new, deleted or newer.
    fn difference<'a>(&'a self, before: &'a Sources) -> Option<&'a Path> {
        let changed = self.0.iter().find(|(file, time)| before.0.get(*file) != Some(time));
        let gone = || before.0.iter().find(|(file, _)| !self.0.contains_key(*file));
        changed.or_else(gone).map(|(file, _)| file.as_path())
    }
}

/// Unreadable entries are skipped: editors rename files while they are being read.
fn collect(path: &Path, files: &mut BTreeMap<PathBuf, SystemTime>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        for entry in entries.flatten() {
            // Swap and backup files of editors start with a dot or end with `~`.
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && !name.ends_with('~') {
                collect(&entry.path(), files);
            }
        }
    } else if let Ok(time) = path.metadata().and_then(|data| data.modified()) {
        files.insert(path.to_path_buf(), time);
    }
}
