//! The environment of the checks. Properties of a developer's machine can hide a bug from everybody but the first user:
//! a narrower font, a variable that a library reads, an identity that git finds at home.
//!
//! `cargo xtask test` runs every check through `cargo xtask as-tested COMMAND …`, so a single check repeated by hand
//! has the same environment:
//!
//! - **Variables** are only those of [`NETWORK`] and [`BUILD`], and those below. So `UPDATE`, `PYTHONPATH`, `RANK`,
//!   `NODE_OPTIONS` and the like do not affect checks. (Not on Windows, where programs do not start without the
//!   system's own.)
//! - **Language and time zone** are `C.UTF-8` and UTC, the only ones that every machine has.
//! - **HOME** is a folder in `target/`, empty when the tests begin, so that no file of the user's is read or written.
//!   Exceptions have their own variables: cargo's and rustup's folders, and the Pythons with PyTorch and with
//!   TensorFlow. Setup runs before, in the user's environment: the settings of package managers have to apply there.
//! - **PATH** contains the folders of the programs installed by setup, and the system's own.
//! - **Fonts** are not defined here but where the tests start the browser (`tests/browser/port_page.mjs`), because
//!   nothing else uses them and a browser test is often run alone.

use crate::setup::{self, Tools};
use crate::step::{ask, on_path};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables with the network settings of this machine. A name that ends with `*` matches a prefix.
pub(crate) const NETWORK: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "PIP_*",
    "npm_config_*",
    "NPM_CONFIG_*",
    "RUSTUP_*",
    "CARGO_HTTP_*",
    "CARGO_NET_*",
    "CARGO_REGISTRIES_*",
    "CARGO_REGISTRY_*",
    "CARGO_SOURCE_*",
];

/// Variables with which the user configures compilation and its output, and the project's own.
pub(crate) const BUILD: &[&str] =
    &["CARGO*", "RUST*", "CC_*", "AR_*", "CFLAGS_*", "PORTOLAN_*", "TMPDIR", "TERM", "CI"];

/// Programs that checks call by name. They may be anywhere.
const PROGRAMS: [&str; 7] = ["cargo", "trunk", "wasm-bindgen", "git", "shellcheck", "cc", "sh"];

/// Programs that may be shims that find the real one through HOME (pyenv, nvm and others), with the command that prints
/// the path of the real one.
const INTERPRETERS: [(&str, [&str; 2]); 2] =
    [("node", ["-p", "process.execPath"]), ("python3", ["-c", "import sys; print(sys.executable)"])];

/// The standard program folders of every Unix.
const SYSTEM: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// A command in the checkout's root that runs like a check.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Result<Command> {
    let mut command = workspace::command(workspace::own_program()?);
    command.arg("as-tested").arg(program);
    Ok(command)
}

/// Empties the HOME of the checks.
pub(crate) fn clear_home() -> Result<()> {
    let home = home();
    match fs::remove_dir_all(&home) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot empty {}", home.display()))
        }
        _ => Ok(()),
    }
}

/// `cargo xtask as-tested COMMAND …`: runs a command in the current folder, and exits with its status.
pub(crate) fn run_as_tested(program: &str, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new(program);
    if cfg!(unix) {
        command.env_clear().envs(kept(NETWORK)).envs(kept(BUILD));
    }
    command.args(arguments).envs(stated()?);
    replace_by(command, program)
}

#[cfg(unix)]
fn replace_by(mut command: Command, program: &str) -> Result<()> {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    bail!("cannot start `{program}`: {error}");
}

#[cfg(not(unix))]
fn replace_by(mut command: Command, program: &str) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{program}`"))?;
    if !status.success() {
        bail!("`{program}` failed");
    }
    Ok(())
}

/// The user's variables that are in a list.
pub(crate) fn kept(names: &[&str]) -> Vec<(OsString, OsString)> {
    let is_named = |variable: &OsString| {
        let variable = variable.to_string_lossy();
        names.iter().any(|name| match name.strip_suffix('*') {
            Some(beginning) => variable.starts_with(beginning),
            None => variable == *name,
        })
    };
    env::vars_os().filter(|(name, _)| is_named(name)).collect()
}

/// Values that are the same for everybody, and paths that have to be found without HOME.
fn stated() -> Result<Vec<(&'static str, OsString)>> {
    let home = home();
    fs::create_dir_all(&home).with_context(|| format!("cannot create {}", home.display()))?;
    // Only that a checkout may belong to another user, as in a container.
    let (settings, text) = (home.join(".gitconfig"), "[safe]\n\tdirectory = *\n");
    // A concurrent check may be reading it.
    if fs::read_to_string(&settings).is_ok_and(|there| there != text) || !settings.exists() {
        fs::write(&settings, text).with_context(|| format!("cannot write {}", settings.display()))?;
    }
    let tools = setup::found()?;
    let mut variables = tools.compilers().to_vec();
    variables.extend([
        ("LANG", "C.UTF-8".into()),
        ("LC_ALL", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("CARGO_HOME", folder_of_users("CARGO_HOME", ".cargo")?.into()),
        ("RUSTUP_HOME", folder_of_users("RUSTUP_HOME", ".rustup")?.into()),
        chosen_framework(&setup::NEWEST_PYTORCH)?,
        chosen_framework(&setup::TENSORFLOW)?,
        ("PATH", path(&tools)?),
        ("HOME", home.into()),
    ]);
    if let Some(chromium) = setup::chromium() {
        variables.push(("PORTOLAN_CHROMIUM", chromium.into()));
    }
    if let Some(firefox) = setup::firefox() {
        variables.push(("PORTOLAN_FIREFOX", firefox.into()));
    }
    Ok(variables)
}

/// The Python of a framework: the user's, or the one that setup makes.
fn chosen_framework(framework: &setup::Framework) -> Result<(&'static str, OsString)> {
    Ok((framework.variable, chosen(framework.variable, || Ok(framework.program()?.into()))?))
}

fn home() -> PathBuf {
    workspace::target().join("home")
}

/// The user's value, or the default.
fn chosen(name: &str, otherwise: impl FnOnce() -> Result<OsString>) -> Result<OsString> {
    env::var_os(name).filter(|value| !value.is_empty()).map_or_else(otherwise, Ok)
}

/// A folder in the user's home unless a variable overrides it.
fn folder_of_users(name: &str, below_home: &str) -> Result<PathBuf> {
    let in_home = || Ok(env::home_dir().context("the home folder is unknown: set HOME")?.join(below_home).into());
    Ok(chosen(name, in_home)?.into())
}

/// The project's own tools, each program's folder, the system's.
fn path(tools: &Tools) -> Result<OsString> {
    let real = INTERPRETERS.iter().filter_map(|(program, question)| Some(PathBuf::from(ask(program, question)?)));
    let clang = on_path(&tools.clang.to_string_lossy());
    let programs = PROGRAMS.iter().filter_map(|program| on_path(program)).chain(clang);
    let mut folders = tools.folders.clone();
    let found = real.chain(programs).filter_map(|file| file.parent().map(Path::to_path_buf));
    for folder in found.chain(SYSTEM.iter().map(PathBuf::from).filter(|folder| folder.is_dir())) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    env::join_paths(folders).context("a folder on PATH has a separator in its name")
}
