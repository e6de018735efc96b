//! `cargo xtask bench growth`: how the time of the command grows with the size of what it ports, as whole processes.
//!
//! Each shape of program is generated in several sizes, each twice the one before. The slope of the logarithm of the time
//! over that of the size is the exponent: 1 if the time is proportional to the size, 2 if it is quadratic. It needs a machine
//! without other work: that makes long runs slower than short ones.

mod shapes;

use crate::step::{run, step};
use crate::workspace;
use anyhow::{Context, Result, bail};
use shapes::{SHAPES, Shape};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The maximum exponent.
const BAR: f64 = 1.1;

/// The sizes that count, the largest: below them the start of the process is most of the time.
const COUNTED: usize = 3;

/// Runs per size at first. Other work on the machine only adds time, so the shortest run counts, and a shape above the bar
/// is measured again.
const RUNS: usize = 3;

/// How often a shape is measured before it fails.
const ATTEMPTS: usize = 3;

/// A run that takes longer, in seconds, is not repeated, and a shape's larger sizes are left out.
const LONG: f64 = 20.0;

/// The targets of the ports; a matrix has all of them in one run.
const TARGETS: [&str; 3] = ["hpu", "ipu", "rdu"];

/// Builds the command, measures, and prints a table; an error if an exponent exceeds the bar.
pub(crate) fn run_growth() -> Result<()> {
    step("the command (release build)", || {
        run(workspace::command("cargo").args(["build", "--quiet", "--release", "--package", "cli"]))
    })?;
    let portolan = workspace::target().join("release").join(format!("portolan{}", std::env::consts::EXE_SUFFIX));
    let folder = workspace::target().join("bench-growth");
    let mut over = Vec::new();
    step(format!("{} shapes, the shortest of {RUNS} runs or more", SHAPES.len()), || {
        println!("    {:<24} {:<6} {:>8} {:>7}  seconds by size", "", "", "exponent", "bar");
        for shape in &SHAPES {
            for target in if shape.matrix { &["all"] } else { &TARGETS[..] } {
                let measured = measure(shape, target, &portolan, &folder)?;
                let exponent = exponent(&measured);
                let times: Vec<String> = measured.iter().map(|(size, time)| format!("{size}: {time:.2}")).collect();
                let mark = if exponent > BAR || exponent.is_nan() { "  over" } else { "" };
                println!("    {:<24} {target:<6} {exponent:>8.2} {BAR:>7}  {}{mark}", shape.name, times.join("  "));
                if exponent > BAR || exponent.is_nan() {
                    over.push(format!("{} on {target}", shape.name));
                }
            }
        }
        Ok(())
    })?;
    if !over.is_empty() {
        bail!("the time grows faster than the size: {}", over.join(", "));
    }
    Ok(())
}

/// The shortest time of each size, in seconds.
fn measure(shape: &Shape, target: &str, portolan: &Path, folder: &Path) -> Result<Vec<(usize, f64)>> {
    let mut measured: Vec<(usize, f64)> = shape.sizes.iter().map(|size| (*size, f64::INFINITY)).collect();
    for _ in 0..ATTEMPTS {
        for (size, best) in &mut measured {
            write(shape, *size, folder)?;
            for _ in 0..RUNS {
                let time = timed(shape, target, portolan, folder)?;
                *best = best.min(time);
                if time > LONG {
                    break;
                }
            }
            if *best > LONG {
                break;
            }
        }
        measured.retain(|(_, time)| time.is_finite());
        if exponent(&measured) <= BAR {
            break;
        }
    }
    Ok(measured)
}

/// The slope of the least squares through the largest sizes.
fn exponent(measured: &[(usize, f64)]) -> f64 {
    let counted = &measured[measured.len().saturating_sub(COUNTED)..];
    let points: Vec<(f64, f64)> = counted.iter().map(|(size, time)| ((*size as f64).ln(), time.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    covariance / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

fn write(shape: &Shape, size: usize, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, text) in (shape.files)(size) {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn timed(shape: &Shape, target: &str, portolan: &Path, folder: &Path) -> Result<f64> {
    let mut command = Command::new(portolan);
    match shape.matrix {
        true => command.arg("matrix"),
        false => command.args(["port", "--target", target]),
    };
    command.arg(".").current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().with_context(|| format!("{command:?} did not start"))?;
    let time = start.elapsed().as_secs_f64();
    if !status.success() {
        bail!("{command:?} failed on {}", shape.name);
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[test]
    fn the_exponent_is_that_of_the_largest_sizes() {
        let check = |power: f64, first: f64| {
            let mut measured: Vec<(usize, f64)> =
                [1, 2, 4, 8].iter().map(|size| (*size, 0.01 * (*size as f64).powf(power))).collect();
            measured[0].1 = first;
            assert!((exponent(&measured) - power).abs() < 1e-9, "{measured:?}");
        };
        check(1.0, 7.0);
        check(2.0, 0.01);
    }
}
