//! `cargo xtask bench growth`: how the processor time of the command grows with the size of what it ports, as whole processes.
//!
//! Each shape of program is generated in several sizes, each twice the one before. The slope of the logarithm of the time
//! over that of the size is the exponent: 1 if the time is proportional to the size, 2 if it is quadratic. What a port of an
//! empty program takes is no part of it, and a shape whose sizes take too short to tell is made larger. Where the time is above
//! the bar, the instructions that Valgrind counts decide: what does not fit into the processor's caches takes longer for
//! each byte, in any program. Published packages show what a thousand lines of whole projects cost.

mod shapes;

use crate::corpus::{self, Part};
use crate::step::{run, step};
use crate::workspace;
use anyhow::{Context, Result, bail};
use shapes::{SHAPES, Shape};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The maximum exponent.
const BAR: f64 = 1.1;

/// The sizes that count, the largest.
const COUNTED: usize = 3;

/// The largest size takes this many seconds, or is doubled: rounding and the rest of the machine would decide the exponent of less.
const ENOUGH: f64 = 0.4;

/// How often it is doubled. What is still shorter grows with nothing that matters.
const DOUBLED: usize = 5;

/// Passes over the sizes at first, each with one run of every size, so that a machine that is slow for a minute is slow for
/// all of them. Other work only adds time, so the shortest run of a size counts.
const PASSES: usize = 3;

/// How many passes there are before a shape that takes too long fails.
const MOST_PASSES: usize = 9;

/// A run that takes longer, in seconds, is not repeated, and a shape's larger sizes are left out.
const LONG: f64 = 20.0;

/// The maximum of milliseconds for 1,000 lines of a published package.
const MOST_OF_PACKAGES: f64 = 80.0;

/// The targets of the ports; a matrix has all of them in one run.
const TARGETS: [&str; 3] = ["hpu", "ipu", "rdu"];

/// Builds the command, measures the shapes whose names contain one of these words, or all of them and published packages, and
/// prints tables; an error if an exponent or a time exceeds its limit.
pub(crate) fn run_growth(words: &[&str]) -> Result<()> {
    let packages = if words.is_empty() { corpus::ensure(Part::Bounded)? } else { Vec::new() };
    let shapes: Vec<&Shape> =
        SHAPES.iter().filter(|s| words.is_empty() || words.iter().any(|w| s.name.contains(w))).collect();
    if shapes.is_empty() {
        let names: Vec<&str> = SHAPES.iter().map(|shape| shape.name).collect();
        bail!("no shape has such a name; the shapes are: {}", names.join("; "));
    }
    step("the command (release build)", || {
        run(workspace::command("cargo").args(["build", "--quiet", "--release", "--package", "cli"]))
    })?;
    let portolan = workspace::target().join("release").join(format!("portolan{}", std::env::consts::EXE_SUFFIX));
    let mut over = Vec::new();
    step(format!("{} shapes, seconds of processor time, the shortest of {PASSES} runs or more", shapes.len()), || {
        shapes.iter().try_for_each(|shape| of_shape(shape, &portolan, &mut over))
    })?;
    if !packages.is_empty() {
        step(format!("{} packages, milliseconds of processor time for 1,000 lines", packages.len()), || {
            packages.iter().try_for_each(|package| of_package(package, &portolan, &mut over))
        })?;
    }
    if !over.is_empty() {
        bail!("over a limit: {}", over.join(", "));
    }
    Ok(())
}

/// Measures a shape on all targets, prints a line for each, and adds what exceeds a limit.
fn of_shape(shape: &Shape, portolan: &Path, over: &mut Vec<String>) -> Result<()> {
    let folder = workspace::target().join("bench-growth");
    for target in if shape.matrix { &["all"] } else { &TARGETS[..] } {
        let measured = measure(shape, target, portolan, &folder)?;
        let exponent = exponent(&measured);
        let times: Vec<String> = measured.iter().map(|(size, time)| format!("{size}: {time:.2}")).collect();
        let (mut is_over, mut note) = (is_slow(shape, &measured), String::new());
        if is_steep(&measured) {
            let counted = instructions(&measured, &words(shape, target), portolan, &folder)?;
            is_over |= self::exponent(&counted) > BAR;
            note = format!("  instructions {:.2}", self::exponent(&counted));
        }
        let mark = if is_over { "  over" } else { "" };
        println!(
            "    {:<28} {target:<4} {exponent:>5.2} ≤ {BAR}  {} ≤ {}{note}{mark}",
            shape.name,
            times.join("  "),
            shape.most
        );
        over.extend(is_over.then(|| format!("{} on {target}", shape.name)));
    }
    Ok(())
}

/// The same for a package.
fn of_package(package: &PathBuf, portolan: &Path, over: &mut Vec<String>) -> Result<()> {
    let files = corpus::python_files(std::slice::from_ref(package))?;
    let lines = |file: &PathBuf| fs::read_to_string(file).map_or(0, |text| text.lines().count());
    let thousands = files.iter().map(lines).sum::<usize>() as f64 / 1_000.0;
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    for target in TARGETS {
        let cost = shortest(portolan, &["port", "--target", target], package)? * 1_000.0 / thousands;
        let mark = if cost > MOST_OF_PACKAGES { "  over" } else { "" };
        println!("    {name:<28} {target:<4} {cost:>5.1} ≤ {MOST_OF_PACKAGES}  {thousands:.1} thousand lines{mark}");
        over.extend((cost > MOST_OF_PACKAGES).then(|| format!("{name} on {target}")));
    }
    Ok(())
}

/// Whether the time grows faster than in proportion to the size.
fn is_steep(measured: &[(usize, f64)]) -> bool {
    let is_known = measured.last().is_some_and(|(_, time)| *time >= ENOUGH);
    is_known && exponent(measured) > BAR
}

/// Whether one of the sizes of a shape takes too long; what was added to tell the exponent has no limit.
fn is_slow(shape: &Shape, measured: &[(usize, f64)]) -> bool {
    measured.len() < shape.sizes.len()
        || measured.iter().any(|(size, time)| shape.sizes.contains(size) && *time > shape.most)
}

/// The shortest time of each size, in seconds, without that of an empty program.
fn measure(shape: &Shape, target: &str, portolan: &Path, folder: &Path) -> Result<Vec<(usize, f64)>> {
    let words = &words(shape, target);
    remove(folder)?;
    write(&[("empty.py".to_owned(), String::new())], &of_size(folder, 0))?;
    let mut empty = f64::INFINITY;
    let mut times: Vec<(usize, f64)> = Vec::new();
    let mut sizes = shape.sizes.to_vec();
    for pass in 0..MOST_PASSES {
        empty = empty.min(timed(portolan, words, &of_size(folder, 0))?);
        let mut next = 0;
        while let Some(size) = sizes.get(next).copied() {
            if times.len() == next {
                write(&(shape.files)(size), &of_size(folder, size))?;
                times.push((size, f64::INFINITY));
            }
            let time = timed(portolan, words, &of_size(folder, size))?;
            times[next].1 = times[next].1.min(time);
            next += 1;
            if time > LONG {
                sizes.truncate(next);
            } else if time - empty < ENOUGH && next == sizes.len() && next < shape.sizes.len() + DOUBLED {
                sizes.push(size * 2);
            }
        }
        let measured = without(&times, empty);
        if pass + 1 >= PASSES && !is_slow(shape, &measured) {
            break;
        }
    }
    Ok(without(&times, empty))
}

/// What the command is asked.
fn words<'a>(shape: &Shape, target: &'a str) -> Vec<&'a str> {
    if shape.matrix { vec!["matrix"] } else { vec!["port", "--target", target] }
}

/// Where the program of a size is; of 0 the empty one.
fn of_size(folder: &Path, size: usize) -> PathBuf {
    folder.join(size.to_string())
}

/// The instructions of the largest measured sizes, without those of an empty program, as Valgrind counts them.
fn instructions(
    measured: &[(usize, f64)],
    words: &[&str],
    portolan: &Path,
    folder: &Path,
) -> Result<Vec<(usize, f64)>> {
    let count = |size: usize| {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(portolan).args(words).arg(".");
        valgrind.current_dir(of_size(folder, size)).stdin(Stdio::null()).stdout(Stdio::null());
        let done = valgrind.output().context("valgrind is needed to count instructions")?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let collected = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok());
        collected.with_context(|| format!("{valgrind:?} counted nothing: {said}"))
    };
    let empty = count(0)?;
    let largest = &measured[measured.len().saturating_sub(COUNTED)..];
    largest.iter().map(|(size, _)| Ok((*size, count(*size)? - empty))).collect()
}

/// Times without that of an empty program.
fn without(times: &[(usize, f64)], empty: f64) -> Vec<(usize, f64)> {
    times.iter().map(|(size, time)| (*size, (time - empty).max(f64::EPSILON))).collect()
}

/// The shortest of several runs.
fn shortest(portolan: &Path, words: &[&str], folder: &Path) -> Result<f64> {
    (0..PASSES).try_fold(f64::INFINITY, |best, _| Ok(best.min(timed(portolan, words, folder)?)))
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

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

fn write(files: &[(String, String)], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        let around = path.parent().unwrap_or(folder);
        fs::create_dir_all(around).with_context(|| format!("cannot create {}", around.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The seconds of processor time of a run in a folder, by the shell: unlike the clock's, other work on the machine changes them
/// little.
fn timed(portolan: &Path, words: &[&str], folder: &Path) -> Result<f64> {
    let mut command = Command::new("bash");
    command.args(["-c", "TIMEFORMAT=%U; time \"$@\" 2> /dev/null", "bash"]).arg(portolan).args(words).arg(".");
    command.current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null());
    let done = command.output().with_context(|| format!("{command:?} did not start"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    match said.trim().parse() {
        Ok(seconds) if done.status.success() => Ok(seconds),
        _ => bail!("{command:?} failed in {}: {said}", folder.display()),
    }
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
