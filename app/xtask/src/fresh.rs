//! `cargo xtask test --fresh`: both of the README's commands on a machine that has nothing but the README's
//! requirements.
//!
//! The machine is a folder: Debian created by debootstrap, Rust as installed by rustup, a clone of HEAD, an empty HOME.
//! It is created, used and removed by `app/xtask/fresh/machine.sh`, because each of its lines is a command for root.
//! This module prepares, follows and times it.

use crate::setup;
use crate::step::{ask, on_path, quoted};
use crate::surroundings::{self, NETWORK};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Settings of package managers below a user's home.
const OF_USER: [&str; 4] = [".config/pip/pip.conf", ".pip/pip.conf", ".npmrc", ".cargo/config.toml"];

/// The same for all users of a machine.
const OF_MACHINE: [&str; 3] = ["/etc/pip.conf", "/etc/npmrc", "/usr/etc/npmrc"];

/// PATH on the machine, as in a shell after rustup was installed.
const PATH: &str = "/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Creates the machine, runs both commands on it, and removes it unless it is to be kept.
pub(crate) fn run(keep: bool) -> Result<()> {
    if !cfg!(target_os = "linux") {
        bail!("a bare Debian runs on Linux only");
    }
    let commit = committed()?;
    let root = root_command()?;
    setup::ensure_debootstrap()?;
    let folder = workspace::target().join("fresh");
    if folder.join("root").exists() {
        bail!(
            "{} exists from another run; after that run has ended: {} sh app/xtask/fresh/machine.sh remove {}",
            folder.join("root").display(),
            root.join(" "),
            quoted(folder.as_os_str())
        );
    }
    prepare(&folder)?;
    let log = folder.join(format!("{}.log", &commit[..12.min(commit.len())]));
    println!("A bare Debian with {commit}; the whole log is in {}", log.display());
    let mut command = machine(&root, &folder, &commit, keep)?;
    let mut followed = Followed::new(File::create(&log).with_context(|| format!("cannot write {}", log.display()))?);
    let start = Instant::now();
    let passed = follow(&mut command, &mut followed)?;
    let table = followed.table(start);
    println!("\n{table}");
    writeln!(followed.log, "\n{table}").with_context(|| format!("cannot write {}", log.display()))?;
    if keep {
        println!(
            "The machine is kept. Run a command on it: {0} sh app/xtask/fresh/machine.sh run {1} COMMAND …; remove it: {0} sh \
             app/xtask/fresh/machine.sh remove {1}",
            root.join(" "),
            quoted(folder.as_os_str())
        );
    }
    if !passed {
        bail!("failed on a bare machine: see the end of {}; --keep keeps the machine for inspection", log.display());
    }
    Ok(())
}

/// The commit that is tested: HEAD, if the checkout has no other changes.
fn committed() -> Result<String> {
    let git = |args: &[&str]| {
        let root = workspace::root().display().to_string();
        ask("git", &[&["-C", root.as_str()], args].concat())
    };
    let commit =
        git(&["rev-parse", "HEAD"]).context("a bare machine needs a git clone, but this is not a git checkout")?;
    let changed = git(&["status", "--porcelain"]).context("git status failed")?;
    if !changed.is_empty() {
        bail!("a bare machine uses a clone of HEAD without these changes; commit or stash them:\n{changed}");
    }
    Ok(commit)
}

/// The prefix of a command for root.
fn root_command() -> Result<Vec<&'static str>> {
    if ask("id", &["-u"]).is_some_and(|id| id == "0") {
        return Ok(Vec::new());
    }
    if on_path("sudo").is_none() {
        bail!("a bare machine needs root, and there is no sudo: run this as root");
    }
    Ok(vec!["sudo"])
}

/// Writes a file with this computer's settings for package managers. Values may be secret (a proxy's password), so only
/// this user can read them.
fn prepare(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut settings = format!("export HOME=/root PATH={PATH}\n");
    let mut files: Vec<(PathBuf, PathBuf)> = OF_MACHINE.iter().map(|file| (file.into(), file.into())).collect();
    let home = std::env::home_dir().context("the home folder is unknown: set HOME")?;
    files.extend(OF_USER.iter().map(|file| (home.join(file), Path::new("/root").join(file))));
    for (name, value) in surroundings::kept(NETWORK) {
        let _ = writeln!(settings, "export {}={}", name.display(), quoted(&value));
        // A list of certificates, or a package manager's settings in another location.
        if value.to_string_lossy().starts_with('/') {
            files.push((value.clone().into(), value.into()));
        }
    }
    files.retain(|(here, _)| here.is_file());
    let files: String =
        files.iter().map(|(here, there)| format!("{}\t{}\n", here.display(), there.display())).collect();
    for (name, text) in [("settings", settings), ("files", files)] {
        write_private(&folder.join(name), &text)?;
    }
    Ok(())
}

#[cfg(unix)]
fn write_private(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(not(unix))]
fn write_private(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// `machine.sh whole …`, with its output in one pipe.
fn machine(root: &[&str], folder: &Path, commit: &str, keep: bool) -> Result<Command> {
    let toolchain = ask("rustc", &["--print", "sysroot"]).context("cannot run rustc")?;
    let rustup = on_path("rustup").context("the README requires rustup, but it is not on PATH")?;
    let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr());
    let port = free.context("no port is free on 127.0.0.1")?.port();
    let script = workspace::root().join("app/xtask/fresh/machine.sh");
    let mut words: Vec<OsString> = root.iter().map(OsString::from).collect();
    words.extend(["sh".into(), script.into(), "whole".into(), folder.into(), workspace::root().into(), commit.into()]);
    words.extend([toolchain.into(), rustup.into(), port.to_string().into(), if keep { "yes" } else { "no" }.into()]);
    // One pipe for both, so that the log has the original order of the output.
    let mut command = workspace::command("sh");
    command.args(["-c", "exec \"$@\" 2>&1", "sh"]).args(words).stdin(Stdio::null()).stdout(Stdio::piped());
    Ok(command)
}

/// Runs it to its end; returns whether all succeeded.
fn follow(command: &mut Command, followed: &mut Followed) -> Result<bool> {
    let mut child = command.spawn().context("cannot start sh")?;
    let mut said = BufReader::new(child.stdout.take().context("no pipe")?);
    let mut line = Vec::new();
    while said.by_ref().read_until(b'\n', &mut line).context("cannot read the machine's output")? > 0 {
        followed.hear(&String::from_utf8_lossy(&line))?;
        line.clear();
    }
    Ok(child.wait().context("cannot wait for the machine")?.success())
}

/// The machine's output, with the time of each part.
struct Followed {
    log: File,
    parts: Vec<Part>,
}

/// The heading of a part.
struct Part {
    what: String,
    /// Whether it is a subsection of the one before.
    nested: bool,
    began: Instant,
    load: String,
    /// The processor time of the part, if it is reported.
    worked: String,
}

impl Followed {
    fn new(log: File) -> Followed {
        Followed { log, parts: Vec::new() }
    }

    /// Keeps a line, and shows it if it is the heading or the end of a part.
    fn hear(&mut self, line: &str) -> Result<()> {
        self.log.write_all(line.as_bytes()).context("cannot write the log")?;
        let line = line.trim_end();
        for (mark, nested) in [("==== ", false), ("==> ", true)] {
            if let Some(what) = line.strip_prefix(mark) {
                let (what, load) = (what.to_owned(), load());
                self.parts.push(Part { what, nested, began: Instant::now(), load, worked: String::new() });
                println!("{line}");
            }
        }
        if let Some(minutes) = line.strip_prefix("processor minutes: ")
            && let Some(part) = self.parts.iter_mut().rfind(|part| !part.nested)
        {
            part.worked = minutes.to_owned();
        }
        let ends =
            ["    done in", "    failed in", "    ready in", "xtask: "].iter().any(|mark| line.starts_with(mark));
        if ends || line.starts_with("    ") && line.contains(" installed in ") {
            println!("{line}");
        }
        Ok(())
    }

    /// The minutes of each part, up to the next of its kind.
    fn table(&self, start: Instant) -> String {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut table = format!(
            "| what | minutes | of work | load when it began, on {processors} processors |\n|---|--:|--:|--:|\n"
        );
        let now = Instant::now();
        for (at, Part { what, nested, began, load, worked }) in self.parts.iter().enumerate() {
            let next =
                self.parts[at + 1..].iter().find(|later| *nested || !later.nested).map_or(now, |part| part.began);
            if what != "end" {
                let what = if *nested { format!("– {what}") } else { format!("**{what}**") };
                let _ = writeln!(table, "| {what} | {:.1} | {worked} | {load} |", (next - *began).as_secs_f64() / 60.0);
            }
        }
        let _ = writeln!(table, "| all | {:.1} | | |", (now - start).as_secs_f64() / 60.0);
        table
    }
}

/// The average number of processes that needed a processor in the last minute.
fn load() -> String {
    let said = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    said.split_whitespace().next().unwrap_or("–").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_part() {
        let log = std::env::temp_dir().join(format!("portolan-fresh-{}", std::process::id()));
        let mut followed = Followed::new(File::create(&log).unwrap());
        for line in
            ["==== cargo xtask serve", "==> setup", "    Compiling", "==> build", "processor minutes: 7.5", "==== end"]
        {
            followed.hear(&format!("{line}\n")).unwrap();
        }
        let table = followed.table(Instant::now());
        let rows: Vec<_> = table
            .lines()
            .skip(2)
            .map(|row| row.split('|').map(str::trim).collect::<Vec<_>>()[1..4].join(", "))
            .collect();
        assert_eq!(rows, ["**cargo xtask serve**, 0.0, 7.5", "– setup, 0.0, ", "– build, 0.0, ", "all, 0.0, "]);
        assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 6);
        fs::remove_file(log).unwrap();
    }
}
