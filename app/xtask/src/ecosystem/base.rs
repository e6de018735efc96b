//! The builds that are compared.

use crate::step::{ask, run, step};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The build with which this tree is compared.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Base {
    /// The newest release that this commit contains.
    #[default]
    LastRelease,
    /// A commit, by any name that git knows.
    Revision(String),
    /// A built command.
    Program(PathBuf),
}

impl Base {
    /// The command, built if necessary.
    pub(super) fn program(&self) -> Result<PathBuf> {
        let git = |words: &[&str]| {
            let root = workspace::root();
            ask("git", &[&["-C", &root.to_string_lossy()], words].concat())
        };
        let revision = match self {
            Self::Program(program) => {
                let whole = fs::canonicalize(program);
                return whole.with_context(|| format!("--base {}: there is no such file", program.display()));
            }
            Self::Revision(revision) => revision.clone(),
            Self::LastRelease => git(&["describe", "--tags", "--abbrev=0", "--match", "v*"]).context(
                "there is no release to compare with; name a commit with --base-rev, or a command with --base",
            )?,
        };
        let Some(commit) = git(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")]) else {
            bail!("--base-rev {revision}: git knows no such commit here");
        };
        let folder = workspace::target().join("ecosystem");
        let built = folder.join(format!("portolan-{commit}{}", std::env::consts::EXE_SUFFIX));
        if built.is_file() {
            return Ok(built);
        }
        let tree = folder.join("base");
        let tree_name = tree.to_string_lossy().into_owned();
        // What an interrupted run has left.
        git(&["worktree", "remove", "--force", &tree_name]);
        git(&["worktree", "prune"]);
        fs::remove_dir_all(&tree).ok();
        step(format!("check out {revision} ({})", &commit[..10]), || {
            run(workspace::command("git").args(["worktree", "add", "--quiet", "--detach"]).arg(&tree).arg(&commit))
        })?;
        let program = build(&tree, &folder.join("target"));
        let kept = program.and_then(|program| {
            fs::copy(&program, &built).with_context(|| format!("cannot write {}", built.display()))
        });
        git(&["worktree", "remove", "--force", &tree_name]);
        kept.map(|_| built)
    }
}

/// Builds the command of a checkout.
pub(super) fn build(root: &Path, target: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["build", "--quiet", "--package", "cli"]).env("CARGO_TARGET_DIR", target);
    // Cargo sets it for this program, and it names this checkout.
    cargo.env_remove("CARGO_MANIFEST_DIR");
    step(format!("build the command of {}", root.display()), || run(&mut cargo))?;
    Ok(target.join("debug").join(format!("portolan{}", std::env::consts::EXE_SUFFIX)))
}
