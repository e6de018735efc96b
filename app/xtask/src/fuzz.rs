//! `cargo xtask fuzz`: generated inputs, for a given time, for everything that reads external data.
//!
//! It runs the example `fuzz` of the package `tests`: libFuzzer with the targets that `cargo test` runs for a moment.
//! Edges are instrumented with flags of the stable compiler, so neither another toolchain nor another tool is needed,
//! only a C++ compiler for libFuzzer itself.

mod followed;

use crate::step::{ask, run, step};
use crate::workspace;
use anyhow::{Context, Result, bail};
use followed::Followed;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// LLVM's instrumentation of edges and comparisons, which libFuzzer reads.
const MARKS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cdebug-assertions";

/// Runs the named targets, or all by default, each for a number of minutes.
pub(crate) fn run_targets(minutes: f64, names: &[&str]) -> Result<()> {
    let program = step("build the instrumented targets", build)?;
    let known = ask_names(&program)?;
    if let Some(name) = names.iter().find(|name| !known.iter().any(|known| known == *name)) {
        bail!("unknown target {name}; available: {}", known.join(", "));
    }
    let mut rows = Vec::new();
    for name in known.iter().filter(|name| names.is_empty() || names.contains(&name.as_str())) {
        rows.push(step(format!("{name}, {minutes} minutes"), || run_target(&program, name, minutes))?);
    }
    println!("\n{}", followed::HEAD);
    rows.iter().for_each(|row| println!("{}", row.row()));
    let failures: usize = rows.iter().map(|row| row.failures).sum();
    if failures > 0 {
        bail!(
            "{failures} inputs failed, in target/fuzz/TARGET/failures. To keep one as a test: copy it to tests/fuzz/seeds/TARGET, \
             then cargo test -p tests --test whole TARGET"
        );
    }
    Ok(())
}

fn build() -> Result<PathBuf> {
    let version = ask("rustc", &["-vV"]).context("rustc is missing")?;
    // If a target is named, build scripts and macros are not instrumented.
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc reports no host")?;
    let mut cargo = workspace::command("cargo");
    cargo.args(["build", "--quiet", "--release", "--package", "tests", "--example", "fuzz", "--features", "libfuzzer"]);
    cargo.args(["--target", host]).env("RUSTFLAGS", MARKS).envs([
        ("CARGO_PROFILE_RELEASE_LTO", "off"),
        ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
        ("CARGO_PROFILE_RELEASE_PANIC", "unwind"),
    ]);
    run(&mut cargo)?;
    Ok(workspace::target().join(host).join("release/examples").join(format!("fuzz{}", std::env::consts::EXE_SUFFIX)))
}

fn ask_names(program: &Path) -> Result<Vec<String>> {
    let output = Command::new(program).env("PORTOLAN_FUZZ", "list").stderr(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect())
}

/// Runs one target for its time. The next run starts with the inputs that it kept.
fn run_target(program: &Path, name: &str, minutes: f64) -> Result<Followed> {
    let folder = workspace::target().join("fuzz").join(name);
    let failures = folder.join("failures");
    let _ = fs::remove_dir_all(&failures);
    for folder in [&failures, &folder.join("kept"), &folder.join("seeds")] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let mut command = workspace::command(program);
    command.env("PORTOLAN_FUZZ", name).env("PORTOLAN_FUZZ_FOLDER", &folder);
    command.args([folder.join("kept"), folder.join("seeds")]);
    command.arg(format!("-max_total_time={}", (minutes * 60.0).ceil()));
    command.arg(format!("-artifact_prefix={}/", failures.display()));
    command.args(["-timeout=20", "-rss_limit_mb=2048", "-max_len=24576", "-print_final_stats=1"]);
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
    let mut followed = Followed::begin(name);
    for line in child.stderr.take().map(BufReader::new).into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
        if followed.read(&line) {
            println!("    {line}");
        }
    }
    let status = child.wait()?;
    followed.failures = fs::read_dir(&failures).into_iter().flatten().count();
    if !status.success() {
        println!("    the process ended: {status}");
    }
    if followed.failures > 0 {
        let mut shrink = workspace::command(program);
        shrink.envs([("PORTOLAN_FUZZ", name), ("PORTOLAN_FUZZ_SHRINK", "1")]).env("PORTOLAN_FUZZ_FOLDER", &folder);
        run(&mut shrink)?;
    }
    println!("    {}", followed.told());
    Ok(followed)
}
