//! `cargo xtask bench port`: a port of 8,000 lines compared with other programs, as whole processes, alternating on one
//! machine.
//!
//! It measures `portolan port` with all recipes of a target; `ast-grep scan` with the patterns of the same guides,
//! which finds matches in one pass and writes nothing; and TorchFix, a linter based on LibCST, which parses the same
//! files. Their inputs are written by `app/codemod/benches/port/peer_input.rs`. Before that, it compares the time of a
//! port with that of a parse of the same file.

use super::run_bench;
use crate::setup;
use crate::step::{run, step};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The maximum time of a port, as a multiple of a scan's.
const BAR: f64 = 2.0;

/// Rounds in which each program runs once; the first is not counted.
const ROUNDS: usize = 8;

/// Measures, prints the table, and fails if the limit is exceeded.
pub(crate) fn run_port() -> Result<()> {
    run_bench("port")?;
    let mut programs = step("build the benchmark", prepare)?;
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); programs.len()];
    step(format!("{} rounds of {} programs", ROUNDS, programs.len()), || {
        for round in 0..ROUNDS {
            for ((_, command), times) in programs.iter_mut().zip(&mut times) {
                let start = Instant::now();
                // Findings are not a failure: a linter exits with 1 if it has any.
                command.status().with_context(|| format!("{command:?} did not start"))?;
                if round > 0 {
                    times.push(start.elapsed());
                }
            }
        }
        Ok(())
    })?;
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    let ours = medians[0];
    println!("    {:<34} {:>9} {:>12}", "8,000 lines, whole process", "ms", "ours / it");
    for ((name, _), time) in programs.iter().zip(&medians) {
        println!("    {name:<34} {:>9.1} {:>12.2}", time * 1e3, ours / time);
    }
    if ours > BAR * medians[1] {
        bail!("a port is more than {BAR} times slower than a scan");
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

fn prepare() -> Result<Vec<(&'static str, Command)>> {
    let peers = workspace::root().join("app").join("codemod").join("peers");
    setup::npm_packages(&peers)?;
    let cache = setup::cache()?.join("port-peers");
    std::fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let python = setup::python_with_packages(&cache, &peers.join("requirements.txt"))?;
    let build = ["build", "--quiet", "--release"];
    run(workspace::command("cargo").args(build).args(["--package", "cli"]))?;
    let release = workspace::target().join("release");
    let program = |folder: PathBuf, name: &str| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let bench = ["bench", "--quiet", "--package", "codemod", "--bench", "port", "--", "--peer-input"];
    run(workspace::command("cargo").args(bench).arg(&cache))?;
    let project = cache.join("project");
    let quiet = |program: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(&project).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let ast_grep = peers.join("node_modules").join(".bin").join("ast-grep");
    let torchfix = python.with_file_name(format!("torchfix{}", std::env::consts::EXE_SUFFIX));
    Ok(vec![
        ("portolan port --target hpu", quiet(&program(release, "portolan"), &["port", "--target", "hpu", "."])),
        ("ast-grep scan, the same patterns", quiet(&ast_grep, &["scan", "--config", "../sgconfig.yml", "."])),
        ("torchfix", quiet(&torchfix, &["--select=ALL", "."])),
    ])
}
