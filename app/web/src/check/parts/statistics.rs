//! What a run gave, in numbers.

use super::{CLASS_NAMES, mebibytes, percent, thousands};
use crate::check::desk::Ran;
use crate::check::parts::layers::rate;
use serde_json::{Value, json};
use std::fmt::Write;
use uresnet::{CLASSES, Error, PLANES, Report, classes};

/// Pixels of each class in each plane, all pictures together.
pub(crate) fn counts(classes: &[u8], area: usize) -> [[u64; CLASSES]; PLANES] {
    let mut counts = [[0; CLASSES]; PLANES];
    for (image, pixels) in classes.chunks_exact(area.max(1)).enumerate() {
        pixels.iter().for_each(|&class| counts[image % PLANES][usize::from(class)] += 1);
    }
    counts
}

/// Time, memory, pixels of each class, and the scores where labels are known.
pub fn html(ran: &Ran, predicted: &[u8]) -> String {
    let seconds: f64 = ran.steps.iter().map(|(_, seconds)| seconds).sum();
    let macs: u64 = ran.steps.iter().map(|(step, _)| step.macs).sum();
    let (low, high) = range(ran);
    let mut out = String::from("<dl class=\"facts\">");
    let mut fact = |name: &str, value: String| {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    };
    fact("Time", format!("{seconds:.2} s"));
    fact("Work", format!("{:.2} GMAC, {:.1} GFLOP/s", macs as f64 / 1e9, rate(macs, seconds)));
    fact("Instructions", ran.instructions.to_string());
    let memory = ran.memory;
    fact(
        "Memory",
        format!("{} (maps {}, weights {})", mebibytes(memory.whole), mebibytes(memory.maps), mebibytes(memory.weights)),
    );
    fact("Logits", format!("{:?} from {low:.4} to {high:.4}", ran.logits.shape()));
    if let Some(scores) = &ran.scores {
        fact("Right class", percent(Some(scores.accuracy)));
        fact("Right class where not background", percent(scores.non_background_accuracy));
        for (name, iou) in CLASS_NAMES.iter().zip(scores.iou) {
            fact(&format!("IoU {name}"), iou.map_or_else(|| "–".to_string(), |iou| format!("{iou:.4}")));
        }
    }
    out.push_str(
        "</dl><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Pixels\"><table><caption>Pixels by \
         predicted class</caption><thead><tr><th scope=\"col\">plane</th>",
    );
    for name in CLASS_NAMES {
        let _ = write!(out, "<th scope=\"col\">{name}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    let area = ran.logits.shape().iter().rev().take(2).product();
    for (plane, row) in counts(predicted, area).iter().enumerate() {
        let _ = write!(out, "<tr><th scope=\"row\">{plane}</th>");
        for &count in row {
            let _ = write!(out, "<td>{}</td>", thousands(count));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    if ran.logits.shape()[0] > 1 {
        let _ = write!(
            out,
            "<p>The file holds {} pictures. All were computed; the first is shown.</p>",
            ran.logits.shape()[0]
        );
    }
    out
}

fn range(ran: &Ran) -> (f32, f32) {
    let data = ran.logits.data().iter();
    data.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

/// One object with the fields of `portolan forward --format json`.
pub fn json(ran: &Ran, comparison: Option<&Report>) -> Result<String, Error> {
    let steps: Vec<Value> = ran
        .steps
        .iter()
        .map(|(step, seconds)| {
            let gflops = rate(step.macs, *seconds);
            json!({ "path": step.path, "kind": step.kind, "macs": step.macs, "seconds": seconds, "gflops": gflops })
        })
        .collect();
    let seconds: f64 = ran.steps.iter().map(|(_, seconds)| seconds).sum();
    let macs: u64 = ran.steps.iter().map(|(step, _)| step.macs).sum();
    let (low, high) = range(ran);
    let mut pixels = [0u64; CLASSES];
    classes(&ran.logits)?.into_iter().for_each(|class| pixels[usize::from(class)] += 1);
    let whole = json!({
        "config": ran.network.config,
        "parameters": ran.network.parameter_count(),
        "shape": ran.logits.shape(),
        "instructions": ran.instructions,
        "threads": 1,
        "macs": macs,
        "seconds": seconds,
        "gflops": rate(macs, seconds),
        "steps": steps,
        "logits": { "lowest": low, "highest": high, "pixels": pixels },
        "scores": ran.scores,
        "comparison": comparison,
    });
    Ok(format!("{whole:#}\n"))
}
