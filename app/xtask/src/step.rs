//! Child processes with a heading, a time, and a message with the command to repeat them.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// Runs one step: heading, work, time. The time is printed for a failed step as well.
pub(crate) fn step<T>(heading: impl Display, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("\n==> {heading}");
    let start = Instant::now();
    let done = work();
    let word = if done.is_ok() { "done" } else { "failed" };
    println!("    {word} in {}", seconds(start));
    done
}

/// Time since `start`, for display.
pub(crate) fn seconds(start: Instant) -> String {
    let seconds = start.elapsed().as_secs_f64();
    if seconds < 120.0 { format!("{seconds:.1} s") } else { format!("{:.1} min", seconds / 60.0) }
}

/// Runs a command to its end, with its output passed through. An error names the command to repeat.
///
/// Standard input is closed: nothing here may wait for input. (`sudo` asks on the terminal.)
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = match command.stdin(Stdio::null()).status() {
        Ok(status) => status,
        Err(error) => bail!("cannot start `{}`: {error}", shown(command)),
    };
    if !status.success() {
        bail!("failed; to repeat this step alone: {}", shown(command));
    }
    Ok(())
}

/// Runs a command that reports its progress on standard error, line by line. If it fails, all its output is shown.
pub(crate) fn run_heard(command: &mut Command, mut hear: impl FnMut(&str)) -> Result<()> {
    let spawned = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.with_context(|| format!("cannot start `{}`", shown(command)))?;
    let mut all = String::new();
    for line in BufReader::new(child.stderr.take().context("no pipe")?).lines() {
        let line = line.context("cannot read a program's output")?;
        hear(&line);
        all += &line;
        all.push('\n');
    }
    if !child.wait().context("cannot wait for a program")?.success() {
        bail!("failed; to repeat this step alone: {}\n{all}", shown(command));
    }
    Ok(())
}

/// Runs a command whose output is shown only if it fails.
pub(crate) fn run_silently(command: &mut Command) -> Result<()> {
    let Output { status, stdout, stderr } =
        (command.stdin(Stdio::null()).output()).with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !status.success() {
        let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        bail!("failed; to repeat this step alone: {}\n{out}{err}", shown(command));
    }
    Ok(())
}

/// Runs a command for its output; `None` if it does not exist or fails.
pub(crate) fn ask(program: impl AsRef<OsStr>, args: &[&str]) -> Option<String> {
    let Output { status, stdout, .. } = Command::new(program).args(args).stdin(Stdio::null()).output().ok()?;
    status.success().then(|| String::from_utf8_lossy(&stdout).trim().to_owned())
}

/// The file of a program on PATH.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = [format!("{program}{}", std::env::consts::EXE_SUFFIX), format!("{program}.cmd")];
    std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>())
        .find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// The command as typed in a shell. Variables from `cargo xtask env` are replaced by that command.
pub(crate) fn shown(command: &Command) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut from_env_verb = false;
    for (name, value) in command.get_envs() {
        let Some(value) = value else { continue };
        if name == "PATH" || name.to_string_lossy().ends_with("_wasm32_unknown_unknown") {
            from_env_verb = true;
        } else {
            words.push(format!("{}={}", name.display(), quoted(value)));
        }
    }
    if workspace::own_program().is_ok_and(|own| own == command.get_program()) {
        words.extend(["cargo".to_owned(), "xtask".to_owned()]);
    } else {
        words.push(quoted(command.get_program()));
    }
    words.extend(command.get_args().map(quoted));
    let mut line = words.join(" ");
    if from_env_verb {
        line = format!("eval \"$(cargo xtask env)\" && {line}");
    }
    match command.get_current_dir() {
        Some(folder) if std::env::current_dir().is_ok_and(|here| here != folder) => {
            format!("(cd {} && {line})", quoted(folder.as_os_str()))
        }
        _ => line,
    }
}

/// Quotes a word for a POSIX shell.
pub(crate) fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_names_the_command_to_repeat() {
        let error = run(Command::new("false").arg("two words")).unwrap_err();
        assert_eq!(error.to_string(), "failed; to repeat this step alone: false 'two words'");
        let error = run(Command::new("false").env("CC_wasm32_unknown_unknown", "clang")).unwrap_err();
        assert!(error.to_string().ends_with("eval \"$(cargo xtask env)\" && false"), "{error}");
    }

    #[test]
    fn what_a_silent_command_printed_is_in_its_error() {
        let sh = |line: &str| run_silently(Command::new("sh").args(["-c", line]));
        assert!(sh("echo fine").is_ok());
        let error = sh("echo one; echo two >&2; exit 1").unwrap_err().to_string();
        assert!(error.ends_with("\none\ntwo\n"), "{error}");
    }

    #[test]
    fn a_missing_program_is_not_a_failed_one() {
        let error = run(&mut Command::new("portolan-no-such-program")).unwrap_err();
        assert!(error.to_string().starts_with("cannot start `portolan-no-such-program`"), "{error}");
        assert_eq!(on_path("portolan-no-such-program"), None);
        assert!(on_path("sh").is_some());
    }
}
