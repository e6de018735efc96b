//! The output of `portolan forward`.

use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use uresnet::{CLASSES, Network, Plan, Report, Scores, Tensor, classes};

const NAMES: [&str; CLASSES] = ["background", "cosmic", "neutrino"];

/// A run to report.
pub(crate) struct Told<'a> {
    pub(crate) network: &'a Network,
    pub(crate) plan: &'a Plan,
    pub(crate) threads: usize,
    /// Of each step.
    pub(crate) seconds: &'a [f64],
    pub(crate) logits: &'a Tensor,
    /// What the predicted classes mean, if it is not what they say.
    pub(crate) caution: Option<&'static str>,
}

impl Told<'_> {
    fn rate(&self, macs: u64, seconds: f64) -> f64 {
        if seconds > 0.0 { 2.0 * macs as f64 / seconds / 1e9 } else { 0.0 }
    }

    fn whole(&self) -> (u64, f64) {
        (self.plan.steps().iter().map(|step| step.macs).sum(), self.seconds.iter().sum())
    }

    fn pixels(&self) -> Result<[usize; CLASSES]> {
        let mut counts = [0; CLASSES];
        classes(self.logits)?.into_iter().for_each(|class| counts[usize::from(class)] += 1);
        Ok(counts)
    }

    fn range(&self) -> (f32, f32) {
        let data = self.logits.data().iter();
        data.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
    }
}

/// One object: the run, the scores if labels are known, the comparison if one was requested.
pub(crate) fn json(told: &Told, scored: Option<&Scores>, comparison: Option<&Report>) -> Result<Value> {
    let (macs, seconds) = told.whole();
    let steps = told.plan.steps().iter().zip(told.seconds);
    let steps: Vec<Value> = steps
        .map(|(step, &seconds)| {
            let gflops = told.rate(step.macs, seconds);
            json!({ "path": step.path, "kind": step.kind, "macs": step.macs, "seconds": seconds, "gflops": gflops })
        })
        .collect();
    let (low, high) = told.range();
    let parameters: usize = told.network.parameters().iter().filter(|p| !p.name.contains(".running_")).map(count).sum();
    Ok(json!({
        "config": told.network.config,
        "parameters": parameters,
        "shape": told.logits.shape(),
        "instructions": told.plan.instructions(),
        "threads": told.threads,
        "macs": macs,
        "seconds": seconds,
        "gflops": told.rate(macs, seconds),
        "steps": steps,
        "logits": { "lowest": low, "highest": high, "pixels": told.pixels()? },
        "scores": scored,
        "comparison": comparison,
    }))
}

fn count(parameter: &uresnet::Parameter) -> usize {
    parameter.shape.iter().product()
}

/// The same as text.
pub(crate) fn text(told: &Told, scored: Option<&Scores>, comparison: Option<&Report>) -> Result<String> {
    let mut out = String::new();
    let (macs, seconds) = told.whole();
    let (threads, plan) = (told.threads, told.plan);
    let many = if threads == 1 { "thread" } else { "threads" };
    writeln!(
        out,
        "logits {:?} in {seconds:.3} s with {threads} {many} ({}), {:.2} GMAC, {:.1} GFLOP/s (nominal)",
        told.logits.shape(),
        plan.instructions(),
        macs as f64 / 1e9,
        told.rate(macs, seconds)
    )?;
    let mut kinds = BTreeMap::new();
    for (step, seconds) in plan.steps().iter().zip(told.seconds) {
        let kind = kinds.entry(step.kind.as_str()).or_insert((0, 0.0));
        *kind = (kind.0 + step.macs, kind.1 + seconds);
    }
    for (kind, (macs, seconds)) in kinds {
        writeln!(out, "  {kind:<20} {:9.2} ms {:7.1} GFLOP/s", seconds * 1e3, told.rate(macs, seconds))?;
    }
    let (low, high) = told.range();
    let pixels = told.pixels()?;
    write!(out, "logits from {low} to {high}; pixels:")?;
    for (name, pixels) in NAMES.iter().zip(pixels) {
        write!(out, " {name} {pixels}")?;
    }
    writeln!(out)?;
    if let Some(scores) = scored {
        write!(out, "compared with the labels: accuracy {:.4}", scores.accuracy)?;
        if let Some(accuracy) = scores.non_background_accuracy {
            write!(out, ", without background {accuracy:.4}")?;
        }
        writeln!(out, ", IoU{}", per_class(&scores.iou))?;
    }
    if let Some(caution) = told.caution {
        writeln!(out, "{caution}")?;
    }
    if let Some(report) = comparison {
        compared(&mut out, report)?;
    }
    Ok(out)
}

fn compared(out: &mut String, report: &Report) -> std::fmt::Result {
    let apart = &report.distance;
    writeln!(
        out,
        "compared: max difference {:.3e}, {:.3e} of the largest logit ({:.1e} allowed), mean {:.3e}",
        apart.max_absolute, apart.max_relative_to_range, report.tolerance, apart.mean_absolute
    )?;
    if apart.not_finite > 0 {
        writeln!(out, "  {} non-finite mismatches", apart.not_finite)?;
    }
    writeln!(out, "  {}", units_of_the_last_place(&apart.ulps))?;
    for (plane, apart) in report.planes.iter().enumerate() {
        writeln!(out, "  plane {plane}: max difference {:.3e}", apart.max_absolute)?;
    }
    writeln!(out, "  same class in {:.4} % of pixels, IoU{}", 100.0 * report.same_class, per_class(&report.iou))?;
    if !report.stages.is_empty() {
        match &report.first_diverging_stage {
            Some(name) => {
                writeln!(out, "  {} stages compared; the first outside the tolerance is {name}", report.stages.len())?
            }
            None => writeln!(out, "  {} stages compared; all within the tolerance", report.stages.len())?,
        }
    }
    writeln!(out, "{}", if report.agrees { "the outputs agree" } else { "the outputs do not agree" })
}

/// The histogram of differences in one line: the share of values with each difference.
fn units_of_the_last_place(ulps: &[u64]) -> String {
    let all = ulps.iter().sum::<u64>().max(1) as f64;
    // Count `b` of the histogram is that of distances with `b` binary digits.
    let parts =
        [("0", 0..1), ("1", 1..2), ("2 to 15", 2..5), ("16 to 255", 5..9), ("256 to 4095", 9..13), ("more", 13..33)];
    let share = |range: std::ops::Range<usize>| 100.0 * ulps[range].iter().sum::<u64>() as f64 / all;
    let parts = parts.map(|(name, range)| format!("{name}: {:.2} %", share(range)));
    format!("differences in units in the last place: {}", parts.join(", "))
}

fn per_class(iou: &[Option<f64>; CLASSES]) -> String {
    let one = |(name, iou): (&&str, &Option<f64>)| match iou {
        Some(iou) => format!(" {name} {iou:.4}"),
        None => format!(" {name} -"),
    };
    NAMES.iter().zip(iou).map(one).collect()
}
