//! The results of a run and of a comparison, prepared for display.

use crate::check::protocol::Facts;
use crate::check::state::names::{CLASS_NAMES, percent, precision, rate, short_path, size};
use crate::shared::text::thousands;
use serde_json::{Value, json};
use uresnet::{CLASSES, Report, Step};

/// A name and a value.
pub type Fact = (String, String);

/// Time, memory, and the scores if labels are known.
pub fn statistics(facts: &Facts) -> Vec<Fact> {
    let (macs, seconds) = facts.whole();
    let (low, high) = facts.range;
    let memory = facts.memory;
    let bytes = |bytes: usize| size(bytes as u64);
    let mut rows = vec![
        ("Network time", format!("{seconds:.2} s")),
        ("Work", format!("{:.2} GMAC, {:.1} GFLOP/s", macs as f64 / 1e9, rate(macs, seconds))),
        ("Instructions", facts.instructions.clone()),
        ("Threads", facts.threads.to_string()),
        (
            "Memory",
            format!("{} (feature maps {}, weights {})", bytes(memory.whole), bytes(memory.maps), bytes(memory.weights)),
        ),
        ("Logits", format!("{:?} from {low:.4} to {high:.4}", facts.shape)),
    ];
    if let Some(scores) = &facts.scores {
        rows.push(("Correct class", percent(Some(scores.accuracy))));
        rows.push(("Correct class, background excluded", percent(scores.non_background_accuracy)));
    }
    let mut rows: Vec<Fact> = rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    if let Some(scores) = &facts.scores {
        rows.extend(ious(scores.iou));
    }
    rows
}

fn ious(of: [Option<f64>; CLASSES]) -> impl Iterator<Item = Fact> {
    let value = |iou: Option<f64>| iou.map_or_else(|| "–".to_owned(), |iou| format!("{iou:.4}"));
    CLASS_NAMES.iter().zip(of).map(move |(name, iou)| (format!("IoU {name}"), value(iou)))
}

/// The layers of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// The number of multiply-add operations.
    pub macs: u64,
    /// Seconds.
    pub seconds: f64,
    /// Percentage of all seconds.
    pub share: f64,
}

/// Kinds of layers, slowest first.
pub fn kinds(steps: &[(Step, f64)]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for (step, seconds) in steps {
        match kinds.iter_mut().find(|kind| kind.name == step.kind) {
            Some(kind) => (kind.macs, kind.seconds) = (kind.macs + step.macs, kind.seconds + seconds),
            None => kinds.push(Kind { name: step.kind.clone(), macs: step.macs, seconds: *seconds, share: 0.0 }),
        }
    }
    let whole: f64 = steps.iter().map(|(_, seconds)| seconds).sum();
    for kind in &mut kinds {
        kind.share = if whole > 0.0 { 100.0 * kind.seconds / whole } else { 0.0 };
    }
    kinds.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    kinds
}

/// The summary of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the outputs agree.
    pub agrees: bool,
    /// The verdict.
    pub headline: String,
    /// The reason for it.
    pub rests_on: String,
    /// A warning if the file may not be what it should be.
    pub caution: Option<&'static str>,
}

/// The verdict of a report.
pub fn verdict(report: &Report) -> Verdict {
    let name = precision(report.precision);
    let headline = match report.agrees {
        true => format!("PASS: within {name} tolerance"),
        false => format!("FAIL: outside {name} tolerance"),
    };
    let rests_on = format!(
        "Max difference / largest logit: {} (limit {}). Same class in {:.4} % of pixels (at least {}).",
        figure(report.distance.max_relative_to_range),
        figure(report.tolerance),
        100.0 * report.same_class,
        percent(Some(report.least_agreement)),
    );
    let same = report.distance.max_absolute == 0.0 && report.distance.not_finite == 0;
    let caution = same.then_some(
        "Every number is identical, bit for bit. An accelerator rounds differently: this looks like the reference itself \
         (reference.safetensors) and not what check_port.py wrote (candidate.safetensors).",
    );
    Verdict { agrees: report.agrees, headline, rests_on, caution }
}

/// Three readable digits: `0.745`, `10.0`, `1.23e-5`.
pub fn figure(number: f64) -> String {
    let size = number.abs();
    match size {
        _ if !number.is_finite() => number.to_string(),
        0.0 => "0".to_owned(),
        0.001..1.0 => format!("{number:.3}"),
        1.0..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        100.0..100_000.0 => format!("{number:.0}"),
        _ => format!("{number:.2e}"),
    }
}

/// The differences of the outputs; `shape` is the logits'.
pub fn distances(report: &Report, shape: &[usize]) -> Vec<Fact> {
    let apart = &report.distance;
    let rows = [
        ("Max difference / largest logit", figure(apart.max_relative_to_range)),
        ("Same class", format!("{:.4} %", 100.0 * report.same_class)),
        ("Max difference", format!("{} at {}", figure(apart.max_absolute), place(apart.worst_index, shape))),
        ("Mean difference", figure(apart.mean_absolute)),
        ("Max relative difference", figure(apart.max_relative)),
        ("Non-finite mismatches", thousands(apart.not_finite as u64)),
    ];
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(ious(report.iou)).collect()
}

/// The position of a number in [images, planes, classes, height, width].
fn place(mut index: usize, shape: &[usize]) -> String {
    let names = ["image", "plane", "class", "row", "column"];
    let mut parts = Vec::new();
    for (name, &length) in names.iter().zip(shape).rev() {
        parts.push(format!("{name} {}", index % length.max(1)));
        index /= length.max(1);
    }
    if shape.first() == Some(&1) {
        parts.pop();
    }
    parts.reverse();
    parts.join(", ")
}

/// The result for the modules' outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stages {
    /// The file has none.
    None,
    /// All of them, with this number, are within the tolerance.
    Within(usize),
    /// The first that is not.
    First(String),
}

/// The result for the modules' outputs in the file.
pub fn stages(report: &Report) -> Stages {
    match &report.first_diverging_stage {
        _ if report.stages.is_empty() => Stages::None,
        Some(name) => Stages::First(short_path(name)),
        None => Stages::Within(report.stages.len()),
    }
}

/// Logits by their distance in float32 numbers: the range in words, and the count.
pub fn histogram(report: &Report) -> Vec<(String, u64)> {
    let ulps = &report.distance.ulps;
    let last = ulps.iter().rposition(|&count| count > 0).unwrap_or(0);
    let apart = |power: usize| match power {
        0 | 1 => power.to_string(),
        _ => format!("{}–{}", thousands(1 << (power - 1)), thousands((1 << power) - 1)),
    };
    ulps.iter().take(last + 1).enumerate().map(|(power, count)| (apart(power), *count)).collect()
}

/// An object with the fields of `portolan forward --format json`.
pub fn json(facts: &Facts, comparison: Option<&Report>) -> String {
    let steps: Vec<Value> = facts
        .steps
        .iter()
        .map(|(step, seconds)| {
            let gflops = rate(step.macs, *seconds);
            json!({ "path": step.path, "kind": step.kind, "macs": step.macs, "seconds": seconds, "gflops": gflops })
        })
        .collect();
    let (macs, seconds) = facts.whole();
    let pixels: [u64; CLASSES] = std::array::from_fn(|class| facts.pixels.iter().map(|plane| plane[class]).sum());
    let whole = json!({
        "config": facts.config,
        "parameters": facts.parameters,
        "shape": facts.shape,
        "instructions": facts.instructions,
        "threads": facts.threads,
        "macs": macs,
        "seconds": seconds,
        "gflops": rate(macs, seconds),
        "steps": steps,
        "logits": { "lowest": facts.range.0, "highest": facts.range.1, "pixels": pixels },
        "scores": facts.scores,
        "comparison": comparison,
    });
    format!("{whole:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let check = |index, shape: &[usize], expected| assert_eq!(place(index, shape), expected);
        check(0, &[1, 3, 3, 2, 4], "plane 0, class 0, row 0, column 0");
        check(71, &[1, 3, 3, 2, 4], "plane 2, class 2, row 1, column 3");
        check(72, &[2, 3, 3, 2, 4], "image 1, plane 0, class 0, row 0, column 0");
    }

    #[test]
    fn figures_can_be_read() {
        let read = [0.0, 0.7446, 9.996, 12.34, 1234.5, 1.2345e-5, 2e9].map(figure);
        assert_eq!(read, ["0", "0.745", "10.00", "12.3", "1234", "1.23e-5", "2.00e9"]);
    }

    #[test]
    fn kinds_are_summed_and_the_slowest_comes_first() {
        let step = |path: &str, kind: &str, macs| Step { path: path.into(), kind: kind.into(), macs };
        let steps = [(step("a", "1x1", 1), 1.0), (step("b", "3x3", 3_000_000_000), 2.0), (step("c", "3x3", 0), 1.0)];
        let kinds = kinds(&steps);
        assert_eq!(kinds.iter().map(|kind| kind.name.as_str()).collect::<Vec<_>>(), ["3x3", "1x1"]);
        assert_eq!((kinds[0].macs, kinds[0].seconds, kinds[0].share), (3_000_000_000, 3.0, 75.0));
    }
}
