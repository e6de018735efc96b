//! System packages: installed with apt if it exists; otherwise a message with the command.

use super::missing;
use crate::step::{ask, on_path, run};
use anyhow::{Context, Result, bail};
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The names of a program's package in the supported package managers.
pub(super) struct Package {
    /// Debian, Ubuntu.
    pub(super) apt: &'static [&'static str],
    /// Homebrew.
    pub(super) brew: &'static str,
    /// Fedora.
    pub(super) dnf: &'static str,
}

/// Node runs wasm-opt and the browser tests.
pub(super) fn ensure_node() -> Result<()> {
    let node = Package { apt: &["nodejs", "npm"], brew: "node", dnf: "nodejs npm" };
    if on_path("node").is_none() || on_path("npm").is_none() {
        node.install("node and npm")?;
    }
    let version = ask("node", &["--version"]).unwrap_or_default();
    let major = version.trim_start_matches('v').split('.').next().and_then(|number| number.parse::<u32>().ok());
    if major.is_none_or(|major| major < 18) {
        bail!("node 18 or newer is needed, and `node --version` says `{version}`");
    }
    super::there("node", version);
    Ok(())
}

/// The programs that tests call.
pub(super) fn ensure_programs() -> Result<()> {
    for (program, package) in [
        ("git", Package { apt: &["git"], brew: "git", dnf: "git" }),
        ("python3", Package { apt: &["python3", "python3-venv"], brew: "python", dnf: "python3" }),
        ("shellcheck", Package { apt: &["shellcheck"], brew: "shellcheck", dnf: "ShellCheck" }),
    ] {
        if on_path(program).is_none() {
            package.install(program)?;
        }
    }
    Ok(())
}

/// The package with which Debian's Python creates environments.
pub(super) fn python_venv() -> Result<()> {
    Package { apt: &["python3-venv"], brew: "python", dnf: "python3" }.install("Python's venv")
}

/// The packages that create a bare Debian in a folder, with the keys for its packages' signatures.
pub(crate) fn debootstrap() -> Result<()> {
    // Only root has the folder on PATH.
    if on_path("debootstrap").is_some() || Path::new("/usr/sbin/debootstrap").is_file() {
        return Ok(());
    }
    let apt = &["debootstrap", "debian-archive-keyring"];
    Package { apt, brew: "debootstrap", dnf: "debootstrap debian-keyring" }.install("debootstrap")
}

impl Package {
    /// Installs the package, or prints the command for it.
    pub(super) fn install(&self, thing: &str) -> Result<()> {
        // A package manager refuses to run twice at once.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        if on_path("apt-get").is_none() {
            match [("brew", self.brew), ("dnf", self.dnf)].iter().find(|(manager, _)| on_path(manager).is_some()) {
                Some(("brew", packages)) => bail!("{thing} missing: run `brew install {packages}`, then retry"),
                Some((_, packages)) => bail!("{thing} missing: run `sudo dnf install {packages}`, then retry"),
                None => bail!("{thing} missing: install it with your system's package manager, then retry"),
            }
        }
        let root = ask("id", &["-u"]).is_some_and(|id| id == "0");
        let by_hand = format!("sudo apt-get install {}", self.apt.join(" "));
        if !root && (on_path("sudo").is_none() || !may_ask() && ask("sudo", &["-n", "true"]).is_none()) {
            bail!("{thing} missing, and only root may install it: run `{by_hand}`, then retry");
        }
        missing(thing, format!("apt-get install {}", self.apt.join(" ")));
        let apt = |args: &[&str]| {
            let mut command = if root { Command::new("apt-get") } else { Command::new("sudo") };
            if !root {
                command.arg("apt-get");
            }
            // The output for every unpacked package is suppressed; errors go to standard error.
            command.args(["-qq", "-y", "--no-install-recommends"]).args(args).stdout(Stdio::null());
            command.env("DEBIAN_FRONTEND", "noninteractive");
            run(&mut command)
        };
        let install = [&["install"], self.apt].concat();
        // On a fresh machine the package lists are empty or old; they are only fetched in that case.
        let known = self.apt.iter().all(|package| apt_has(package));
        if known && apt(&install).is_ok() {
            return Ok(());
        }
        let installed = apt(&["update"]).and_then(|()| apt(&install));
        installed.with_context(|| format!("apt could not install {thing}: try `{by_hand}`"))
    }
}

/// Whether apt has a package.
pub(super) fn apt_has(package: &str) -> bool {
    ask("apt-cache", &["policy", package])
        .is_some_and(|policy| policy.contains("Candidate:") && !policy.contains("Candidate: (none)"))
}

/// Whether sudo can ask for a password.
fn may_ask() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}
