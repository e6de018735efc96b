//! A C compiler for wasm32: tree-sitter and its grammar are C.

use super::system::{Package, apt_has};
use super::there;
use crate::step::{ask, on_path};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The newest known version first; older ones are tried because a probe decides, not the version number.
const VERSIONS: [&str; 8] = ["19", "22", "21", "20", "18", "17", "16", "15"];

/// Where Homebrew installs LLVM, which it does not add to PATH.
const HOMEBREW: [&str; 2] = ["/opt/homebrew/opt/llvm/bin", "/usr/local/opt/llvm/bin"];

pub(super) fn ensure() -> Result<(PathBuf, PathBuf)> {
    let found = match find() {
        Some(found) => found,
        None => {
            package().install("clang for wasm32")?;
            find().context("the installed clang cannot compile for wasm32")?
        }
    };
    there("C for wasm32", format!("{} {}", found.0.display(), found.1.display()));
    Ok(found)
}

/// A suitable clang, with its archiver. The user's own choice in the variables that Cargo builds read comes first.
pub(super) fn find() -> Option<(PathBuf, PathBuf)> {
    let chosen = std::env::var_os("CC_wasm32_unknown_unknown").zip(std::env::var_os("AR_wasm32_unknown_unknown"));
    let chosen = chosen.map(|(clang, archiver)| (PathBuf::from(clang), PathBuf::from(archiver)));
    let numbered =
        VERSIONS.iter().map(|version| (format!("clang-{version}").into(), format!("llvm-ar-{version}").into()));
    let plain = [("clang".into(), "llvm-ar".into())];
    let homebrew = HOMEBREW.iter().map(PathBuf::from).map(|bin| (bin.join("clang"), bin.join("llvm-ar")));
    chosen
        .into_iter()
        .chain(numbered)
        .chain(plain)
        .chain(homebrew)
        .find(|(clang, archiver)| can_compile(clang, archiver))
}

/// Whether a pair can compile C to a wasm32 object. Apple's clang, for example, has the right name but can't.
fn can_compile(clang: &PathBuf, archiver: &PathBuf) -> bool {
    let exists = |program: &PathBuf| program.is_file() || program.to_str().is_some_and(|name| on_path(name).is_some());
    if !exists(clang) || !exists(archiver) {
        return false;
    }
    let mut command = Command::new(clang);
    command.args(["--target=wasm32-unknown-unknown", "-x", "c", "-fsyntax-only", "/dev/null"]);
    let compiled = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    compiled.is_ok_and(|status| status.success())
        && ask(clang, &["--print-targets"]).is_none_or(|targets| targets.contains("wasm32"))
}

/// The package to install: Debian 12 and later have clang-19, which is also tried if apt's lists are still empty; other
/// releases have a similar one.
fn package() -> Package {
    const APT: [&[&str]; 4] =
        [&["clang-19", "llvm-19"], &["clang-18", "llvm-18"], &["clang-16", "llvm-16"], &["clang", "llvm"]];
    let apt = APT.into_iter().find(|names| apt_has(names[0])).unwrap_or(APT[0]);
    Package { apt, brew: "llvm", dnf: "clang llvm" }
}
